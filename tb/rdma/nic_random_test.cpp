// SPDX-License-Identifier: Apache-2.0
// Random traffic through the queues of several NICs.
#include "nic_bench.hpp"
