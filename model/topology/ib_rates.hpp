// SPDX-License-Identifier: Apache-2.0
// Rates of InfiniBand links, as ibnetdiscover names them: 4xHDR.
//
// Mb/s of data, what is left of the lanes' rate after line coding: 8 of 10 bits up to QDR, 64 of 66 from
// FDR10 on (InfiniBand specification, volume 2: link widths and speeds).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::topology {

/// Of a width 1x, 2x, 4x, 8x or 12x and a speed SDR to XDR; nothing for other words.
std::optional<uint32_t> mbps_of_ib_rate(std::string_view rate);

/// "4xHDR" for 200,000; "" if no such rate has these Mb/s.
std::string ib_rate_of_mbps(uint32_t mbps);

}  // namespace weft::topology
