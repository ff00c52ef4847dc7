// SPDX-License-Identifier: Apache-2.0
// weft-nic-barriers: barriers of Verilated NICs on a mesh, once by their barrier engines, once by software
// over their RDMA engines; the same NICs, network and distances for both.
//
// Software takes no time: it sees a byte of its memory, and writes a register, in the clock in which it can.
// A message is a WRITE of one byte into a place of its own at the peer, or a WRITE with immediate.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "barrier/plan.hpp"
#include "barrier_nics.hpp"
#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "common/output_file.hpp"

namespace weft::tb {
namespace {

using barrier::Mesh;
using barrier::Node;
using barrier::Plan;

struct Options {
  std::string mesh = "8x8";
  uint32_t barriers = 3;
  Distances distances;
  std::string json, markdown;
};

/// Clocks of each of some barriers in a row, from the clock in which all arrive to that in which the last one
/// has left.
std::vector<uint64_t> hardware(Nics& nics, barrier::Shape shape, Telling telling, uint32_t barriers) {
  nics.open(shape, telling);
  std::vector<uint64_t> clocks;
  for (uint32_t i = 0; i < barriers; ++i) {
    nics.idle();
    const uint64_t start = nics.system.cycle();
    for (uint32_t node = 0; node < nics.system.size(); ++node)
      nics.barriers(node).arrive(the_group, [](std::optional<driver::BarrierDriver::Refusal> refusal) {
        if (refusal != driver::BarrierDriver::Refusal::none) throw Fault("arriving is refused");
      });
    std::vector<bool> left(nics.system.size());
    nics.wait(
        [&] {
          for (uint32_t node = 0; node < nics.system.size(); ++node) {
            if (left[node]) continue;
            const auto completion = nics.barriers(node).take();
            if (completion && completion->ending != 0) throw Fault("a member is called dead");
            left[node] = completion.has_value();
          }
          return std::ranges::all_of(left, [](bool each) { return each; });
        },
        "a barrier in hardware does not end");
    clocks.push_back(nics.system.cycle() - start);
  }
  nics.idle();
  nics.close();
  return clocks;
}

/// The software of all nodes, going through barriers of one plan.
class Software {
 public:
  Software(Nics& nics, const Plan& plan, bool immediate, uint8_t& epoch)
      : nics_(nics), plan_(plan), immediate_(immediate), epoch_(epoch), nodes_(nics.system.size()) {
    for (uint32_t index = 0; index < plan.messages.size(); ++index) {
      nodes_[plan.messages[index].from].sends.push_back(index);
      nodes_[plan.messages[index].to].receives.push_back(index);
    }
  }

  std::vector<uint64_t> run(uint32_t barriers) {
    std::vector<uint64_t> clocks;
    for (uint32_t i = 0; i < barriers; ++i) {
      nics_.idle();
      begin();
      nics_.idle();
      const uint64_t start = nics_.system.cycle();
      nics_.wait([this] { return step(); }, "a barrier in software does not end");
      clocks.push_back(nics_.system.cycle() - start);
      for (uint32_t node = 0; node < nodes_.size(); ++node) nics_.queue(node).acknowledge();
    }
    return clocks;
  }

 private:
  struct State {
    std::vector<uint32_t> sends, receives;
    std::vector<uint32_t> unsent;
  };

  /// What does not belong to the barrier itself: the byte to be sent, buffers for what comes.
  void begin() {
    ++epoch_;
    got_.assign(plan_.messages.size(), false);
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      while (nics_.queue(node).take()) {
      }
      nics_.memory(node).write(sources, std::vector<uint8_t>{epoch_});
      nodes_[node].unsent = nodes_[node].sends;
      if (!immediate_) continue;
      for (; nics_.posted(node) < recvs; ++nics_.posted(node)) nics_.queue(node).post_recv(0, {});
      nics_.queue(node).ring();
    }
  }

  bool step() {
    bool all = true;
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      look(node);
      send(node);
      all = all && nodes_[node].unsent.empty() &&
            std::ranges::all_of(plan_.leaves[node], [&](uint32_t message) { return got_[message]; });
    }
    return all;
  }

