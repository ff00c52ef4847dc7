// SPDX-License-Identifier: Apache-2.0
// weft image: what is in table images, after all checks that the lookup block makes; an image as management
// packets.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "common/input_file.hpp"
#include "common/output_file.hpp"
#include "switch/image.hpp"
#include "switch/management.hpp"
#include "weft/command.hpp"

namespace weft::cli {
namespace {

using nlohmann::json;
using switch_lookup::Image;
using switch_lookup::Ports;
using switch_lookup::formats::Entry;
using switch_lookup::formats::Role;

struct ImageArguments {
  CommonOptions common;
  std::vector<std::string> files;
  bool heads = false;
  std::string packets;  ///< file; empty: none is written
  uint64_t key = 0;     ///< of the packets
};

std::vector<uint32_t> numbers_of(Ports ports) {
  std::vector<uint32_t> numbers;
  for (uint32_t port = 1; port <= 64; ++port)
    if ((ports & switch_lookup::port_bit(port)) != 0) numbers.push_back(port);
  return numbers;
}

/// Whichever switch it is for.
Image read(const std::string& file) {
  try {
    return switch_lookup::read_any_image(read_whole<Fault>(file, switch_lookup::most_image_bytes));
  } catch (const switch_lookup::Refused& refused) {
    throw Fault(file + ": " + refused.what());
  }
}

std::string guid_of(const Image& image) { return fmt::format("{:#018x}", image.head.switch_id); }
std::string role_of(const Image& image) {
  return std::string(switch_lookup::formats::name(static_cast<Role>(image.head.role)));
}

json to_json(const Image& image) {
  json multicast = json::array(), unicast = json::array();
  for (const Entry& entry : image.multicast) {
    multicast.push_back({{"color", entry.index & 0xffff}, {"ports", numbers_of(entry.ports)}});
    if (image.head.per_port) multicast.back()["input_port"] = (entry.index >> 16) + 1;
  }
  for (const Entry& entry : image.unicast)
    unicast.push_back(
        {{"index", entry.index}, {"primary", entry.primary}, {"backups", numbers_of(entry.ports)}});
  const auto& head = image.head;
  return {{"switch", guid_of(image)},
          {"version", head.table_version},
          {"role", role_of(image)},
          {"row", head.row},
          {"column", head.column},
          {"row_port", head.row_port},
          {"column_port", head.column_port},
          {"column_bits", head.column_bits},
          {"vc_max", head.vc_max},
          {"fine", head.fine != 0},
          {"per_port", head.per_port != 0},
          {"multicast", multicast},
          {"unicast", unicast}};
}

std::string place_text(const Image& image) {
  const auto& head = image.head;
  switch (static_cast<Role>(head.role)) {
    case Role::leaf:
      return fmt::format(" at row {}, column {}; row port {}, column port {}", head.row, head.column,
                         head.row_port, head.column_port);
    case Role::row:
      return fmt::format(" {}", head.row);
    case Role::column:
      return fmt::format(" {}", head.column);
    case Role::plain:
      break;
  }
  return "";
}

/// The index as its parts, where it is more than a LID, row or column.
std::string index_text(const Image& image, uint32_t index) {
  const auto role = static_cast<Role>(image.head.role);
  const uint32_t bits = image.head.column_bits;
  std::string place = fmt::format("row {}, column {}", index >> bits, index & ((1u << bits) - 1));
  if (role == Role::plain) return fmt::format("LID {}", index);
  if (role == Role::leaf || image.head.fine) return place;
  return fmt::format("{} {}", role == Role::row ? "column" : "row", index);
}

void print_entries(const Image& image) {
  for (const Entry& entry : image.multicast) {
    const std::string from =
        image.head.per_port ? fmt::format(" from port {}", (entry.index >> 16) + 1) : std::string();
    fmt::print("  color {}{}: ports {}\n", entry.index & 0xffff, from,
               fmt::join(numbers_of(entry.ports), " "));
  }
  for (const Entry& entry : image.unicast) {
    const auto backups = numbers_of(entry.ports);
    fmt::print("  {}: {}{}{}\n", index_text(image, entry.index),
               entry.primary == 0 ? "no primary port" : fmt::format("port {}", entry.primary),
               backups.empty() ? "" : ", backups ", fmt::join(backups, " "));
  }
}

void print(const Image& image, bool heads) {
  fmt::print("{}  version {}, {}{}; {} multicast entries{}, {} unicast{}\n", guid_of(image),
             image.head.table_version, role_of(image), place_text(image), image.multicast.size(),
             image.head.per_port ? " of input ports" : "", image.unicast.size(),
             image.head.fine ? " for each row and column" : "");
  if (!heads) print_entries(image);
}

/// The management packets that load an image, a line each: words in hexadecimal, in the order in which they
/// are sent.
std::string packet_lines(const Image& image, uint64_t key) {
  std::string text;
  for (const auto& packet : switch_lookup::management_packets(switch_lookup::write_image(image), key))
    text += fmt::format("{:08x}\n", fmt::join(packet, " "));
  return text;
}

int run_image(const ImageArguments& arguments) {
  if (!arguments.packets.empty() && arguments.files.size() != 1) throw Fault("--packets: of one image only");
  json images = json::array();
  std::string packets;
  int exit_code = ok;
  for (const std::string& file : arguments.files) try {
      const Image image = read(file);
      print(image, arguments.heads);
      images.push_back(to_json(image));
      if (!arguments.packets.empty()) packets = packet_lines(image, arguments.key);
    } catch (const Fault& fault) {
      fmt::print(stderr, "weft: {}\n", fault.what());
      exit_code = bad_input;
    }
  if (exit_code == ok && !arguments.packets.empty()) write_whole(arguments.packets, packets);
  if (exit_code == ok) write_json(arguments.common, {{"images", images}, {"seed", arguments.common.seed}});
  return exit_code;
}

}  // namespace

void add_image(CLI::App& weft, int& exit_code) {
  auto* command = weft.add_subcommand(
      "image", "check table images as a lookup block does, and say what is in them (docs/switch.md)");
  auto arguments = std::make_shared<ImageArguments>();
  command->add_option("FILES", arguments->files, "images of switches")->required();
  command->add_flag("--heads", arguments->heads, "a line for each image, without its entries");
  auto* packets =
      command
          ->add_option("--packets", arguments->packets,
                       "write the management packets that load the image: a line each, words in hexadecimal")
          ->type_name("FILE")
          ->check(command_line::result_file());
  auto* key = command->add_option("--key", arguments->key, "what the block has in KEY_LO and KEY_HI; not 0")
                  ->check(command_line::hexadecimal_number(1, std::numeric_limits<uint64_t>::max()));
  packets->needs(key);
  key->needs(packets);
  add_common(*command, arguments->common);
  command->callback([arguments, &exit_code] { exit_code = run_image(*arguments); });
}

}  // namespace weft::cli
