// SPDX-License-Identifier: Apache-2.0
// Results of weft mcast.
#include "weft/mcast_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace weft::cli {

using nlohmann::json;

json results_of(const mcast::Figures& figures, const mcast::ColourBounds& bounds) {
  return {{"groups", figures.groups},
          {"local_groups", figures.local_groups},
          {"trees", figures.trees},
          {"merged_groups", figures.merged_groups},
          {"colors_used", figures.colours_used},
          {"colors_lower_bound", bounds.value()},
          {"bound_members", bounds.members},
          {"bound_room", bounds.room},
          {"bound_clique", bounds.clique},
          {"bound_height", bounds.height},
          {"most_trees_in_a_switch", figures.most_trees},
          {"table_entries", figures.entries},
          {"max_efi", figures.max_efi},
          {"max_efi_switch", figures.max_efi_switch},
          {"mean_efi", figures.mean_efi},
          {"max_tfi", figures.max_tfi},
          {"mean_tfi", figures.mean_tfi},
          {"max_tree_height", figures.max_tree_height}};
}

std::string to_lines(const json& results) {
  const auto number = [&results](const char* key) { return results.at(key).get<uint64_t>(); };
  const auto real = [&results](const char* key) { return results.at(key).get<double>(); };
  std::string kept;
  if (const auto found = results.find("kept_groups"); found != results.end())
    kept = fmt::format("kept    {} groups as they were, {} with other members; {} gone, {} new\n",
                       found->at("same").get<uint32_t>(), found->at("changed").get<uint32_t>(),
                       found->at("gone").get<uint32_t>(), found->at("new").get<uint32_t>());
  return fmt::format(
      "fabric  {} hosts, {} switches\n"
      "groups  {}, {} of them on one host each\n"
      "trees   {}; {} groups share one, at most {}\n"
      "{}"
      "colors  {}; a switch carries up to {} trees; not below {}{}\n"
      "bounds  {} by members, {} by room, {} by groups in each other's way, {} by height\n"
      "EFI     {}, {} between switches; mean {:.2f}\n"
      "height  {}\n"
      "time    {:.3f} s, {:.4f} ms a group; {:.3f} s before for minimal hops\n",
      number("hosts"), number("switches"), number("groups"), number("local_groups"), number("trees"),
      number("merged_groups"), number("max_tfi"), kept, number("colors_used"),
      number("most_trees_in_a_switch"), number("colors_lower_bound"),
      number("merged_groups") > 0 ? " without merging" : "", number("bound_members"), number("bound_room"),
      number("bound_clique"), number("bound_height"), number("max_efi"), number("max_efi_switch"),
      real("mean_efi"), number("max_tree_height"), real("route_seconds"), 1000 * real("seconds_per_group"),
      real("start_seconds"));
}

}  // namespace weft::cli