  static uint64_t flag_of(uint32_t message) { return flags + uint64_t{payload} * message; }

  void look(uint32_t node) {
    if (immediate_) {
      while (const auto completion = nics_.queue(node).take()) {
        if (completion->status != 0) throw Fault(fmt::format("a message fails: {}", completion->status));
        if (completion->has_immediate == 0) continue;
        got_.at(completion->immediate) = true;
        --nics_.posted(node);
      }
      return;
    }
    for (const uint32_t message : nodes_[node].receives) {
      if (!got_[message]) got_[message] = nics_.memory(node).read(flag_of(message), 1)[0] == epoch_;
    }
  }

  void send(uint32_t node) {
    const auto may_go = [&](uint32_t message) {
      return std::ranges::all_of(plan_.messages[message].needs, [&](uint32_t each) { return got_[each]; });
    };
    const auto post = [&](uint32_t message) {
      if (!may_go(message)) return false;
      const driver::LocalBytes local{sources, 1, driver::rdma_rkey(0, key)};
      const driver::RemoteBytes remote{plan_.messages[message].to, flag_of(message),
                                       driver::rdma_rkey(1, key)};
      const bool put = immediate_ ? nics_.queue(node).post_write_imm(message, local, remote, message)
                                  : nics_.queue(node).post_write(message, local, remote);
      if (!put) throw Fault("a queue is full");
      return true;
    };
    if (std::erase_if(nodes_[node].unsent, post) > 0) nics_.queue(node).ring();
  }

  Nics& nics_;
  const Plan& plan_;
  bool immediate_;
  uint8_t& epoch_;
  std::vector<State> nodes_;
  std::vector<bool> got_;  ///< by message
};

struct Row {
  std::string name;
  bool software, copied;
  uint32_t base;  ///< of software: it sends to base - 1 others at a time
  size_t messages;
  double cycles;
};

