# SPDX-License-Identifier: Apache-2.0
# Runs COMMAND (a list) and fails unless it exits with EXPECTED_CODE and prints EXPECTED_TEXT on either stream.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT code STREQUAL EXPECTED_CODE)
  message(FATAL_ERROR "exit code ${code} instead of ${EXPECTED_CODE}:\n${out}")
endif()
string(FIND "${out}" "${EXPECTED_TEXT}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "does not print '${EXPECTED_TEXT}':\n${out}")
endif()
