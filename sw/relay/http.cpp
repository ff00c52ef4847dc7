// SPDX-License-Identifier: Apache-2.0
// HTTP over sockets.
#include "relay/http.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>

#include "boot/addresses.hpp"
#include "boot/words.hpp"
#include "common/fault.hpp"

namespace weft::relay {

namespace {

constexpr std::size_t longest_head = 16384;
constexpr std::string_view end_of_head = "\r\n\r\n";

std::string small(std::string_view text) {
  std::string letters(text);
  std::transform(letters.begin(), letters.end(), letters.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return letters;
}

}  // namespace

std::string Source::text() const { return fmt::format("{}:{}", boot::address_text(address), port); }

Source source_of(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  const std::string fault = boot::in_quotes(url) + " is not http://ADDRESS[:PORT]/PATH";
  if (!url.starts_with(scheme)) throw Fault(fault);
  url.remove_prefix(scheme.size());
  const std::size_t slash = url.find('/');
  if (slash == std::string_view::npos) throw Fault(fault);
  const auto place = boot::split(url.substr(0, slash), ':');
  const auto port = place.size() == 2 ? boot::number(place[1]) : uint64_t{80};
  if (place.size() > 2 || !port || *port == 0 || *port > 65535) throw Fault(fault);
  return {boot::address_of(place[0]), static_cast<uint16_t>(*port), std::string(url.substr(slash + 1))};
}

Connection::~Connection() {
  if (socket_ >= 0) close(socket_);
}

bool Connection::reach(const Source& source) const {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(source.port);
  place.sin_addr.s_addr = htonl(source.address);
  return ::connect(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
}

bool Connection::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

Connection::Got Connection::receive(std::span<char> into, std::size_t& count) const {
  const ssize_t got = recv(socket_, into.data(), into.size(), 0);
  count = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  if (got > 0) return Got::bytes;
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Got::nothing : Got::end;
}

Connection::Got Connection::receive_head(std::string& head, std::string& more) const {
  std::array<char, 4096> buffer{};
  std::size_t count = 0, end = more.find(end_of_head);
  for (; end == std::string::npos; end = more.find(end_of_head)) {
    if (more.size() > longest_head) return Got::end;
    const Got got = receive(buffer, count);
    if (got != Got::bytes) return got;
    more.append(buffer.data(), count);
  }
  head = more.substr(0, end + 2);
  more.erase(0, end + end_of_head.size());
  return Got::bytes;
}

void Connection::set_silence(double seconds) const {
  double whole = 0;
  timeval time{};
  time.tv_usec = static_cast<suseconds_t>(std::modf(seconds, &whole) * 1e6);
  time.tv_sec = static_cast<time_t>(whole);
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

std::optional<Connection> connect_to(const Source& source, double seconds) {
  Connection connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  connection.set_silence(seconds);  // of connect, too
  return connection.reach(source) ? std::optional(std::move(connection)) : std::nullopt;
}

bool is_alive(const Source& source, double seconds) {
  const auto connection = connect_to(source, seconds);
  std::array<char, 1> byte{};
  std::size_t count = 0;
  return connection &&
         connection->send(fmt::format("HEAD /{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                                      source.path, source.text())) &&
         connection->receive(byte, count) == Connection::Got::bytes;
}

std::optional<std::string> field_of(std::string_view head, std::string_view name) {
  for (std::string_view line : boot::split(head, '\n')) {
    const std::size_t mark = line.find(':');
    if (mark == std::string_view::npos || small(line.substr(0, mark)) != name) continue;
    std::string value;
    for (const std::string_view word : boot::words(line.substr(mark + 1)))
      value += (value.empty() ? "" : " ") + std::string(word);
    return value;
  }
  return std::nullopt;
}

uint64_t first_of_range(std::string_view range) {
  constexpr std::string_view bytes = "bytes=";
  if (!range.starts_with(bytes)) return 0;
  return boot::number(range.substr(bytes.size(), range.find('-') - bytes.size())).value_or(0);
}

}  // namespace weft::relay
