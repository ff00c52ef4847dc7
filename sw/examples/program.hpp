// SPDX-License-Identifier: Apache-2.0
// What the examples share: options, and how they say what went wrong.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "driver/socket_port.hpp"
#include "driver/verbs.hpp"

namespace weft::examples {

/// Which weft-node, and where there.
struct Place {
  std::string fabric = "weft";
  uint32_t node = 0;

  void add_to(CLI::App& app) {
    app.add_option("--fabric", fabric, "Name of the weft-node")->capture_default_str();
    app.add_option("--node", node, "Node to attach to")
        ->check(command_line::whole_number(0, 65535))
        ->capture_default_str();
  }
  std::unique_ptr<driver::Port> attach() const { return driver::attach(fabric, node); }
};

/// @return the exit code: 0 done, 2 bad input, or what ended otherwise than well
inline int run(CLI::App& app, int argc, char** argv, const std::function<void()>& action) {
  const std::string name = app.get_name();
  command_line::add_version(app);
  try {
    app.parse(argc, argv);
    action();
    return 0;
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}: {}\n", name, command_line::complaint(app, error));
  } catch (const Fault& fault) {
    fmt::print(stderr, "{}: {}\n", name, fault.what());
  }
  return 2;
}

}  // namespace weft::examples
