# SPDX-License-Identifier: Apache-2.0
# Tests of receivers (receivers.txt), each for one of them only, which also run on its netlist of cells (../gates) and on its mutants (../mutation),
# where what finds most comes first.
set(small_receiver_tests
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_random.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_fields.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_window.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_repeats.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_lockstep.cpp
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_timeouts.cpp
)
set(transfers_receiver_tests
  ${CMAKE_CURRENT_LIST_DIR}/test_rdma_receiver_transfers.cpp
)
