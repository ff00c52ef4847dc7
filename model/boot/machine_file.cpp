// SPDX-License-Identifier: Apache-2.0
// Machine files: JSON of which every value knows its line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "boot/machine.hpp"
#include "common/input_file.hpp"
#include "common/json_text.hpp"

namespace weft::boot {

namespace {

using nlohmann::json;

struct Value {
  std::string field;     ///< "links.n1.mbps"; elements of lists as "failed_servers"
  uint32_t element = 0;  ///< of the outermost list
  uint32_t lists = 0;    ///< that it is in
  uint32_t line = 0;
  json value;
};

/// Every value of the file in its order. Throws Fault.
class Values : public nlohmann::json_sax<json> {
 public:
  Values(std::string file, const json_text::Place& place) : file_(std::move(file)), place_(place) {}

  const std::vector<Value>& all() const { return values_; }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(value); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*elements*/) override {
    open(false);
    return true;
  }
  bool key(string_t& name) override {
    Level& level = levels_.back();
    if (!level.keys.insert(name).second) fail(fmt::format("'{}' is there twice", printable(name)));
    level.name = name;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override {
    if (levels_.empty()) fail("a machine is an object: {...}");
    open(true);
    return true;
  }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*last*/,
                   const nlohmann::detail::exception& /*error*/) override {
    fail("is not JSON from here on");
  }

  [[noreturn]] void fail(const std::string& fault) const { fail(line(), fault); }
  [[noreturn]] void fail(uint32_t line, const std::string& fault) const {
    throw Fault(fmt::format("{}:{}: {}", file_, line, fault));
  }

  std::string place(uint32_t line) const { return fmt::format("{}:{}", file_, line); }

  static std::string printable(const std::string& name) {
    std::string safe;
    for (const char c : name.substr(0, 60)) safe += c >= ' ' && c <= '~' ? c : '?';
    return safe;
  }

 private:
  uint32_t line() const { return static_cast<uint32_t>(place_.line); }

  struct Level {
    bool list = false;
    std::string name;
    std::set<std::string> keys;
    uint32_t element = 0;
  };

  void open(bool list) {
    if (levels_.size() > 8) fail("is nested too deeply");
    levels_.push_back({list, "", {}, 0});
  }
  bool close() {
    levels_.pop_back();
    next();
    return true;
  }
  void next() {
    if (!levels_.empty() && levels_.back().list) ++levels_.back().element;
  }
  bool add(json value) {
    if (levels_.empty()) fail("a machine is an object: {...}");
    Value found{"", 0, 0, line(), std::move(value)};
    for (const Level& level : levels_) {
      if (level.list) {
        ++found.lists;
        found.element = level.element;
        continue;
      }
      if (!found.field.empty()) found.field += '.';
      found.field += level.name;
    }
    values_.push_back(std::move(found));
    next();
    return true;
  }

  std::string file_;
  const json_text::Place& place_;
  std::vector<Level> levels_;
  std::vector<Value> values_;
};

/// Puts values into a machine.
class Filler {
 public:
  Filler(const std::filesystem::path& file, const Values& values, Machine& machine)
      : folder_(file.parent_path()), values_(values), machine_(machine) {}

  void fill() {
    for (const Value& value : values_.all()) put(value);
    for (const auto& [element, own] : own_) {
      if (!own.number) values_.fail(own.line, "a server without 'number'");
      if (!machine_.unequal_servers.emplace(*own.number, own.limits).second)
        values_.fail(own.line, fmt::format("server {} is there twice", *own.number));
    }
    if (line_of_more_ != 0 && machine_.image.empty())
      values_.fail(line_of_more_, "kernel and initrd need an image");
    if (has_image_ || line_of_more_ != 0) measure_files(machine_);
    auto fault = impossible(machine_);
    if (!fault && has_addresses_) fault = impossible_addresses(machine_);
    if (fault) values_.fail(line_of(*fault), fault->field + ": " + fault->fault);
  }

 private:
  struct Own {
    std::optional<uint32_t> number;
    OwnLimits limits;
    uint32_t line = 0;
  };

  uint32_t count(const Value& value) const {
    if (!value.value.is_number_unsigned() || value.value.get<uint64_t>() > 0xffffffff)
      values_.fail(value.line, value.field + ": must be a whole number");
    return value.value.get<uint32_t>();
  }

  double rate(const Value& value) const {
    constexpr double least = 1e-6, most = 1e12;  // as of the options
    if (!value.value.is_number() || !(value.value.get<double>() >= least) || value.value.get<double>() > most)
      values_.fail(value.line, value.field + ": must be a number from 1e-6 to 1e12");
    return value.value.get<double>();
  }

  bool put_size(const Value& value) {
    const std::map<std::string, uint32_t*> sizes = {
        {"cpus_per_board", &machine_.cpus_per_board},
        {"boards_per_supernode", &machine_.boards_per_supernode},
        {"supernodes_per_cabinet", &machine_.supernodes_per_cabinet},
        {"supernodes", &machine_.supernodes},
        {"servers", &machine_.servers},
        {"servers_per_edge", &machine_.servers_per_edge}};
    const auto known = sizes.find(value.field);
    if (known == sizes.end()) return false;
    *known->second = count(value);
    return true;
  }

  bool put_link(const Value& value) {
    for (uint32_t segment = 0; segment < segments; ++segment) {
      const std::string link = fmt::format("links.n{}.", segment + 1);
      if (value.field == link + "mbps") return machine_.links[segment].mbps = rate(value), true;
      if (value.field == link + "count") return machine_.links[segment].count = count(value), true;
    }
    return false;
  }

