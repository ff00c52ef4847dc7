// SPDX-License-Identifier: Apache-2.0
// Does a packet hold together, so that its fields can be believed?
module barrier_check
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
(
  input  packet_t packet_i,
  output logic    ok_o
);
  assign ok_o = packet_i.magic == PACKET_MAGIC && packet_i.reserved0 == '0 &&
                (!packet_i.multicast || (packet_i.kind == PACKET_KIND_RELEASE && !packet_i.failed)) &&
                packet_i.check == check_of(packet_i);
endmodule
