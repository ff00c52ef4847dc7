// SPDX-License-Identifier: Apache-2.0
// small_receiver of receivers.txt, without SEND and READ, in lockstep.
#pragma once

#include "Vsmall_receiver.h"
#include "rdma_receiver_fixture.hpp"

namespace weft::rtl_test {

using ReceiverLockstep = BasicReceiverLockstep<Vsmall_receiver, false>;
using ReceiverTest = BasicReceiverTest<ReceiverLockstep>;

}  // namespace weft::rtl_test
