# SPDX-License-Identifier: Apache-2.0
# Runs COMMAND (a list) and fails unless it exits with EXPECTED_CODE and prints EXPECTED_TEXT on either stream; of bad input (code 2) one line on stderr.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT code STREQUAL EXPECTED_CODE)
  message(FATAL_ERROR "exit code ${code} instead of ${EXPECTED_CODE}:\n${out}${err}")
endif()
string(FIND "${out}\n${err}" "${EXPECTED_TEXT}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "does not print '${EXPECTED_TEXT}':\n${out}${err}")
endif()
string(REGEX REPLACE "^\n *SystemC .*ALL RIGHTS RESERVED\n" "" err "${err}")  # the library's banner
if(EXPECTED_CODE EQUAL 2 AND NOT err MATCHES "^[^\n]+\n$")
  message(FATAL_ERROR "more or less than one line on stderr:\n${out}${err}")
endif()
