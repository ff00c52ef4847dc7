# SPDX-License-Identifier: Apache-2.0
# Tests of the switch lookup block that also run on its mutants (../mutation), where what finds most comes first, what takes long last.
set(switch_lookup_tests
  ${CMAKE_CURRENT_LIST_DIR}/test_switch_lookup.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_switch_registers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_switch_management.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_switch_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_switch_counters.cpp
)
