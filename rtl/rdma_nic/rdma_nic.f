// Sources that make a NIC of the RDMA engine and the host queues, each path relative to this file; to be listed after those of both.
../common/axil_split.sv
rdma_local_check.sv
rdma_requests.sv
rdma_nic.sv
