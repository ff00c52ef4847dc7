# SPDX-License-Identifier: Apache-2.0
# Tests of the blocks of the older schemes (docs/rdma_baseline.md), each for one of them in one size only, which also run on its mutants (../mutation).
set(rdma_rx_counter_tests ${CMAKE_CURRENT_LIST_DIR}/test_rdma_rx_counter.cpp)
set(rdma_send_lists_tests ${CMAKE_CURRENT_LIST_DIR}/test_rdma_send_lists.cpp)
set(rdma_send_copies_tests ${CMAKE_CURRENT_LIST_DIR}/test_rdma_send_copies.cpp)
set(counter_sender_tests ${CMAKE_CURRENT_LIST_DIR}/test_rdma_counting_sender.cpp)
set(keeping_sender_tests ${CMAKE_CURRENT_LIST_DIR}/test_rdma_keeping_sender.cpp)
