# SPDX-License-Identifier: Apache-2.0
# Tests of small_receiver (receivers.txt), which also run on its netlist of cells (../gates) and on its mutants (../mutation), where what finds
# most comes first.
set(WEFT_SMALL_RECEIVER_TESTS
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_random.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_fields.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_window.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_lockstep.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_timeouts.cpp
)
