// SPDX-License-Identifier: Apache-2.0
// Draws what software of NICs does in a run of the fault campaign.
#include "soak_nic_plan.hpp"

#include <array>

namespace weft::sim {

namespace formats = rdma_queues::formats;
using formats::Opcode;
using formats::QueueStatus;
using rdma::formats::Status;

namespace {

constexpr uint64_t ring_base = 0x4000'0000;
constexpr uint64_t message_base = 0x7000'0000;
constexpr uint32_t spare_buffers = 8;  // places for RECVs that a reset has made in vain

constexpr Status of_queues(QueueStatus status) { return static_cast<Status>(status); }

class NicDraw {
 public:
  NicDraw(Dice& dice, Plan& plan);
  void draw_round(std::vector<PlannedPost>& round, uint64_t most_per_node);
  void draw_queues();
  void place_buffers();
  void set_regions();

 private:
  using Places = std::vector<std::vector<uint64_t>>;  // by node and region, or queue

  const rdma::Params& params() const { return plan_.system.node.build.params; }
  uint64_t payload() const { return params().payload; }
  uint32_t any_queue() { return static_cast<uint32_t>(dice_.below(queues_)); }
  uint64_t place(uint32_t node, uint32_t region, uint64_t bytes) {
    return take_place(next_[node][region], bytes, payload());
  }
  uint32_t rkey(uint32_t region) const {
    return driver::rdma_rkey(static_cast<uint8_t>(region), keys_[region]);
  }
  void set_local(PlannedPost& post, NicRegion kind);
  void set_remote(PlannedPost& post);

  Opcode draw_opcode();
  PlannedPost good_post(uint32_t node);
  PlannedPost register_post(uint32_t node);
  std::vector<Status> possible_faults(Opcode opcode) const;
  void spoil(PlannedPost& post);
  void spoil_local(PlannedPost& post);
  void spoil_request(PlannedPost& post);
  void spoil_remote(PlannedPost& post);
  void spoil_entry(formats::Submission& entry);
  static void copy_to_request(PlannedPost& post);

