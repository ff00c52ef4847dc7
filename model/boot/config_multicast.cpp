// SPDX-License-Identifier: Apache-2.0
// Files of a multicast boot: who sends, who hears, what both run (uftp, curl), and reading the senders back.
#include <fmt/format.h>

#include <cmath>

#include "boot/config.hpp"
#include "boot/words.hpp"
#include "common/input_file.hpp"

namespace weft::boot {

namespace {

constexpr uint32_t announced_at = 0xefff0404;    // 239.255.4.4: what uftpd listens to
constexpr uint32_t first_of_parts = 0xefc00000;  // 239.192.0.0 and on: one for each sender
constexpr double used_of_rate = 0.95;  // of a link; the rest for Ethernet's headers and what is asked

std::string sender_text(const Addresses& addresses, const Part& part, const Serving& serving) {
  return fmt::format(R"sh(#!/bin/sh
# written by weft boot: server {0} sends its part of {1} to all nodes by multicast (uftp)
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
tail -c +{2} {3}/{1} | head -c {4} >"$folder/{1}.{0}"
uftp -R {5} -b 1400 -t 8 -I {6} -M {7} -P {8} -H @{3}/{9} "$@" "$folder/{1}.{0}"
)sh",
                     part.server, serving.image, part.first + 1, serving.folder, part.bytes, part.kbps,
                     address_text(addresses.server(part.server)), address_text(announced_at),
                     address_text(first_of_parts + part.server), listeners_name);
}

/// What nodes run; the same for all.
std::string receiver_text(const std::vector<Part>& parts, const Serving& serving) {
  std::string list;
  for (const Part& part : parts)
    list += fmt::format("{}{}:{}:{}", list.empty() ? "" : " ", part.server, part.first,
                        part.first + part.bytes - 1);
  return fmt::format(R"sh(#!/bin/sh
# written by weft boot: for the small system of a node once its network is there: leaves {0} in FILE. What does not
# come by multicast (uftpd) within SECONDS, or not any more, is fetched by HTTP.
# usage: receive.sh FILE http://SERVER,http://BACKUP [SECONDS] [options of uftpd]
set -eu
output=$1 servers=$2 wait=${{3:-60}}
shift $(($# < 3 ? $# : 3))
parts="{1}" # server:first byte:last byte
folder=$(mktemp -d "$output.XXXXXX")
uftpd -d -q -M {2} -D "$folder" -F "$folder/status" "$@" >"$folder/log" 2>&1 &
daemon=$!

has() {{ grep -q "^RESULT;.*;{0}[.]$1;.*;copied" "$folder/status" 2>/dev/null; }}
all() {{ for part in $parts; do has "${{part%%:*}}" || return 1; done; }}
# waits for more while something comes
silent=0
: >"$folder/mark"
while ! all && [ "$silent" -lt $((wait * 5)) ]; do
  silent=$((silent + 1))
  if [ -n "$(find "$folder" -name '{0}.*' -newer "$folder/mark")" ]; then
    silent=0 wait=10
    : >"$folder/mark"
  fi
  sleep 0.2
done

for part in $parts; do
  number=${{part%%:*}} bytes=${{part#*:}}
  if ! has "$number"; then
    for server in $(echo "$servers" | tr , ' ') nobody; do
      [ "$server" != nobody ] || exit 1
      curl -fsS --speed-time 5 --speed-limit 1 -r "${{bytes%:*}}-${{bytes#*:}}" -o "$folder/http" "$server/{0}" && break
    done
    echo "bytes ${{bytes%:*}} to ${{bytes#*:}} from $server"
    mv "$folder/http" "$folder/{0}.$number"
  fi
  cat "$folder/{0}.$number" >>"$folder/whole"
done
mv "$folder/whole" "$output"
# by then the senders know that this node has all
(sleep 10; kill "$daemon"; rm -r "$folder") >/dev/null 2>&1 &
)sh",
                     serving.image, list, address_text(announced_at));
}

/// Behind a word of a script.
std::string_view value_after(const std::vector<std::string_view>& found, std::string_view word) {
  for (std::size_t i = 0; i + 1 < found.size(); ++i)
    if (found[i] == word) return found[i + 1];
  throw Fault(fmt::format("no '{}'", word));
}

uint64_t number_after(const std::vector<std::string_view>& found, std::string_view word) {
  std::string_view text = value_after(found, word);
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  const auto value = number(text);
  if (!value) throw Fault(fmt::format("no number after '{}'", word));
  return *value;
}

}  // namespace

std::vector<OutputFile> multicast_files(const Machine& machine, const Nodes& nodes,
                                        const Multicast& multicast, const Serving& serving) {
  const auto parts = parts_of(machine, multicast);
  std::string list;
  for (const uint32_t cpu : nodes.cpus) list += fmt::format("0x{:08X}\n", machine.addresses.node(cpu));
  std::vector<OutputFile> files = {{listeners_name, list}};
  files.push_back({"multicast/receive.sh", receiver_text(parts, serving)});
  for (const Part& part : parts)
    files.push_back({sender_script_name(part.server), sender_text(machine.addresses, part, serving)});
  return files;
}

uint64_t image_bytes(const Machine& machine) {
  return static_cast<uint64_t>(std::llround(machine.image_megabits * 1e6 / 8));
}

std::vector<Part> parts_of(const Machine& machine, const Multicast& multicast) {
  const uint64_t bytes = image_bytes(machine);
  double all = 0, before = 0;
  for (const Sender& sender : multicast.senders) all += sender.mbps;
  std::vector<Part> parts;
  uint64_t first = 0;
  for (const Sender& sender : multicast.senders) {
    before += sender.mbps;
    const bool is_last = &sender == &multicast.senders.back();
    const uint64_t end = is_last ? bytes : static_cast<uint64_t>(static_cast<double>(bytes) * before / all);
    if (end > first)
      parts.push_back({sender.server, first, end - first,
                       std::max(uint64_t{1}, static_cast<uint64_t>(sender.mbps * 1000 * used_of_rate))});
    first = end;
  }
  return parts;
}

std::string sender_script_name(uint32_t server) { return fmt::format("multicast/send-{}.sh", server); }

Part read_sender(const std::filesystem::path& file, const Addresses& addresses) {
  Part part;
  const std::string text = read_whole<Fault>(file);
  try {
    for (const std::string_view line : split(text, '\n')) {
      const auto found = words(line);
      if (found.empty() || (found[0] != "tail" && found[0] != "uftp")) continue;
      if (found[0] == "tail") {
        part.first = number_after(found, "-c") - 1;
        part.bytes = number_after({found.begin() + 3, found.end()}, "-c");
      } else {
        part.kbps = number_after(found, "-R");
        part.server = address_of(value_after(found, "-I")) - addresses.first_server;
      }
    }
  } catch (const Fault& fault) {
    throw Fault(fmt::format("{}: {}", file.string(), fault.what()));
  }
  return part;
}

std::vector<uint32_t> read_listeners(const std::filesystem::path& file) {
  const std::string text = read_whole<Fault>(file);
  std::vector<uint32_t> addresses;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto address = line.starts_with("0x") ? number(line.substr(2), 16) : std::nullopt;
    if (!address) throw Fault(file.string() + ": " + in_quotes(line) + " is no node of uftp");
    addresses.push_back(static_cast<uint32_t>(*address));
  }
  return addresses;
}

}  // namespace weft::boot
