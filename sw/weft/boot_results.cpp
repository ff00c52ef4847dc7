// SPDX-License-Identifier: Apache-2.0
// Plans and simulations of weft boot as JSON and tables.
#include "weft/boot_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <stdexcept>

#include "boot/bandwidth.hpp"
#include "boot/flows.hpp"
#include "boot/multicast.hpp"
#include "boot/packets.hpp"
#include "boot/peers.hpp"

namespace weft::cli {

using namespace weft::boot;
using nlohmann::json;

namespace {

/// When nodes begin: at once, or anywhere within a time, each as likely.
std::vector<double> begins_of(const BootArguments& arguments, std::size_t nodes) {
  std::vector<double> begins(nodes, 0);
  std::mt19937_64 random(arguments.common.seed);
  for (double& seconds : begins)
    seconds = arguments.begin_within * static_cast<double>(random() >> 11) * 0x1p-53;
  return begins;
}

Protocol protocol_of(const BootArguments& arguments) {
  const double round_trip = arguments.round_trip_ms / 1000;
  if (arguments.protocol == "http") return http(round_trip);
  if (arguments.protocol == "tftp") return tftp(round_trip, arguments.tftp_window);
  return {};
}

std::optional<Death> death_of(const BootArguments& arguments) {
  if (!arguments.death_seconds) return std::nullopt;
  return Death{arguments.dies, *arguments.death_seconds, arguments.notice_seconds, arguments.dying_nodes};
}

/// @param planned seconds of the plan
Course course_of(const BootArguments& arguments, std::size_t nodes, double planned) {
  constexpr double fine = 1000;  // parts of the planned time
  Course course;
  course.protocol = protocol_of(arguments);
  course.begins = begins_of(arguments, nodes);
  course.resolution = arguments.resolution.value_or(planned / fine);
  course.death = death_of(arguments);
  return course;
}

Packets packets_of(const BootArguments& arguments) {
  Packets packets;
  packets.death = death_of(arguments);
  return packets;
}

json times_of_living(Boots& boots) {
  std::sort(boots.seconds.begin(), boots.seconds.end());
  const auto at = [&](double part) {
    return boots.seconds[static_cast<std::size_t>(part * static_cast<double>(boots.seconds.size() - 1))];
  };
  return {{"first_seconds", at(0)}, {"median_seconds", at(0.5)},        {"p99_seconds", at(0.99)},
          {"last_seconds", at(1)},  {"begun_again", boots.begun_again}, {"allocations", boots.allocations}};
}

/// Of those that live; how many have no image in the end; with a death, how many died.
json times_of(Boots boots, const std::optional<Death>& death) {
  const std::size_t without =
      std::erase_if(boots.seconds, [](double seconds) { return std::isinf(seconds); });
  if (boots.seconds.empty())
    throw std::logic_error("boot: the simulation has left all nodes without an image");
  json times = times_of_living(boots);
  std::size_t died = 0;
  if (death) times["died"] = died = std::set<uint32_t>(death->cpus.begin(), death->cpus.end()).size();
  times["without_image"] = without - died;
  return times;
}

/// @param bound of Mb/s a CPU
json found(const Machine& machine, const Nodes& nodes, const std::string& algorithm,
           const Bandwidth& bandwidth, double bound) {
  return {{"algorithm", algorithm},
          {"nodes", nodes.cpus.size()},
          {"servers", machine.servers - machine.failed_servers.size()},
          {"segment_mbps_per_cpu", bandwidth.mbps},
          {"min_mbps_per_cpu", bandwidth.least_mbps},
          {"boot_seconds", bandwidth.boot_seconds},
          {"limiting_segment", bandwidth.limiting},
          {"bound_mbps_per_cpu", bound},
          // the same as that of bandwidths, unless a chain of nodes needs time to be filled
          {"fraction_of_bound", machine.image_megabits / bandwidth.boot_seconds / bound}};
}

/// Beside numbers, where there are any.
json with_names(json mapping, const Machine& machine, const Nodes& nodes) {
  if (machine.node_names.empty()) return mapping;
  json& names = mapping["node_names"];
  for (const uint32_t cpu : nodes.cpus) names.push_back(machine.node_names[cpu]);
  mapping["server_names"] = machine.server_names;
  return mapping;
}

json mapping_of(const Machine& machine, const Nodes& nodes, const Plan& made) {
  return with_names({{"nodes", nodes.cpus}, {"servers", made.servers}, {"backups", made.backups}}, machine,
                    nodes);
}

json of_servers(const BootArguments& arguments, const Machine& machine, const Nodes& nodes,
                const std::string& algorithm) {
  const Plan made = way_of(arguments, machine, nodes, algorithm).plan;
  const Bandwidth bandwidth = bandwidth_of(machine, nodes.cpus, made.servers);
  json result = found(machine, nodes, algorithm, bandwidth, flow_bound(machine, nodes.cpus));
  if (arguments.simulate)
    result["simulated"] = times_of(
        simulate(machine, nodes.cpus, made, course_of(arguments, nodes.cpus.size(), bandwidth.boot_seconds)),
        death_of(arguments));
  if (arguments.packets)
    result["packets"] =
        times_of(simulate_packets(machine, nodes.cpus, made, packets_of(arguments)), death_of(arguments));
  if (arguments.mapping) result["mapping"] = mapping_of(machine, nodes, made);
  return result;
}

/// Of whom each node fetches, and of whom if that dies: a node, or null for its chain's server.
json mapping_of(const Machine& machine, const Nodes& nodes, const Way& way) {
  const Chains& chains = *way.chains;
  json from(std::vector<json>(nodes.cpus.size())), otherwise(std::vector<json>(nodes.cpus.size()));
  for (std::size_t chain = 0; chain < chains.count(); ++chain) {
    const std::size_t begin = chains.begins[chain];
    for (std::size_t at = begin + 1; at < chains.begins[chain + 1]; ++at) {
      from[chains.order[at]] = nodes.cpus[chains.order[at - 1]];
      if (at > begin + 1) otherwise[chains.order[at]] = nodes.cpus[chains.order[at - 2]];
    }
  }
  return with_names({{"nodes", nodes.cpus},
                     {"servers", way.plan.servers},
                     {"backups", way.plan.backups},
                     {"from_nodes", from},
                     {"backup_nodes", otherwise}},
                    machine, nodes);
}

/// Where a small system comes before the image: until all nodes have that.
void add_kernel(json& result, const Machine& machine, const Nodes& nodes, const Plan& made) {
  if (machine.kernel_megabits > 0)
    result["kernel_seconds"] =
        machine.kernel_megabits / bandwidth_of(machine, nodes.cpus, made.servers).least_mbps;
}

json of_peers(const BootArguments& arguments, const Machine& machine, const Nodes& nodes) {
  const Way way = way_of(arguments, machine, nodes, "peers");
  const Chains& chains = *way.chains;
  json result = found(machine, nodes, "peers", chains.bandwidth, replication_bound(machine, nodes.cpus));
  result["chains"] = chains.count();
  result["longest_chain"] = chains.longest();
  result["pieces"] = chains.pieces;
  if (arguments.simulate)
    result["simulated"] =
        times_of(simulate_chains(machine, nodes.cpus, chains, course_of(arguments, nodes.cpus.size(), 0)),
                 death_of(arguments));
  if (arguments.packets)
    result["packets"] =
        times_of(simulate_packets(machine, nodes.cpus, chains, packets_of(arguments)), death_of(arguments));
  if (arguments.mapping) result["mapping"] = mapping_of(machine, nodes, way);
  add_kernel(result, machine, nodes, way.plan);
  return result;
}

json of_multicast(const BootArguments& arguments, const Machine& machine, const Nodes& nodes) {
  const Way way = way_of(arguments, machine, nodes, "multicast");
  const Multicast& multicast = *way.multicast;
  const Plan& unicast = way.plan;
  json result =
      found(machine, nodes, "multicast", multicast.bandwidth, replication_bound(machine, nodes.cpus));
  const Trees trees = trees_of(machine, nodes.cpus, multicast);
  result["trees"] = {{"trees", trees.trees},
                     {"colors", trees.colours},
                     {"max_tree_height", trees.height},
                     {"links", trees.links},
                     {"fullest_link_mbps", trees.fullest_mbps}};
  for (const Sender& sender : multicast.senders)
    result["senders"].push_back({{"server", sender.server}, {"mbps", sender.mbps}});
  if (arguments.simulate) {
    const Course course = course_of(arguments, nodes.cpus.size(), multicast.bandwidth.boot_seconds);
    const Hearing hearing{arguments.loss, arguments.wait.value_or(arguments.begin_within),
                          arguments.round_trip_ms / 1000, arguments.common.seed};
    const MulticastBoots found = simulate_multicast(machine, nodes.cpus, multicast, unicast, course, hearing);
    result["simulated"] = times_of(found.boots, death_of(arguments));
    result["simulated"]["rounds"] = found.rounds;
    result["simulated"]["late"] = found.late;
  }
  if (arguments.packets)
    result["packets"] =
        times_of(simulate_packets(machine, nodes.cpus, multicast, unicast, packets_of(arguments)),
                 death_of(arguments));
  if (arguments.mapping) result["mapping"] = mapping_of(machine, nodes, unicast);
  add_kernel(result, machine, nodes, unicast);
  return result;
}

}  // namespace

Way way_of(const BootArguments& arguments, const Machine& machine, const Nodes& nodes,
           const std::string& algorithm) {
  Way way;
  if (algorithm == "peers") {
    way.chains = plan_chains(machine, nodes.cpus, megabits_of_size(arguments.piece_size));
    way.plan = servers_of(*way.chains);
    return way;
  }
  if (algorithm == "multicast") way.multicast = plan_multicast(machine, nodes.cpus);
  way.plan = plan(machine, nodes.cpus, algorithm_named(algorithm).value_or(Algorithm::balanced));
  return way;
}

json result_of(const BootArguments& arguments, const Machine& machine, const Nodes& nodes,
               const std::string& algorithm) {
  if (algorithm == "peers") return of_peers(arguments, machine, nodes);
  if (algorithm == "multicast") return of_multicast(arguments, machine, nodes);
  return of_servers(arguments, machine, nodes, algorithm);
}

void print_runs(const json& runs) {
  fmt::print("{:<9} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}  {:<8} {:>8}\n", "algorithm",
             "nodes", "servers", "N1", "N2", "N3", "N4", "N5", "Mb/s", "seconds", "limit", "of bound");
  for (const json& run : runs) {
    fmt::print("{:<9} {:>8} {:>7}", run["algorithm"].get<std::string>(), run["nodes"].get<uint64_t>(),
               run["servers"].get<uint32_t>());
    for (const json& mbps : run["segment_mbps_per_cpu"])
      fmt::print(" {:>8.2f}", hundredths(mbps.get<double>()));
    fmt::print(" {:>9.2f} {:>9.2f}  {:<8} {:>6.1f} %\n", hundredths(run["min_mbps_per_cpu"].get<double>()),
               hundredths(run["boot_seconds"].get<double>()), run["limiting_segment"].get<std::string>(),
               100 * run["fraction_of_bound"].get<double>());
  }
}

void print_times(const json& runs, const char* kind) {
  fmt::print("\n{:<9} {:>9} {:>9} {:>9} {:>9} {:>11}\n", kind, "first s", "median s", "99 % s", "last s",
             "begun again");
  for (const json& run : runs) {
    const json& times = run[kind];
    fmt::print("{:<9}", run["algorithm"].get<std::string>());
    for (const char* name : {"first_seconds", "median_seconds", "p99_seconds", "last_seconds"})
      fmt::print(" {:>9.2f}", times[name].get<double>());
    fmt::print(" {:>11}\n", times["begun_again"].get<uint32_t>());
  }
  for (const json& run : runs) {
    if (!run[kind].contains("died")) continue;
    const auto died = run[kind]["died"].get<uint64_t>(), without = run[kind]["without_image"].get<uint64_t>();
    fmt::print("{:<9} {} of {} nodes have the image, {} died\n", run["algorithm"].get<std::string>(),
               run["nodes"].get<uint64_t>() - died - without, run["nodes"].get<uint64_t>(), died);
  }
}

}  // namespace weft::cli