  Dice& dice_;
  Plan& plan_;
  uint32_t queues_;  // in use, the same on all nodes
  std::vector<uint16_t> keys_, queue_keys_;
  Places next_, messages_;
  std::vector<uint64_t> next_source_;  // of posts through registers
  std::vector<uint16_t> next_tag_;
};

NicDraw::NicDraw(Dice& dice, Plan& plan)
    : dice_(dice),
      plan_(plan),
      queues_(static_cast<uint32_t>(dice.between(2, plan.system.node.build.queues))),
      next_source_(plan.nodes(), soak_source_base),
      next_tag_(plan.nodes(), 1) {
  NicPlan& nic = plan.nic.emplace();
  nic.slot = static_cast<uint32_t>(payload() * dice.between(1, 2048 / payload()));
  nic.buffers = static_cast<uint32_t>(dice.between(1, (params().n_tickets - 2) / queues_));
  std::vector<uint64_t> bases;
  for (uint32_t region = 0; region < nic_regions * queues_; ++region) {
    keys_.push_back(static_cast<uint16_t>(dice.below(1 << 16)));
    bases.push_back(nic_region_base(region));
  }
  for (uint32_t queue = 0; queue < queues_; ++queue)
    queue_keys_.push_back(static_cast<uint16_t>(dice.below(1 << 16)));
  next_.assign(plan.nodes(), bases);
  messages_.assign(plan.nodes(), std::vector<uint64_t>(queues_, 0));
}

void NicDraw::draw_queues() {
  for (uint32_t node = 0; node < plan_.nodes(); ++node) {
    auto& queues = plan_.nic->queues.emplace_back();
    for (uint32_t number = 0; number < queues_; ++number) {
      NicPlan::Queue& queue = queues.emplace_back();
      driver::RingSetup& setup = queue.setup;
      setup.sq_base = ring_base + (uint64_t{number} << 22);
      setup.cq_base = setup.sq_base + (1 << 21);
      setup.sq_log2 = static_cast<uint8_t>(dice_.between(4, 5));
      setup.cq_log2 = static_cast<uint8_t>(dice_.between(4, 5));
      setup.owner = static_cast<uint8_t>(number);
      setup.irq = static_cast<formats::IrqKind>(dice_.below(3));
      setup.msi_addr = message_base + 64 * number;
      setup.msi_data = 0xabcd'0000 | number;
      setup.key = queue_keys_[number];
      queue.sleeps = setup.irq != formats::IrqKind::none && !dice_.one_in(3);
    }
  }
}

void NicDraw::draw_round(std::vector<PlannedPost>& round, uint64_t most_per_node) {
  const uint64_t spread = dice_.one_in(2) ? 1 : 20'000;
  for (uint32_t node = 0; node < plan_.nodes(); ++node) {
    const uint64_t count = dice_.between(2, most_per_node);
    for (uint64_t i = 0; i < count; ++i) {
      PlannedPost post = dice_.one_in(8) ? register_post(node) : good_post(node);
      if (post.ring && dice_.one_in(8)) spoil(post);
      if (post.is_message()) messages_[post.request.node][post.message_queue()]++;
      post.after_cycles = dice_.below(spread);
      round.push_back(post);
    }
  }
  std::ranges::stable_sort(round, {}, &PlannedPost::after_cycles);
}

/// By registers, from anywhere in memory.
PlannedPost NicDraw::register_post(uint32_t node) {
  PlannedPost post;
  post.node = node;
  driver::RdmaRequest& request = post.request;
  const uint32_t region = nic_region(any_queue(), NicRegion::target);
  request.node = static_cast<uint32_t>(dice_.below(plan_.nodes()));
  request.bytes = draw_bytes(dice_, params());
  request.src_addr = take_place(next_source_[node], request.bytes, payload());
  request.dst_addr = place(request.node, region, request.bytes);
  request.tag = next_tag_[node]++;
  request.rkey = rkey(region);
  return post;
}

Opcode NicDraw::draw_opcode() {
  constexpr std::array<Opcode, 9> opcodes{Opcode::write, Opcode::write,     Opcode::write_imm,
                                          Opcode::send,  Opcode::send,      Opcode::send,
                                          Opcode::read,  Opcode::write_imm, Opcode::read};
  const Opcode drawn = dice_.pick(opcodes);
  return params().transfers ? drawn : Opcode::write;
}

void NicDraw::set_local(PlannedPost& post, NicRegion kind) {
  const uint32_t region = nic_region(post.ring->queue, kind);
  post.ring->entry.local_addr = place(post.node, region, post.ring->entry.bytes);
  post.ring->entry.local_key = rkey(region);
}

void NicDraw::set_remote(PlannedPost& post) {
  formats::Submission& entry = post.ring->entry;
  const uint32_t region = nic_region(any_queue(), NicRegion::target);
  entry.remote_addr = place(entry.node, region, entry.bytes);
  entry.remote_key = rkey(region);
}

PlannedPost NicDraw::good_post(uint32_t node) {
  PlannedPost post;
  post.node = node;
  post.request.tag = next_tag_[node]++;
  RingPost& ring = post.ring.emplace();
  ring.queue = any_queue();
  formats::Submission& entry = ring.entry;
  const Opcode opcode = draw_opcode();
  entry.opcode = static_cast<uint8_t>(opcode);
  entry.flags = dice_.one_in(2) ? formats::flag_signal : 0;
  entry.tag = wide_tag(post.request.tag);
  entry.node = static_cast<uint32_t>(dice_.below(plan_.nodes()));
  entry.bytes = opcode == Opcode::send ? static_cast<uint32_t>(dice_.between(1, plan_.nic->slot))
                                       : draw_bytes(dice_, params());
  set_local(post, opcode == Opcode::read ? NicRegion::buffers : NicRegion::source);
  if (opcode == Opcode::send) {
    const uint32_t queue = any_queue();
    entry.remote_key = queue << 16 | queue_keys_[queue];
    if (!dice_.one_in(3)) entry.flags |= formats::flag_imm;
  } else {
    set_remote(post);
  }
  if (opcode == Opcode::write_imm || (entry.flags & formats::flag_imm))
    entry.immediate = message_immediate(node, post.request.tag);
  copy_to_request(post);
  return post;
}

void NicDraw::copy_to_request(PlannedPost& post) {
  const formats::Submission& entry = post.ring->entry;
  post.request.src_addr = entry.local_addr;
  post.request.dst_addr = entry.remote_addr;
  post.request.bytes = entry.bytes;
  post.request.node = entry.node;
  post.request.rkey = entry.remote_key;
}

std::vector<Status> NicDraw::possible_faults(Opcode opcode) const {
  std::vector<Status> faults{of_queues(QueueStatus::bad_opcode),
                             of_queues(QueueStatus::bad_entry),
                             of_queues(QueueStatus::local_key),
                             of_queues(QueueStatus::local_region),
                             Status::bad_length,
                             Status::misaligned,
                             Status::bad_node,
                             Status::no_answer,
                             Status::bad_key,
                             Status::bad_key};
  if (opcode == Opcode::send) {
    faults.insert(faults.end(), {Status::too_long, Status::too_long});
  } else {
    faults.insert(faults.end(), {Status::bad_region, Status::bad_region, Status::bad_address});
  }
  if (opcode == Opcode::read) faults.insert(faults.end(), {Status::bad_buffer, Status::bad_buffer});
  return faults;
}

/// Exactly one thing is wrong with it from now on.
void NicDraw::spoil(PlannedPost& post) {
  formats::Submission& entry = post.ring->entry;
  post.deserved = dice_.pick(possible_faults(post.ring->opcode()));
  if (post.deserved == of_queues(QueueStatus::bad_opcode)) {
    entry.opcode = dice_.pick(std::array<uint8_t, 5>{0, 6, 16, 17, 200});
    entry.flags = 0;
  } else if (post.deserved == of_queues(QueueStatus::bad_entry)) {
    spoil_entry(entry);
  } else if (post.deserved == of_queues(QueueStatus::local_key) ||
             post.deserved == of_queues(QueueStatus::local_region) || post.deserved == Status::bad_buffer) {
    spoil_local(post);
  } else {
    spoil_request(post);
  }
  copy_to_request(post);
}

void NicDraw::spoil_request(PlannedPost& post) {
  formats::Submission& entry = post.ring->entry;
  switch (post.deserved) {
    case Status::bad_length:
      entry.bytes = 0;
      break;
    case Status::misaligned: {
      const bool local = post.ring->opcode() == Opcode::send || dice_.one_in(2);
      (local ? entry.local_addr : entry.remote_addr) += dice_.between(1, payload() - 1);
      break;
    }
    case Status::bad_node:
      entry.node = (1u << params().node_bits) + static_cast<uint32_t>(dice_.below(3));
      break;
    case Status::no_answer:  // a node that does not exist
      entry.node = plan_.nodes() + static_cast<uint32_t>(dice_.below(3));
      break;
    default:
      spoil_remote(post);
  }
}

void NicDraw::spoil_entry(formats::Submission& entry) {
  switch (dice_.below(3)) {
    case 0:
      entry.flags |= static_cast<uint8_t>(4u << dice_.below(6));
      break;
    case 1:
      entry.reserved0 = static_cast<uint16_t>(1u << dice_.below(16));
      break;
    default:
      entry.reserved2 = uint64_t{1} << dice_.below(64);
  }
}

void NicDraw::spoil_local(PlannedPost& post) {
  formats::Submission& entry = post.ring->entry;
  if (post.deserved == of_queues(QueueStatus::local_key)) {
    entry.local_key ^= 1u << dice_.below(16);
  } else if (post.deserved == of_queues(QueueStatus::local_region)) {
    const bool is_read = post.ring->opcode() == Opcode::read;
    const uint32_t region = nic_region(post.ring->queue, is_read ? NicRegion::buffers : NicRegion::source);
    entry.local_addr = nic_region_base(region) - payload();
  } else {  // memory that nothing may be received in
    set_local(post, NicRegion::source);
  }
}

void NicDraw::spoil_remote(PlannedPost& post) {
  formats::Submission& entry = post.ring->entry;
  switch (post.deserved) {
    case Status::bad_key:
      entry.remote_key ^= 1u << dice_.below(16);
      break;
    case Status::too_long:
      entry.bytes = plan_.nic->slot + static_cast<uint32_t>(dice_.between(1, payload()));
      set_local(post, NicRegion::source);
      break;
    case Status::bad_region:
      entry.remote_addr = nic_region_base(entry.remote_key >> 16) - payload();
      break;
    default:  // beyond the bus
      entry.bytes = static_cast<uint32_t>(2 * payload());
      set_local(post, post.ring->opcode() == Opcode::read ? NicRegion::buffers : NicRegion::source);
      entry.remote_addr = (uint64_t{1} << params().addr_bits) - payload();
  }
}

/// A RECV for each message, those that wait at the end of each round, and some more.
void NicDraw::place_buffers() {
  NicPlan& nic = *plan_.nic;
  nic.first_buffer.resize(plan_.nodes());
  nic.buffers_end.resize(plan_.nodes());
  for (uint32_t node = 0; node < plan_.nodes(); ++node) {
    for (uint32_t queue = 0; queue < queues_; ++queue) {
      const uint64_t count = messages_[node][queue] + 3 * nic.buffers + spare_buffers;
      uint64_t& next = next_[node][nic_region(queue, NicRegion::buffers)];
      nic.first_buffer[node].push_back(next);
      for (uint64_t i = 0; i < count; ++i) take_place(next, nic.slot, payload());
      nic.buffers_end[node].push_back(next);
    }
  }
}

/// The same on all nodes, as large as any node needs.
void NicDraw::set_regions() {
  std::vector<driver::RdmaRegion> regions;
  for (uint32_t number = 0; number < nic_regions * queues_; ++number) {
    const auto kind = static_cast<NicRegion>(number % nic_regions);
    const auto queue = static_cast<uint8_t>(number / nic_regions);
    driver::RdmaRegion& region = regions.emplace_back();
    region.base = nic_region_base(number);
    region.limit = region.base + payload();
    for (const auto& of_node : next_) region.limit = std::max(region.limit, of_node[number]);
    region.key = keys_[number];
    region.owner = queue;
    region.remote_write = region.remote_read = kind == NicRegion::target;
    region.local_use = kind == NicRegion::source;
    region.receive = kind == NicRegion::buffers;
    if (kind == NicRegion::target) region.queue = queue;
  }
  for (driver::RdmaSetup& setup : plan_.setups) {
    setup.regions = regions;
    setup.answer_quota = setup.rx_quota;
  }
}

}  // namespace

void draw_nic_posts(Dice& dice, Plan& plan) {
  NicDraw draw(dice, plan);
  draw.draw_queues();
  draw.draw_round(plan.rounds[0], most_posts[0]);
  draw.draw_round(plan.rounds[1], most_posts[1]);
  draw.place_buffers();
  draw.set_regions();
}

uint32_t PlannedPost::message_queue() const {
  const uint32_t number = ring->entry.remote_key >> 16;
  return ring->opcode() == Opcode::send ? number : number / nic_regions;
}

}  // namespace weft::sim
