// SPDX-License-Identifier: Apache-2.0
// An application's way to a weft-node of this machine: requests through a Unix socket, memory as a POSIX
// shared memory object. The socket closes with the application, however it ends.
#pragma once

#include <memory>
#include <string>

#include "driver/port.hpp"

namespace weft::driver {

/// Of the weft-node of that name; both are of this user alone.
std::string node_socket(const std::string& fabric);
std::string node_memory(const std::string& fabric, uint32_t node);

/// Throws Fault if there is no such node, or no place on it.
std::unique_ptr<Port> attach(const std::string& fabric, uint32_t node);

}  // namespace weft::driver