double mean(const std::vector<uint64_t>& values) {
  double sum = 0;
  for (const uint64_t value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

struct NamedPlan {
  std::string name;
  Plan plan;
  uint32_t base = 2;
};

struct Order {
  std::string name;
  std::vector<Node> nodes;  ///< by number
};

std::vector<Order> orders(const Mesh& mesh) {
  std::vector<Node> rows(mesh.nodes());
  std::iota(rows.begin(), rows.end(), Node{0});
  return {{"row by row", std::move(rows)},
          {"along the curve", barrier::numbered(mesh, barrier::Numbering::s_curve)},
          {"from the centre", barrier::numbered(mesh, barrier::Numbering::centre)},
          {"in Z-order", barrier::numbered(mesh, barrier::Numbering::morton)}};
}

std::vector<NamedPlan> plans(const Mesh& mesh) {
  const auto curve = barrier::numbered(mesh, barrier::Numbering::s_curve);
  const auto centre = barrier::numbered(mesh, barrier::Numbering::centre);
  const Node root = mesh.at(mesh.size().width / 2, mesh.size().height / 2);
  using barrier::Release;
  using barrier::Shape;
  const auto tree = [&](Shape shape, const std::vector<Node>& nodes, Release release) {
    return barrier::tree_plan(barrier::tree_parents(shape, nodes, 0), release);
  };
  std::vector<NamedPlan> plans = {
      {"tree", barrier::tree_plan(barrier::spanning_parents(mesh, root), Release::along_tree)},
      {"tournament", tree(Shape::lct, curve, Release::from_root)},
      {"lct", tree(Shape::lct, centre, Release::along_tree)},
      {"lct4", tree(Shape::lct4, centre, Release::along_tree), 4},
      {"lct8", tree(Shape::lct8, centre, Release::along_tree), 8}};
  for (const uint32_t base : {2U, 4U, 8U}) {
    for (const auto& [order, nodes] : orders(mesh)) {
      plans.push_back({fmt::format("dissemination of base {}, {}", base, order),
                       barrier::dissemination_plan(nodes, base), base});
      plans.push_back(
          {fmt::format("butterfly of base {}, {}", base, order), barrier::butterfly_plan(nodes, base), base});
    }
  }
  return plans;
}

/// A node has as many tickets for what comes with immediate data as `recvs`.
bool has_tickets(const Plan& plan, uint32_t nodes) {
  std::vector<uint32_t> come(nodes);
  for (const auto& message : plan.messages) ++come[message.to];
  return std::ranges::all_of(come, [](uint32_t count) { return count <= recvs; });
}

std::vector<Row> measure(const Mesh& mesh, const Options& options) {
  Nics nics(mesh, options.distances);
  std::vector<Row> rows;
  const auto add = [&](std::string name, bool software, bool copied, uint32_t base, size_t messages,
                       const std::vector<uint64_t>& clocks) {
    rows.push_back({std::move(name), software, copied, base, messages, mean(clocks)});
    fmt::print("{:<52} {:>8.1f} clocks\n", rows.back().name, rows.back().cycles);
    std::fflush(stdout);
  };
  for (const Telling telling : tellings) {
    const bool copied = telling == Telling::multicast;
    for (const auto& [shape, name] : barrier::shapes)
      add(fmt::format("hardware, {}{}", name, copied ? ", multicast Release" : ""), false, copied, 0,
          mesh.nodes() - 1 + (copied ? 1 : mesh.nodes() - 1),
          hardware(nics, shape, telling, options.barriers));
  }
  uint8_t epoch = 0;
  for (const bool immediate : {false, true}) {
    for (const auto& [name, plan, base] : plans(mesh)) {
      if (immediate && !has_tickets(plan, mesh.nodes())) continue;
      add(fmt::format("{}, {}", name, immediate ? "WRITE_IMM" : "WRITE"), true, false, base,
          plan.messages.size(), Software(nics, plan, immediate, epoch).run(options.barriers));
    }
  }
  return rows;
}

/// The fastest one of a kind.
const Row& best(const std::vector<Row>& rows, const std::function<bool(const Row&)>& kind) {
  return *std::ranges::min_element(rows, {},
                                   [&](const Row& row) { return std::pair(!kind(row), row.cycles); });
}
const Row& hardware(const std::vector<Row>& rows) {
  return best(rows, [](const Row& row) { return !row.software; });
}
/// Of those whose Release goes along the tree, packet by packet.
const Row& hardware_along_tree(const std::vector<Row>& rows) {
  return best(rows, [](const Row& row) { return !row.software && !row.copied; });
}
const Row& software(const std::vector<Row>& rows) {
  return best(rows, [](const Row& row) { return row.software; });
}
/// Of those that send to one other at a time, as those of the literature that is compared.
const Row& usual_software(const std::vector<Row>& rows) {
  return best(rows, [](const Row& row) { return row.software && row.base == 2; });
}

double ratio(const Row& software, const std::vector<Row>& rows) {
  return software.cycles / hardware(rows).cycles;
}

std::string json_of(const Options& options, const std::vector<Row>& rows) {
  nlohmann::json json{{"mesh", options.mesh},
                      {"barriers", options.barriers},
                      {"link_clocks", options.distances.link_clocks},
                      {"memory_latency", options.distances.memory_latency},
                      {"best_hardware", hardware(rows).name},
                      {"best_software", software(rows).name},
                      {"ratio", ratio(software(rows), rows)},
                      {"best_usual_software", usual_software(rows).name},
                      {"usual_ratio", ratio(usual_software(rows), rows)},
                      {"ratio_along_tree", software(rows).cycles / hardware_along_tree(rows).cycles}};
  for (const Row& row : rows)
    json["rows"].push_back({{"name", row.name}, {"messages", row.messages}, {"cycles", row.cycles}});
  return json.dump(2) + "\n";
}

std::string markdown_of(const Options& options, const std::vector<Row>& rows) {
  std::string text = "# Barriers in hardware and in software\n\n";
  text += fmt::format(
      "Written by `weft-nic-barriers --mesh {} --barriers {} --markdown FILE`. Verilated NICs (`weft_nic`) "
      "on "
      "a mesh of routers (links of {}, routers of 4 clocks), host memory {} clocks away: clocks from all "
      "arriving at once to the last one leaving, mean of {} barriers. Nothing is lost. Software takes no "
      "time: it polls and writes registers in the clock in which it can, so real software is slower. What "
      "is compared: [barriers](../barrier.md).\n\n",
      options.mesh, options.barriers, options.distances.link_clocks, options.distances.memory_latency,
      options.barriers);
  text += "| barrier | messages | clocks | ratio |\n|---|---:|---:|---:|\n";
  for (const Row& row : rows)
    text +=
        fmt::format("| {} | {} | {:.0f} | {:.2f} |\n", row.name, row.messages, row.cycles, ratio(row, rows));
  text += fmt::format(
      "\nRatios are to {}. *Base N*: to N - 1 others in each round, so rounds are fewer; where more than {} "
      "messages come to a node, by WRITE only.\n\nGoal: hardware at least 5 times faster than the best "
      "software barrier.",
      hardware(rows).name, recvs);
  for (const auto& [kind, row] : {std::pair("those that send to one other at a time", usual_software(rows)),
                                  std::pair("all", software(rows))})
    text += fmt::format(" Of {}, {}: {:.2f} times, {}.", kind, row.name, ratio(row, rows),
                        ratio(row, rows) >= 5 ? "met" : "not met");
  text += fmt::format(
      " The copies of a multicast Release are made by the routers of this model; with Release along the tree "
      "({}) it is {:.2f} times.",
      hardware_along_tree(rows).name, software(rows).cycles / hardware_along_tree(rows).cycles);
  return text + "\n";
}

/// What cannot be worked with, in one line; all other faults are those of barriers.
class BadInput : public Fault {
 public:
  using Fault::Fault;
};

void write_results(const Options& options, const std::vector<Row>& rows) {
  std::vector<OutputFile> files;
  if (!options.json.empty()) files.push_back({options.json, json_of(options, rows)});
  if (!options.markdown.empty()) files.push_back({options.markdown, markdown_of(options, rows)});
  try {
    write_whole(files);
  } catch (const std::runtime_error& error) {
    throw BadInput(error.what());
  }
}

barrier::Size size_of(const Options& options) {
  try {
    return barrier::read_size(options.mesh, 2, 64);
  } catch (const Fault& fault) {
    throw BadInput(fault.what());
  }
}

void run(const Options& options) {
  const Mesh mesh(size_of(options), barrier::Links::four);
  const auto rows = measure(mesh, options);
  for (const Row& row : {usual_software(rows), software(rows)})
    fmt::print("{} takes {:.2f} times as long as {}\n", row.name, ratio(row, rows), hardware(rows).name);
  write_results(options, rows);
}

}  // namespace
}  // namespace weft::tb

