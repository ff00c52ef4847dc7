// SPDX-License-Identifier: Apache-2.0
// Configuration files of boot servers that carry out a plan, and reading them back (docs/boot.md).
//
// A DHCP server knows each node by its MAC address and names it an iPXE script; the script names the planned
// server and, if that fails, the backup. There is one script for each pair of servers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boot/machine.hpp"
#include "boot/nodes.hpp"
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
};

/// Throws Fault if a text cannot stand in the files.
void expect_servable(const Serving& serving);

/// All files, with paths within their folder, the manifest last.
/// @param nodes with MAC addresses
std::vector<OutputFile> config_files(const Machine& machine, const Nodes& nodes, const Plan& plan,
                                     const Serving& serving);

/// Makes the files in a folder beside `folder` and then puts it in place, so that there is always a whole
/// one. A folder that is there must be empty or one that this wrote. Throws Fault.
void write_config(const std::filesystem::path& folder, const std::vector<OutputFile>& files);

/// Reads a folder back: its files against the manifest, and each node's address, server and backup against
/// the plan. One line for each thing that is not as it should be. Throws Fault if there is no manifest.
std::vector<std::string> differences(const std::filesystem::path& folder, const Machine& machine,
                                     const Nodes& nodes, const Plan& plan);

/// What a DHCP server's file says about a node.
struct Entry {
  uint64_t mac = 0;
  uint32_t address = 0;
  std::string script;  ///< path of its iPXE script
  uint32_t line = 0;   ///< 0: the file has no lines that mean something
};

inline constexpr std::string_view manifest_name = "manifest.json";

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

/// Addresses that a script fetches from, in its order. Throws Fault.
std::vector<uint32_t> servers_of_script(const std::filesystem::path& file);

}  // namespace weft::boot
