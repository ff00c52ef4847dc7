// SPDX-License-Identifier: Apache-2.0
// Tables as images of the switch lookup block.
#include "route/switch_images.hpp"

#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <numeric>
#include <set>
#include <system_error>

#include "topology/generate.hpp"

namespace weft::route {

namespace {

using switch_lookup::Image;
using switch_lookup::Sizes;
using switch_lookup::Slot;
using switch_lookup::formats::Role;

class Images {
 public:
  explicit Images(const Tables& tables)
      : tables_(tables),
        grid_(tables.grid()),
        graph_(topology::kfat2d(grid_.rows, grid_.columns, grid_.hosts, grid_.edges, grid_.spines)),
        column_bits_(static_cast<uint32_t>(std::bit_width(grid_.columns - 1))) {}

  std::vector<SwitchImage> all() {
    for (uint32_t leaf = 0; leaf < grid_.leaves(); ++leaf) add_leaf(grid_.leaf(leaf));
    for (uint32_t root = 0; root < grid_.roots(); ++root) add_root(grid_.root(root));
    return std::move(images_);
  }

 private:
  uint32_t fine_index(Leaf to) const { return to.y << column_bits_ | to.x; }

  SwitchImage& add(Role role, uint32_t ports, uint32_t entries) {
    const auto& info = graph_.switch_info(static_cast<uint32_t>(images_.size()));
    SwitchImage made{info.name, Sizes{ports, 1, entries, false}, {}};
    made.image.head.switch_id = info.guid;
    made.image.head.role = static_cast<uint8_t>(role);
    made.image.head.vc_max = static_cast<uint8_t>(tables_.options().channels - 1);
    made.image.head.column_bits = static_cast<uint8_t>(column_bits_);
    images_.push_back(std::move(made));
    return images_.back();
  }

  static void put(Image& image, uint32_t index, const std::optional<Slot>& slot) {
    if (slot) image.unicast.push_back({index, slot->primary, slot->ports});
  }

  void add_leaf(Leaf at) {
    Image& image = add(Role::leaf, grid_.hosts + 2, grid_.rows << column_bits_).image;
    image.head.row = static_cast<uint16_t>(at.y);
    image.head.column = static_cast<uint16_t>(at.x);
    image.head.row_port = static_cast<uint8_t>(grid_.hosts + 1);
    image.head.column_port = static_cast<uint8_t>(grid_.hosts + 2);
    for (uint32_t to = 0; to < grid_.leaves(); ++to)
      put(image, fine_index(grid_.leaf(to)),
          slot_of(tables_.first(at, grid_.leaf(to)), image.head.row_port, image.head.column_port));
  }

  void add_root(const Root& root) {
    const Dimension dimension = root.dimension;
    const bool row = dimension == Dimension::row, fine = tables_.options().masks == Masks::destination;
    const uint32_t ports = grid_.root_ports(root);
    Image& image =
        add(row ? Role::row : Role::column, ports, fine ? grid_.rows << column_bits_ : ports).image;
    (row ? image.head.row : image.head.column) = grid_.trees() ? nowhere : static_cast<uint16_t>(root.line);
    image.head.fine = fine ? 1 : 0;
    if (fine) {
      for (uint32_t to = 0; to < grid_.leaves(); ++to)
        put(image, fine_index(grid_.leaf(to)), slot_of(tables_.entry(root, grid_.leaf(to))));
      return;
    }
    for (uint32_t port = 0; port < ports; ++port)
      put(image, port, slot_of(tables_.entry(root, leaf_at(dimension, 0, port))));
  }

  const Tables& tables_;
  Grid grid_;
  topology::Graph graph_;
  uint32_t column_bits_;
  std::vector<SwitchImage> images_;
};

}  // namespace

std::vector<SwitchImage> switch_images(const Tables& tables) {
  const Options& options = tables.options();
  if (options.rules != RuleSet::vtftr) throw Fault("images are for the rules vtftr only");
  if (options.channels < 2 || options.channels > 3)
    throw Fault(fmt::format("images are for 2 or 3 virtual channels, not {}", options.channels));
  if (tables.grid().hosts > 62)
    throw Fault(fmt::format("images are for at most 62 hosts at a leaf, not {}", tables.grid().hosts));
  return Images(tables).all();
}

std::vector<OutputFile> image_files(const std::filesystem::path& folder, const Tables& tables,
                                    uint32_t version, std::span<const uint32_t> switches) {
  auto images = switch_images(tables);
  std::vector<OutputFile> files;
  std::set<std::string> names;
  for (const SwitchImage& image : images) names.insert(image.name + ".image");
  for (const uint32_t number : switches) {
    SwitchImage& made = images.at(number);
    made.image.head.table_version = version;
    files.push_back({folder / (made.name + ".image"), switch_lookup::write_image_bytes(made.image)});
  }
  std::error_code error;
  for (const auto& there : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path name = there.path().filename();
    if (name.extension() == ".image" && !names.contains(name.string()))
      throw Fault(there.path().string() + ": is of another fabric");
  }
  return files;
}

}  // namespace weft::route
