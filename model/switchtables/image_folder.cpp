// SPDX-License-Identifier: Apache-2.0
// A folder with the table images of a fabric.
#include "switchtables/image_folder.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>
#include <tuple>

#include "common/fault.hpp"
#include "common/input_file.hpp"
#include "mcast/images.hpp"

namespace weft::switchtables {

namespace {

namespace fs = std::filesystem;

constexpr const char* image_suffix = ".image";
constexpr const char* at_another_place = "at another place, of another fabric perhaps";

fs::path colours_file(const std::string& folder) { return fs::path(folder) / "colors"; }

/// The switch's place in its fabric, which faults do not change.
auto place_of(const switch_lookup::formats::Image& head) {
  return std::tuple(head.role, head.row, head.column, head.row_port, head.column_port);
}

/// Nothing for a file that is no image, which nobody can load.
std::optional<switch_lookup::Image> image_in(const std::string& file) {
  try {
    return switch_lookup::read_any_image(read_whole<Fault>(file, switch_lookup::most_image_bytes));
  } catch (const switch_lookup::Refused&) {
    return {};
  }
}

/// Whoever loads all images of the folder would load these, too; or it is another fabric's folder, as far as
/// images tell.
void refuse_images_of_others(const std::string& folder,
                             const std::map<std::string, const switch_lookup::Image*>& own) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    if (!name.ends_with(image_suffix)) continue;
    const auto same = own.find(name);
    const auto old = same != own.end() ? image_in(at->path()) : std::nullopt;
    if (same == own.end() || (old && place_of(old->head) != place_of(same->second->head)))
      throw Fault(fmt::format("{}: holds {}, of a switch {}: name another folder, or remove it", folder, name,
                              old ? at_another_place : "that is none of these"));
  }
  const bool none = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !none)  // otherwise who makes the folder says it
    throw Fault(fmt::format("{}: {}", folder, error.message()));
}

std::string colours_text(const std::vector<mcast::FabricTables::Use>& groups) {
  std::string text;
  for (std::size_t group = 0; group < groups.size(); ++group)
    text += groups[group].colour == mcast::none ? fmt::format("{} -\n", group)
                                                : fmt::format("{} {}\n", group, groups[group].colour);
  return text;
}

/// Nothing unless the line is "GROUP COLOR" of this group.
std::optional<uint32_t> colour_of(const std::string& line, std::size_t group) {
  const std::string start = fmt::format("{} ", group);
  if (!line.starts_with(start)) return {};
  const std::string word = line.substr(start.size());
  if (word == "-") return mcast::none;
  uint32_t colour = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), colour);
  if (error != std::errc() || end != word.data() + word.size() || colour == mcast::none) return {};
  return colour;
}

}  // namespace

std::vector<OutputFile> folder_files(const std::string& folder, const Images& images,
                                     const std::vector<mcast::FabricTables::Use>& groups) {
  std::vector<OutputFile> files;
  std::map<std::string, const switch_lookup::Image*> own;
  for (const switch_lookup::Image& image : images) {
    const std::string name = mcast::image_file_name(image);
    own.emplace(name, &image);
    files.push_back({fs::path(folder) / name, switch_lookup::write_image_bytes(image)});
  }
  refuse_images_of_others(folder, own);
  files.push_back({colours_file(folder), colours_text(groups)});
  return files;
}

Images read_images(const std::string& folder, const Images& heads, const Fabric& fabric,
                   switch_lookup::Sizes sizes) {
  Images images;
  for (const switch_lookup::Image& like : heads) {
    const auto file = (fs::path(folder) / mcast::image_file_name(like)).string();
    sizes.ports = fabric.graph().switch_info(static_cast<uint32_t>(images.size())).ports;
    try {
      images.push_back(switch_lookup::read_image_bytes(
          read_whole<Fault>(file, switch_lookup::most_image_bytes), like.head.switch_id, sizes));
    } catch (const switch_lookup::Refused& refused) {
      throw Fault(file + ": " + refused.what());
    }
    if (place_of(images.back().head) != place_of(like.head))
      throw Fault(fmt::format("{}: of a switch {}", file, at_another_place));
  }
  return images;
}

std::vector<uint32_t> read_colours(const std::string& folder, const mcast::Groups& groups,
                                   const switch_lookup::Sizes& sizes) {
  const std::string file = colours_file(folder).string();
  std::istringstream text(read_whole<Fault>(file));
  std::vector<uint32_t> colours;
  for (std::string line; std::getline(text, line);) {
    const auto colour = colour_of(line, colours.size());
    if (!colour)
      throw Fault(fmt::format("{}:{}: {:?}: must be \"{} COLOR\", or - for none", file, colours.size() + 1,
                              line, colours.size()));
    const auto group = static_cast<uint32_t>(colours.size());
    if (*colour == mcast::none && group < groups.count() && !groups.is_local(group))
      throw Fault(fmt::format("{}:{}: no color, but the group has {} members", file, group + 1,
                              groups.members(group).size()));
    if (*colour != mcast::none && *colour >= sizes.colours)
      throw Fault(fmt::format("{}:{}: color {}: the lookup blocks have {} entries", file, group + 1, *colour,
                              sizes.colours));
    colours.push_back(*colour);
  }
  if (colours.size() != groups.count())
    throw Fault(fmt::format("{}: colors of {} groups, not of {}", file, colours.size(), groups.count()));
  return colours;
}

}  // namespace weft::switchtables
