// SPDX-License-Identifier: Apache-2.0
// One line of the ibnetdiscover and ibsim formats.
#include "topology/ibnet_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "topology/ib_rates.hpp"

namespace weft::topology {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string printable(std::string_view text) {
  std::string clean(text);
  std::replace_if(clean.begin(), clean.end(), is_control, ' ');
  return clean;
}

/// What is left of a line.
class Rest {
 public:
  explicit Rest(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  bool empty() const { return text_.empty(); }
  bool next_is(char c) const { return !text_.empty() && text_.front() == c; }

  void skip_blanks() {
    while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
  }
  bool take(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  void need(std::string_view expected) {
    if (!take(expected)) throw BadLine(fmt::format("'{}' expected at '{}'", expected, quotable(text_)));
  }
  uint32_t number() { return digits<uint32_t>(10, "a number"); }
  uint64_t hexadecimal() { return digits<uint64_t>(16, "a GUID"); }
  std::string quoted() {
    need("\"");
    const std::size_t end = text_.find('"');
    if (end == std::string_view::npos) throw BadLine("a quotation mark is missing");
    if (end == 0) throw BadLine("an empty name between quotation marks");
    std::string inside = printable(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return inside;
  }

 private:
  template <typename Number>
  Number digits(int base, const char* what) {
    Number number = 0;
    const auto parsed = std::from_chars(text_.data(), text_.data() + text_.size(), number, base);
    if (parsed.ec != std::errc()) throw BadLine(fmt::format("{} expected at '{}'", what, quotable(text_)));
    text_.remove_prefix(static_cast<std::size_t>(parsed.ptr - text_.data()));
    return number;
  }

  std::string_view text_;
};

/// Behind a switch or host: # "name" and more, or # name and more.
std::string name_in(Rest rest, const std::string& id) {
  if (!rest.take("#")) return id;
  rest.skip_blanks();
  std::string_view text = rest.text();
  if (rest.take("\"")) {
    text = rest.text();  // names may have quotation marks; what follows has none
    return printable(text.substr(0, text.rfind('"')));
  }
  for (const char* behind : {" enhanced port ", " base port ", " lid ", " lmc "})
    text = text.substr(0, text.find(behind));
  text = trimmed(text);
  return text.empty() ? id : printable(text);
}

NodeLine parse_node(Rest rest, Kind kind) {
  NodeLine node{kind, 0, {}, {}};
  rest.skip_blanks();
  node.ports = rest.number();
  if (node.ports < 1 || node.ports > most_ib_ports)
    throw BadLine(fmt::format("{} ports, must be 1 to {}", node.ports, most_ib_ports));
  rest.skip_blanks();
  node.id = rest.quoted();
  rest.skip_blanks();
  if (!rest.empty() && !rest.next_is('#'))
    throw BadLine(fmt::format("'{}' is not understood", quotable(rest.text())));
  node.name = name_in(rest, node.id);
  return node;
}

GuidLine parse_guid(Rest rest, Kind kind) {
  rest.skip_blanks();
  rest.need("0x");
  const GuidLine line{kind, rest.hexadecimal()};
  if (line.guid == 0) throw BadLine("GUID 0");
  if (!rest.empty() && !rest.next_is('(') && !is_blank(rest.text().front()))
    throw BadLine(fmt::format("'{}' is not understood", quotable(rest.text())));
  return line;
}

/// [ext 3], a number on the outside of a chassis, and (GUID)
std::optional<uint64_t> take_details(Rest& rest) {
  if (rest.take("[ext ")) {
    rest.number();
    rest.need("]");
  }
  rest.skip_blanks();
  if (!rest.take("(")) return std::nullopt;
  const uint64_t guid = rest.hexadecimal();
  rest.need(")");
  rest.skip_blanks();
  if (guid == 0) throw BadLine("port GUID 0");
  return guid;
}

PortLine::Peer parse_peer(Rest& rest) {
  PortLine::Peer peer;
  peer.id = rest.quoted();
  rest.skip_blanks();
  if (rest.take("[")) {
    peer.port = rest.number();
    rest.need("]");
  }
  peer.guid = take_details(rest);
  return peer;
}

/// Width and speed as ibsim has them: w=4 s=1
void skip_options(Rest& rest) {
  while (rest.take("w=") || rest.take("s=")) {
    rest.number();
    rest.skip_blanks();
  }
}

/// In what stands behind a port, # "name" and more: 4xHDR, or 1000 Mb/s as weft writes what is no such rate.
uint32_t rate_in(std::string_view comment) {
  std::string_view last;
  comment.remove_prefix(std::min(comment.rfind('"') + 1, comment.size()));  // names may look like rates
  for (Rest rest(comment); !rest.empty(); rest.skip_blanks()) {
    const std::string_view word = rest.text().substr(0, rest.text().find_first_of(" \t"));
    if (const auto mbps = mbps_of_ib_rate(word)) return *mbps;
    uint32_t mbps = 0;
    if (word == "Mb/s" && std::from_chars(last.data(), last.data() + last.size(), mbps).ec == std::errc())
      return mbps;
    last = word;
    rest.take(word);
  }
  return 0;
}

/// The number behind a word; nothing if another word comes.
std::optional<uint32_t> number_behind(Rest& rest, std::string_view word) {
  rest.skip_blanks();
  if (!rest.take(word)) return std::nullopt;
  rest.skip_blanks();
  return rest.number();
}

/// # lid 4 lmc 0 "name" lid 1 4xQDR, as hosts have it: the port's own LIDs come first.
LidsText own_lids_in(Rest comment) {
  LidsText lids;
  if (!comment.take("#")) return lids;
  lids.first = number_behind(comment, "lid ");
  if (lids.first) lids.lmc = number_behind(comment, "lmc ");
  return lids;
}

/// # "name" lid 4 4xQDR: that of the other end. Names may look like LIDs.
std::optional<uint32_t> peer_lid_in(std::string_view comment) {
  const std::size_t name_end = comment.rfind('"');
  if (name_end == std::string_view::npos) return std::nullopt;
  Rest behind(comment.substr(name_end + 1));
  return number_behind(behind, "lid ");
}

PortLine parse_port(Rest rest) {
  PortLine line;
  line.port = rest.number();
  rest.need("]");
  line.guid = take_details(rest);
  if (rest.next_is('"')) line.peer = parse_peer(rest);
  skip_options(rest);
  if (!rest.empty() && !rest.next_is('#'))
    throw BadLine(fmt::format("'{}' is not understood", quotable(rest.text())));
  line.mbps = rate_in(rest.text());
  line.lids = own_lids_in(rest);
  line.peer_lid = peer_lid_in(rest.text());
  return line;
}

/// Lines that say nothing about the graph.
bool is_idle(std::string_view text) {
  constexpr std::array starts{"#",      "vendid=", "devid=",   "sysimgguid=", "width=",
                              "speed=", "pdebug=", "Chassis ", "Hostname:",   "Non-Chassis Nodes"};
  return text.empty() || std::any_of(starts.begin(), starts.end(),
                                     [&](const char* start) { return text.starts_with(start); });
}

void refuse_commands(std::string_view text) {
  for (const std::string_view command : {"include", "module", "do"}) {
    const bool alone = text.size() > command.size() && !is_letter(text[command.size()]);
    if (text.starts_with(command) && alone)
      throw BadLine(fmt::format("ibsim's '{}' is not supported", command));
  }
  if (text.starts_with('@')) throw BadLine("ibsim's aliases (@) are not supported");
}

}  // namespace

Line parse_line(std::string_view text) {
  text = trimmed(text);
  if (is_idle(text)) return {};
  Rest rest(text);
  if (rest.take("[")) return parse_port(rest);
  if (rest.take("switchguid=")) return parse_guid(rest, Kind::sw);
  if (rest.take("caguid=") || rest.take("hcaguids=")) return parse_guid(rest, Kind::host);
  if (rest.take("rtguid=")) return parse_guid(rest, Kind::router);
  for (const auto& [word, kind] : {std::pair{"Switch", Kind::sw}, std::pair{"Ca", Kind::host},
                                   std::pair{"Hca", Kind::host}, std::pair{"Rt", Kind::router}}) {
    Rest behind = rest;
    if (behind.take(word) && !behind.empty() &&
        (is_blank(behind.text().front()) || is_digit(behind.text().front())))
      return parse_node(behind, kind);
  }
  refuse_commands(text);
  throw BadLine(fmt::format("'{}' is no line of ibnetdiscover or ibsim", quotable(text)));
}

std::optional<uint64_t> guid_of_id(std::string_view id) {
  if (id.size() != 18 || id[1] != '-' || std::string_view("SHR").find(id[0]) == std::string_view::npos)
    return std::nullopt;
  uint64_t guid = 0;
  const auto parsed = std::from_chars(id.data() + 2, id.data() + id.size(), guid, 16);
  if (parsed.ec != std::errc() || parsed.ptr != id.data() + id.size() || guid == 0) return std::nullopt;
  return guid;
}

std::string quotable(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown = printable(text.substr(0, most));
  if (text.size() > most) shown += "...";
  return shown;
}

}  // namespace weft::topology
