# SPDX-License-Identifier: Apache-2.0
# Fails unless the JSON files A and B have the same values of FIELDS (a list).
file(READ "${A}" a)
file(READ "${B}" b)
foreach(field IN LISTS FIELDS)
  string(JSON value_a GET "${a}" "${field}")
  string(JSON value_b GET "${b}" "${field}")
  if(NOT value_a STREQUAL value_b)
    message(FATAL_ERROR "${field}: ${value_a} in ${A}, ${value_b} in ${B}")
  endif()
endforeach()