int main(int argc, char** argv) {
  using namespace weft;
  CLI::App app("Barriers of Verilated NICs: by their barrier engines, and by software over RDMA",
               "weft-nic-barriers");
  app.footer("Exit code: 0 ok, 1 a barrier fails, 2 bad input");
  tb::Options options;
  command_line::add_version(app);
  app.add_option("--mesh", options.mesh, "XxY nodes, 2 to 64")->capture_default_str();
  app.add_option("--barriers", options.barriers, "of each kind")
      ->check(command_line::whole_number(1, 10))
      ->capture_default_str();
  app.add_option("--link-clocks", options.distances.link_clocks, "clocks from router to router")
      ->check(command_line::whole_number(1, 1000))
      ->capture_default_str();
  app.add_option("--memory-latency", options.distances.memory_latency, "clocks until host memory answers")
      ->check(command_line::whole_number(1, 1000))
      ->capture_default_str();
  app.add_option("--json", options.json, "results as JSON")->check(command_line::result_file());
  app.add_option("--markdown", options.markdown, "results as a page")->check(command_line::result_file());
  try {
    app.parse(argc, argv);
    tb::run(options);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "weft-nic-barriers: {}\n", command_line::complaint(app, error));
  } catch (const tb::BadInput& error) {
    fmt::print(stderr, "weft-nic-barriers: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft-nic-barriers: {}\n", error.what());
    return 1;
  }
  return 2;
}
