// SPDX-License-Identifier: Apache-2.0
// Requests and completions at the ports of the RDMA engine's modules.
#pragma once

#include <cstdint>

#include "rdma/sender.hpp"
#include "rdma_header.hpp"

namespace weft::rtl_test {

/// rdma_pkg::origin_e
enum class Origin : uint8_t { registers, queues, answers };

/// rdma_pkg::post_t as words: source, destination, bytes, node, tag, rkey, immediate, whether there is one,
/// what it goes to and where it comes from, from bit 0 on.
template <typename Port>
void put_post(Port& port, const rdma::Post& post, Origin origin = Origin::registers) {
  port[0] = static_cast<uint32_t>(post.src_addr);
  port[1] = static_cast<uint32_t>(post.src_addr >> 32);
  port[2] = static_cast<uint32_t>(post.dst_addr);
  port[3] = static_cast<uint32_t>(post.dst_addr >> 32);
  port[4] = post.bytes;
  port[5] = post.node;
  port[6] = post.tag | post.rkey << 16;
  const uint32_t imm = post.imm.value_or(0xffffffff);  // not looked at if there is none
  port[7] = (post.rkey >> 16 & 0xff) | imm << 8;
  port[8] = imm >> 24 | (post.imm ? 1u << 8 : 0u) | static_cast<uint32_t>(post.to) << 9 |
            static_cast<uint32_t>(origin) << 11;
}

template <typename Port>
rdma::Post get_post(const Port& port) {
  rdma::Post post{port[0] | uint64_t{port[1]} << 32, port[2] | uint64_t{port[3]} << 32,     port[4], port[5],
                  static_cast<uint16_t>(port[6]),    port[6] >> 16 | (port[7] & 0xff) << 16};
  post.to = static_cast<rdma::Post::To>(port[8] >> 9 & 3);
  if (port[8] >> 8 & 1) post.imm = port[7] >> 8 | port[8] << 24;
  return post;
}

template <typename Port>
Origin origin_of_post(const Port& port) {
  return static_cast<Origin>(port[8] >> 11 & 3);
}

/// rdma_pkg::completion_t: tag, then status and where its post came from, from bit 0 on.
inline uint32_t completion_bits(const rdma::Completion& completion, Origin origin = Origin::registers) {
  return static_cast<uint32_t>(origin) << 24 | static_cast<uint32_t>(completion.status) << 16 |
         completion.tag;
}

/// A packet for this context, sid apart.
inline rdma::formats::Header fitting_header(const rdma::TxContext& context, rdma::formats::Ptype type) {
  rdma::formats::Header header;
  header.ptype = static_cast<uint8_t>(type);
  header.src = context.dst;
  header.cid = context.cid;
  header.gen = context.gen;
  header.msgid = context.msgid;
  return header;
}

}  // namespace weft::rtl_test
