// SPDX-License-Identifier: Apache-2.0
// Images over HTTP, from one source after another.
#include "relay/fetch.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "boot/words.hpp"

namespace weft::relay {

namespace {

using Clock = std::chrono::steady_clock;

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Of "HTTP/1.1 206 Partial Content": 206.
uint64_t status_of(std::string_view head) {
  const auto found = boot::words(head.substr(0, head.find('\r')));
  return found.size() < 2 ? 0 : boot::number(found[1]).value_or(0);
}

/// Of "bytes 5-99/100": 100, if it begins at `first`.
std::optional<uint64_t> whole_of(std::string_view range, uint64_t first) {
  if (!range.starts_with(fmt::format("bytes {}-", first))) return std::nullopt;
  return boot::number(range.substr(range.find('/') + 1));
}

std::optional<uint64_t> size_in(std::string_view head, uint64_t first) {
  if (status_of(head) == 206) return whole_of(field_of(head, "content-range").value_or(""), first);
  if (status_of(head) == 200 && first == 0)
    return boot::number(field_of(head, "content-length").value_or(""));
  return std::nullopt;
}

/// One source, from a byte on.
class Asking {
 public:
  Asking(const Source& source, const Patience& patience) : source_(source), patience_(patience) {}

  /// Bytes of the whole file; nothing if the rest is not had there.
  std::optional<uint64_t> begin(uint64_t first) {
    connection_ = connect_to(source_, patience_.alive_seconds);
    if (!connection_) return std::nullopt;
    connection_->set_silence(patience_.silence_seconds);
    if (!connection_->send(
            fmt::format("GET /{} HTTP/1.1\r\nHost: {}\r\nRange: bytes={}-\r\nConnection: close\r\n\r\n",
                        source_.path, source_.text(), first)))
      return std::nullopt;
    std::string head;
    const bool there = patient([&] { return connection_->receive_head(head, begun_); });
    return there ? size_in(head, first) : std::nullopt;
  }

  /// The next bytes; none: the end.
  std::span<const char> more() {
    if (!begun_.empty()) {
      const std::size_t count = begun_.copy(buffer_.data(), buffer_.size());
      begun_.erase(0, count);
      return {buffer_.data(), count};
    }
    std::size_t count = 0;
    patient([&] { return connection_->receive(buffer_, count); });
    return {buffer_.data(), count};
  }

 private:
  /// A source may be silent as long as it is there. @return whether bytes came
  template <typename Receive>
  bool patient(Receive receive) const {
    Connection::Got got = receive();
    while (got == Connection::Got::nothing && is_alive(source_, patience_.alive_seconds)) got = receive();
    return got == Connection::Got::bytes;
  }

  const Source& source_;
  const Patience& patience_;
  std::optional<Connection> connection_;
  std::string begun_;  ///< what came with the head
  std::array<char, 65536> buffer_{};
};

/// @return bytes that came from there
uint64_t fetch_rest(const Source& source, const Patience& patience, GrowingFile& image) {
  const uint64_t first = image.bytes();
  const auto asking = std::make_unique<Asking>(source, patience);
  const auto size = asking->begin(first);
  if (!size) return 0;
  image.set_size(*size);
  for (auto bytes = asking->more(); !bytes.empty() && !image.is_complete(); bytes = asking->more())
    image.append(bytes);
  return image.bytes() - first;
}

}  // namespace

std::vector<Share> fetch(const std::vector<Source>& sources, const Patience& patience, GrowingFile& image) {
  const auto start = Clock::now();
  const auto is_early = [&] {
    return image.bytes() == 0 && Clock::now() - start < std::chrono::duration<double>(patience.start_seconds);
  };
  std::vector<Share> shares;
  for (uint32_t turn = 0; turn < patience.turns; ++turn) {
    for (const Source& source : sources) {
      uint64_t bytes = fetch_rest(source, patience, image);
      while (&source == &sources.front() && bytes == 0 && is_early()) {
        sleep_for(0.1);
        bytes = fetch_rest(source, patience, image);
      }
      if (bytes > 0) shares.push_back({source, bytes});
      if (image.is_complete()) return shares;
    }
    sleep_for(1);
  }
  throw NotHad("no source gives the image");
}

std::string fetch_text(const std::vector<Source>& sources, const Patience& patience) {
  for (uint32_t turn = 0; turn < patience.turns; ++turn) {
    for (const Source& source : sources) {
      const auto asking = std::make_unique<Asking>(source, patience);
      const auto size = asking->begin(0);
      if (!size) continue;
      std::string text;
      for (auto bytes = asking->more(); !bytes.empty() && text.size() < *size; bytes = asking->more())
        text.append(bytes.begin(), bytes.end());
      if (text.size() == *size) return text;
    }
    sleep_for(1);
  }
  throw NotHad(sources.front().text() + "/" + sources.front().path + ": cannot be had");
}

}  // namespace weft::relay
