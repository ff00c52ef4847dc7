// SPDX-License-Identifier: Apache-2.0
// As much of HTTP/1.1 as a relay needs: GET of the rest of a file, HEAD to see whether anybody is there; one
// request a connection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace weft::relay {

/// Where something is had from.
struct Source {
  uint32_t address = 0;
  uint16_t port = 80;
  std::string path;  ///< without the first '/'
  std::string text() const;
};

/// Of "http://10.0.0.1:4080/boot.img"; addresses only, no names. Throws Fault.
Source source_of(std::string_view url);

/// A TCP connection; closed at the end.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  Connection(Connection&& other) noexcept : socket_(other.socket_) { other.socket_ = -1; }
  Connection& operator=(Connection&& other) noexcept {
    std::swap(socket_, other.socket_);
    return *this;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Whether somebody is there, within the silence.
  bool reach(const Source& source) const;
  bool send(std::string_view bytes) const;
  enum class Got : uint8_t { bytes, end, nothing };  ///< nothing: silence
  /// @param count of bytes that came
  Got receive(std::span<char> into, std::size_t& count) const;
  /// Up to the empty line. `more` has what came so far and, in the end, what is behind the head. Too long a
  /// head is as the end.
  Got receive_head(std::string& head, std::string& more) const;
  /// After so long without a byte a send or receive gives up.
  void set_silence(double seconds) const;

 private:
  int socket_;
};

/// Nothing if nobody is there within so long.
std::optional<Connection> connect_to(const Source& source, double seconds);

/// Whether a source answers at all, within so long.
bool is_alive(const Source& source, double seconds);

/// Value of a field of a head, without blanks around it; its name in small letters, as "content-range".
std::optional<std::string> field_of(std::string_view head, std::string_view name);

/// First byte of "bytes=5-"; 0 if there is none.
uint64_t first_of_range(std::string_view range);

}  // namespace weft::relay
