// SPDX-License-Identifier: Apache-2.0
// Tables as files.
#include "route/table_file.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <nlohmann/json.hpp>

#include "common/input_file.hpp"
#include "topology/generate.hpp"

namespace weft::route {

namespace {

using nlohmann::json;

constexpr std::array dimensions{Dimension::row, Dimension::column};
constexpr const char* name_of(Dimension dimension) {
  return dimension == Dimension::row ? "rows" : "columns";
}

json head_of(const Grid& grid, const Options& options) {
  return {{"topology", spec_of(grid)},
          {"rules", static_cast<int>(options.rules)},
          {"masks", options.masks == Masks::line ? "line" : "destination"},
          {"channels", options.channels}};
}

/// Destinations that a row or column switch has an entry for, in the order of its image.
Leaf destination(const Grid& grid, const Options& options, Dimension dimension, std::size_t entry) {
  if (options.masks == Masks::line) return leaf_at(dimension, 0, static_cast<uint32_t>(entry));
  return grid.leaf(static_cast<uint32_t>(entry));
}

/// Primary port, or -, and backups as hexadecimal digits, the highest first.
std::string text_of(const RootEntry& entry, uint32_t ports) {
  const std::string primary = entry.primary == RootEntry::none ? "-" : std::to_string(entry.primary);
  return fmt::format("{} {:0{}x}", primary, entry.backups.to_ullong(), (ports + 3) / 4);
}

template <typename Number>
Number number_of(std::string_view text, int base, const std::string& entry) {
  Number number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    throw Fault("is no entry: " + entry);
  return number;
}

RootEntry entry_of(const std::string& text, uint32_t ports) {
  const std::string_view all = text;
  const std::size_t space = all.find(' ');
  if (space == std::string_view::npos) throw Fault("is no entry: " + text);
  RootEntry entry;
  if (all.substr(0, space) != "-") entry.primary = number_of<uint8_t>(all.substr(0, space), 10, text);
  const auto backups = number_of<switch_lookup::Ports>(all.substr(space + 1), 16, text);
  const bool there = entry.primary == RootEntry::none || entry.primary < ports;
  if (!there || (backups & ~switch_lookup::all_ports(ports)) != 0)
    throw Fault("names a port that is not there: " + text);
  entry.backups = PortSet(backups);
  return entry;
}

json to_json(const Tables& tables) {
  const Grid& grid = tables.grid();
  json file = head_of(grid, tables.options());
  for (uint32_t at = 0; at < grid.leaves(); ++at) {
    std::string image;
    for (uint32_t to = 0; to < grid.leaves(); ++to)
      image += ".rc"[static_cast<std::size_t>(tables.first(grid.leaf(at), grid.leaf(to)))];
    file["leaves"].push_back(image);
  }
  for (uint32_t number = 0; number < grid.roots(); ++number) {
    const Root root = grid.root(number);
    json image = json::array();
    for (std::size_t i = 0; i < tables.entries(root.dimension); ++i) {
      const Leaf to = destination(grid, tables.options(), root.dimension, i);
      image.push_back(text_of(tables.entry(root, to), grid.root_ports(root)));
    }
    file[name_of(root.dimension)].push_back(image);
  }
  file["known_dead"] = tables.known_dead;
  return file;
}

/// An array of this many, or Fault.
const json& list(const json& parent, const char* key, std::size_t size) {
  const json& found = parent.at(key);
  if (!found.is_array() || found.size() != size)
    throw Fault(fmt::format("{} must be a list of {}", key, size));
  return found;
}

Tables from_json(const json& file, const Grid& grid, const Options& options) {
  const json head = head_of(grid, options);
  for (const auto& [key, value] : head.items())
    if (file.at(key) != value)
      throw Fault(fmt::format("is for {} {}, not {}", key, file.at(key).dump(), value.dump()));
  Tables tables(grid, options);
  const json& leaves = list(file, "leaves", grid.leaves());
  for (uint32_t at = 0; at < grid.leaves(); ++at) {
    const auto image = leaves[at].get<std::string>();
    if (image.size() != grid.leaves() || image.find_first_not_of(".rc") != std::string::npos)
      throw Fault(fmt::format("leaf {}: must be {} letters of . r c", at, grid.leaves()));
    for (uint32_t to = 0; to < grid.leaves(); ++to)
      tables.first(grid.leaf(at), grid.leaf(to)) =
          static_cast<First>(std::string_view(".rc").find(image[to]));
  }
  for (const Dimension dimension : dimensions) {
    const uint32_t roots = grid.roots_of_line();
    const json& images = list(file, name_of(dimension), std::size_t{grid.lines(dimension)} * roots);
    for (uint32_t number = 0; number < images.size(); ++number) {
      if (images[number].size() != tables.entries(dimension))
        throw Fault(fmt::format("{} {}: must have {} entries", name_of(dimension), number,
                                tables.entries(dimension)));
      const Root root{dimension, number / roots, number % roots};
      for (std::size_t i = 0; i < tables.entries(dimension); ++i)
        tables.entry(root, destination(grid, options, dimension, i)) =
            entry_of(images[number][i].get<std::string>(), grid.root_ports(root));
    }
  }
  const std::size_t dead = options.rules == RuleSet::detour ? grid.leaves() : 0;
  tables.known_dead = list(file, "known_dead", dead).get<std::vector<bool>>();
  return tables;
}

/// Port of a row or column switch that its plain table has for a destination; 0 if it has no way.
uint32_t plain_port(const RootEntry& entry, const PortSet& alive) {
  if (entry.primary == RootEntry::none) return 0;
  if (alive[entry.primary]) return 1u + entry.primary;
  const PortSet backups = entry.backups & alive;
  return backups.any() ? 1 + static_cast<uint32_t>(std::countr_zero(backups.to_ullong())) : 0;
}

class Lfts {
 public:
  Lfts(const Tables& tables, const Health& alive)
      : tables_(tables),
        alive_(alive),
        grid_(tables.grid()),
        graph_(topology::kfat2d(grid_.rows, grid_.columns, grid_.hosts, grid_.edges, grid_.spines)) {}

