// SPDX-License-Identifier: Apache-2.0
// HTTP server of one image.
#include "relay/serve.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "boot/words.hpp"
#include "common/fault.hpp"

namespace weft::relay {

namespace {

constexpr double reader_silence = 60;   // seconds in which a reader takes nothing
constexpr uint32_t most_readers = 256;  // at once

void answer_with(const Connection& connection, std::string_view status) {
  connection.send(fmt::format("HTTP/1.1 {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status));
}

}  // namespace

Server::Server(uint16_t port, std::string name, GrowingFile& image)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), name_(std::move(name)), image_(image) {
  const int yes = 1;
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 || listen(socket_, 64) != 0)
    throw Fault(fmt::format("port {}: cannot be listened to: {}", port, std::strerror(errno)));
}

void Server::run() {
  while (true) {
    const int accepted = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) continue;
    Connection connection(accepted);
    ++requests_;
    if (readers_ >= most_readers) continue;
    ++readers_;
    std::thread([this, held = std::move(connection)] {
      answer(held);
      --readers_;
    }).detach();
  }
}

void Server::answer(const Connection& connection) {
  connection.set_silence(reader_silence);
  std::string head, more;
  if (connection.receive_head(head, more) != Connection::Got::bytes) return;
  const auto found = boot::words(std::string_view(head).substr(0, head.find('\r')));
  if (found.size() != 3) return answer_with(connection, "400 Bad Request");
  if (found[0] == "HEAD") return answer_with(connection, "204 No Content");
  if (found[0] != "GET") return answer_with(connection, "405 Method Not Allowed");
  if (found[1] != "/" + name_) return answer_with(connection, "404 Not Found");
  give(connection, first_of_range(field_of(head, "range").value_or("")));
}

void Server::give(const Connection& connection, uint64_t first) {
  const uint64_t size = image_.wait_for_size();
  if (first >= size) return answer_with(connection, "416 Range Not Satisfiable");
  if (!connection.send(fmt::format("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {}-{}/{}\r\n"
                                   "Content-Length: {}\r\nConnection: close\r\n\r\n",
                                   first, size - 1, size, size - first)))
    return;
  std::array<char, 16384> buffer{};
  while (first < size) {
    const std::size_t count = image_.read(first, buffer);
    if (count == 0 || !connection.send({buffer.data(), count})) return;
    first += count;
  }
}

void Server::wait_until_idle(double seconds) const {
  using Clock = std::chrono::steady_clock;
  constexpr auto step = std::chrono::milliseconds(100);
  uint64_t requests = requests_;
  for (auto since = Clock::now(); Clock::now() - since < std::chrono::duration<double>(seconds);) {
    std::this_thread::sleep_for(step);
    if (readers_ > 0 || std::exchange(requests, requests_) != requests_) since = Clock::now();
  }
}

}  // namespace weft::relay
