// SPDX-License-Identifier: Apache-2.0
// Configuration files of boot servers that carry out a plan, and reading them back (docs/boot.md).
//
// A DHCP server knows each node by its MAC address and names it an iPXE script; the script names the planned
// server and, if that fails, the backup. There is one script for each pair of servers, or for each chain of
// nodes. Where nodes or switches pass the image on, iPXE loads a small system, which gets the image.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boot/chain_file.hpp"
#include "boot/machine.hpp"
#include "boot/multicast.hpp"
#include "boot/nodes.hpp"
#include "boot/peers.hpp"
#include "boot/plan.hpp"
#include "common/output_file.hpp"

namespace weft::boot {

enum class Program : uint8_t { dnsmasq, kea, dhcpd };

std::optional<Program> program_named(std::string_view name);

struct Serving {
  Program program = Program::dnsmasq;
  std::string image;             ///< name that servers have it under
  std::string initrd;            ///< likewise; empty: none
  std::string folder;            ///< of a server, absolute: image, boot loaders and scripts
  std::string kernel_arguments;  ///< behind the image's address in scripts
  std::string kernel = {};       ///< small system that gets the image; empty: the image itself boots
  bool tftp = false;             ///< images by TFTP instead of HTTP
};

/// What is carried out.
struct Way {
  Plan plan;  ///< which server gives each node what it boots
  std::optional<Chains> chains = {};
  std::optional<Multicast> multicast = {};
};

/// Throws Fault if a text cannot stand in the files.
void expect_servable(const Serving& serving);

/// All files, with paths within their folder, the manifest last.
/// @param nodes with MAC addresses
std::vector<OutputFile> config_files(const Machine& machine, const Nodes& nodes, const Way& way,
                                     const Serving& serving);

class Scratch;

/// Makes the files in a folder beside `folder` and then puts it in place, so that there is always a whole
/// one. What was there is back in the end, unless the new one is kept.
class ConfigFolder {
 public:
  /// A folder that is there must be empty or one that this wrote. Throws Fault.
  ConfigFolder(const std::filesystem::path& folder, const std::vector<OutputFile>& files);
  ConfigFolder(const ConfigFolder&) = delete;
  ConfigFolder& operator=(const ConfigFolder&) = delete;
  ~ConfigFolder();
  void keep() { kept_ = true; }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<Scratch> made_;  ///< then what was there before
  bool was_there_ = false, kept_ = false;
};

/// Such a folder, kept.
void write_config(const std::filesystem::path& folder, const std::vector<OutputFile>& files);

/// Where the files of write_config are now.
struct Deployed {
  std::filesystem::path folder;                 ///< with the manifest
  std::filesystem::path dhcp = {}, nginx = {};  ///< these servers' files, where they are elsewhere
};

/// Reads files back: all of them against the manifest, and each node's address, server and backup, the nodes
/// that give it the image, who sends what and to whom, against the plan; then each against what would be
/// written now. What servers give (image, initrd, kernel), if any of it is in the folder, must be that of the
/// machine. Other files are passed over, but not beside scripts. One line for each thing that is not as it
/// should be. Throws Fault if there is no manifest.
/// @param serving of the program that the manifest names, whichever is given here
std::vector<std::string> differences(const Deployed& deployed, const Machine& machine, const Nodes& nodes,
                                     const Way& way, const Serving& serving);

/// What a DHCP server's file says about a node.
struct Entry {
  uint64_t mac = 0;
  uint32_t address = 0;
  std::string script;        ///< path of its iPXE script
  uint32_t line = 0;         ///< 0: the file has no lines that mean something
  uint32_t next_server = 0;  ///< gives loader and script by TFTP; 0: whoever answers
};

inline constexpr std::string_view manifest_name = "manifest.json", nginx_name = "nginx.conf";
/// Of files that come and go with a plan.
inline constexpr std::array<std::string_view, 3> script_folders = {"ipxe/", "chains/", "multicast/"};

/// Goes on with the script that option root-path names, as Kea's file has it.
struct RootPathScript {
  std::string_view name = "plan.ipxe", text = "#!ipxe\nchain ${root-path}\n";
};
inline constexpr RootPathScript root_path_script;

/// The file of a program within the folder.
std::string_view config_name(Program program);

/// Throws Fault, "FILE:LINE: fault", about what it cannot understand. What does not name nodes is passed
/// over.
std::vector<Entry> read_entries(const std::filesystem::path& file, Program program);

/// What an iPXE script says.
struct Script {
  std::vector<uint32_t> servers;  ///< that it fetches from, in its order
  std::string chain;              ///< path of the file of the chain; empty: of none
};

/// Throws Fault.
Script read_script(const std::filesystem::path& file);

/// A chain as nodes read it.
ChainFile chain_file_of(const Machine& machine, const Nodes& nodes, const Chains& chains, std::size_t chain,
                        const std::string& image);

/// Who sends which bytes of an image to all nodes.
struct Part {
  uint32_t server = 0;
  uint64_t first = 0, bytes = 0;
  uint64_t kbps = 0;
  bool operator==(const Part&) const = default;
};

/// Of all files that make up the image.
uint64_t image_bytes(const Machine& machine);

/// In parts as long as their senders are fast.
std::vector<Part> parts_of(const Machine& machine, const Multicast& multicast);

/// Scripts of senders and nodes, and the list of nodes.
std::vector<OutputFile> multicast_files(const Machine& machine, const Nodes& nodes,
                                        const Multicast& multicast, const Serving& serving);

inline constexpr std::string_view listeners_name = "multicast/nodes";
std::string sender_script_name(uint32_t server);
/// What such files say. Throws Fault.
Part read_sender(const std::filesystem::path& file, const Addresses& addresses);
std::vector<uint32_t> read_listeners(const std::filesystem::path& file);

}  // namespace weft::boot