  std::string text() {
    for (uint32_t sw = 0; sw < graph_.switches(); ++sw) {
      const uint32_t lid = 1 + graph_.hosts() + sw;
      text_ += fmt::format("Unicast lids [0x0-0x{:x}] of switch Lid {} guid 0x{:016x} ({}):\n",
                           graph_.hosts(), lid, graph_.switch_info(sw).guid, graph_.switch_info(sw).name);
      for (uint32_t host = 0; host < graph_.hosts(); ++host) add(sw, host);
    }
    return std::move(text_);
  }

 private:
  void add(uint32_t sw, uint32_t host) {
    const uint32_t port = port_of(sw, host);
    if (port == 0) return;
    const uint64_t guid = graph_.port_guid(graph_.attachments(host)[0].link);
    text_ += fmt::format("0x{:04x} {:03} : (Channel Adapter portguid 0x{:016x}: '{}')\n", 1 + host, port,
                         guid, graph_.host_info(host).name);
  }
  uint32_t port_of(uint32_t sw, uint32_t host) const {
    const Leaf to = grid_.leaf(host / grid_.hosts);
    if (!alive_.alive(to)) return 0;  // nobody is there
    if (sw >= grid_.leaves()) {
      const Root root = grid_.root(sw - grid_.leaves());
      return plain_port(tables_.entry(root, to), alive_.ports(root));
    }
    if (grid_.leaf(sw) == to) return 1 + host % grid_.hosts;
    const First first = tables_.first(grid_.leaf(sw), to);
    return first == First::none ? 0 : grid_.hosts + static_cast<uint32_t>(first);
  }

  const Tables& tables_;
  const Health& alive_;
  const Grid grid_;
  topology::Graph graph_;
  std::string text_;
};

}  // namespace

std::string to_lfts(const Tables& tables, const Health& alive) { return Lfts(tables, alive).text(); }

bool fits_opensm(const Grid& grid) {
  return grid.hosts + 2 <= 254 && uint64_t{grid.leaves()} * (grid.hosts + 1) + grid.roots() < 49152;
}

std::vector<OutputFile> table_files(const std::filesystem::path& folder, const Tables& tables,
                                    const Health& known) {
  std::vector<OutputFile> files{{folder / "route.json", to_json(tables).dump(1) + '\n'}};
  const auto lfts = folder / "opensm.lfts";
  if (fits_opensm(tables.grid()))
    files.push_back({lfts, to_lfts(tables, known)});
  else if (std::filesystem::exists(lfts))
    throw Fault(lfts.string() + ": is of another fabric; this one has too many hosts for OpenSM");
  return files;
}

Tables read_tables(const std::filesystem::path& folder, const Grid& grid, const Options& options) {
  const auto file = folder / "route.json";
  const std::string text = read_whole<Fault>(file);
  try {
    return from_json(json::parse(text), grid, options);
  } catch (const json::exception& error) {
    throw Fault(file.string() + ": is no table file: " + error.what());
  } catch (const Fault& fault) {
    throw Fault(file.string() + ": " + fault.what());
  }
}

}  // namespace weft::route