  bool put_server(const Value& value) {
    if (value.field == "failed_servers") {
      if (!machine_.failed_servers.insert(count(value)).second)
        values_.fail(value.line, fmt::format("failed_servers: {} is there twice", count(value)));
      return true;
    }
    if (!value.field.starts_with("unequal_servers.")) return false;
    Own& own = own_[value.element];
    if (own.line == 0) own.line = value.line;
    if (value.field == "unequal_servers.number") return own.number = count(value), true;
    if (value.field == "unequal_servers.mbps") return own.limits.mbps = rate(value), true;
    if (value.field == "unequal_servers.disk_mbps") return own.limits.disk_mbps = rate(value), true;
    return false;
  }

  /// What `work` makes of a text; a fault gets its line.
  template <typename Work>
  auto text(const Value& value, Work work) const {
    if (!value.value.is_string()) values_.fail(value.line, value.field + ": must be a text");
    try {
      return work(value.value.get<std::string>());
    } catch (const Fault& fault) {
      values_.fail(value.line, fmt::format("{}: {}", value.field, fault.what()));
    }
  }

  bool put_image(const Value& value) {
    if (value.field == "image" || value.field == "image_size") {
      if (has_size_ || has_image_) values_.fail(value.line, "only one of image and image_size can be");
    }
    if (value.field == "image_size") {
      has_size_ = true;
      machine_.image_megabits = text(value, megabits_of_size);
      return true;
    }
    const std::map<std::string, std::filesystem::path*> files = {
        {"image", &machine_.image}, {"initrd", &machine_.initrd}, {"kernel", &machine_.kernel}};
    const auto known = files.find(value.field);
    if (known == files.end()) return false;
    *known->second = text(value, [&](const std::string& name) { return folder_ / name; });
    text(value, [&](const std::string&) { return image_megabits(*known->second); });
    if (known->second == &machine_.image)
      has_image_ = true;
    else
      line_of_more_ = value.line;
    return true;
  }

  bool put_nodes(const Value& value) {
    if (value.field != "nodes") return false;
    machine_.boots_now = text(value, [&](const std::string& spec) {
      if (spec.empty()) throw Fault("names no nodes");
      return spec.starts_with("file:") ? "file:" + (folder_ / spec.substr(5)).string() : spec;
    });
    machine_.boots_now_place = values_.place(value.line) + ": nodes";
    return true;
  }

  bool put_address(const Value& value) {
    Addresses& addresses = machine_.addresses;
    if (value.field == "addresses.subnet") {
      text(value, [&](const std::string& subnet) { return addresses.set_subnet(subnet), 0; });
    } else if (value.field == "addresses.first_server") {
      addresses.first_server = text(value, address_of);
    } else if (value.field == "addresses.first_node") {
      addresses.first_node = text(value, address_of);
    } else {
      return false;
    }
    has_addresses_ = true;
    return true;
  }

  bool put_known(const Value& value) {
    const bool in_list = value.field == "failed_servers" || value.field.starts_with("unequal_servers.");
    if (value.lists != (in_list ? 1 : 0)) return false;
    return put_size(value) || put_link(value) || put_server(value) || put_image(value) ||
           put_address(value) || put_nodes(value);
  }

  static bool is_known(std::string_view field) {
    constexpr std::array<std::string_view, 18> fields = {"cpus_per_board",
                                                         "boards_per_supernode",
                                                         "supernodes_per_cabinet",
                                                         "supernodes",
                                                         "servers",
                                                         "servers_per_edge",
                                                         "links",
                                                         "image",
                                                         "image_size",
                                                         "initrd",
                                                         "kernel",
                                                         "nodes",
                                                         "unequal_servers",
                                                         "failed_servers",
                                                         "addresses",
                                                         "addresses.subnet",
                                                         "addresses.first_server",
                                                         "addresses.first_node"};
    constexpr std::array<std::string_view, 3> of_servers = {"number", "mbps", "disk_mbps"};
    if (std::ranges::find(fields, field) != fields.end()) return true;
    for (const std::string_view name : of_servers)
      if (field == fmt::format("unequal_servers.{}", name)) return true;
    for (uint32_t segment = 1; segment <= segments; ++segment) {
      const std::string link = fmt::format("links.n{}", segment);
      if (field == link || field == link + ".mbps" || field == link + ".count") return true;
    }
    return false;
  }

  void put(const Value& value) {
    if (put_known(value)) return;
    if (is_known(value.field)) values_.fail(value.line, value.field + ": is not of this kind");
    values_.fail(value.line,
                 fmt::format("'{}' is nothing that a machine has", Values::printable(value.field)));
  }

  /// Of the value that is at fault, if it is in the file; else of its end.
  uint32_t line_of(const Impossible& fault) const {
    uint32_t line = 0;
    for (const Value& value : values_.all()) {
      line = value.field.starts_with(fault.field) ? value.line : line;
    }
    return line != 0 ? line : values_.all().empty() ? 1 : values_.all().back().line;
  }

  std::filesystem::path folder_;
  const Values& values_;
  Machine& machine_;
  std::map<uint32_t, Own> own_;
  bool has_addresses_ = false, has_image_ = false, has_size_ = false;
  uint32_t line_of_more_ = 0;  ///< of a kernel or initrd; 0: none
};

}  // namespace

void read_machine(const std::filesystem::path& file, Machine& machine) {
  const std::string text = read_whole<Fault>(file);
  json_text::Place place;
  Values values(file.string(), place);
  const char* end = text.data() + text.size();
  json::sax_parse(json_text::Characters(text.data(), place), json_text::Characters(end, place), &values);
  Filler(file, values, machine).fill();
}

}  // namespace weft::boot
