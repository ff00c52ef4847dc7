// SPDX-License-Identifier: Apache-2.0
// weft-node: Verilated NICs and the network between them, to which applications of this machine attach
// (docs/driver.md).
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "driver/socket_port.hpp"
#include "node_system.hpp"

namespace weft::tb {
namespace {

using driver::Reply;
using driver::Request;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stop_wanted = 0;

struct Options {
  static constexpr uint32_t most_nodes = 64;

  std::string fabric = "weft";
  uint32_t nodes = 2;
  uint64_t memory_mib = 64;
  uint64_t patience_ms = 100;
  fabric::Faults faults;
  uint64_t seed = 1;
};

/// Memory that applications map; its name goes with it.
class SharedMemory {
 public:
  SharedMemory(std::string name, uint64_t bytes) : name_(std::move(name)) {
    shm_unlink(name_.c_str());  // of a weft-node that was killed
    const int file = shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) throw Fault(fmt::format("memory {}: {}", name_, std::strerror(errno)));
    void* at = MAP_FAILED;
    if (ftruncate(file, static_cast<off_t>(bytes)) == 0)
      at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int error = errno;
    close(file);
    if (at == MAP_FAILED) {
      shm_unlink(name_.c_str());
      throw Fault(fmt::format("memory {} of {} bytes: {}", name_, bytes, std::strerror(error)));
    }
    bytes_ = {static_cast<uint8_t*>(at), bytes};
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    munmap(bytes_.data(), bytes_.size());
    shm_unlink(name_.c_str());
  }
  std::span<uint8_t> bytes() const { return bytes_; }

 private:
  std::string name_;
  std::span<uint8_t> bytes_;
};

/// Where applications knock; its name goes with it.
class Door {
 public:
  explicit Door(std::string path) : path_(std::move(path)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof address.sun_path) throw Fault(fmt::format("{}: name is too long", path_));
    std::memcpy(address.sun_path, path_.data(), path_.size());
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(socket_, generic, sizeof address) == 0) {
      close(socket_);
      throw Fault(fmt::format("{}: a weft-node of this name is running", path_));
    }
    unlink(path_.c_str());  // of one that was killed
    if (bind(socket_, generic, sizeof address) != 0 || listen(socket_, 64) != 0) {
      const int error = errno;
      close(socket_);
      throw Fault(fmt::format("{}: {}", path_, std::strerror(error)));
    }
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door() {
    close(socket_);
    unlink(path_.c_str());
  }
  int socket() const { return socket_; }

 private:
  static int socket(int domain, int type, int protocol) { return ::socket(domain, type, protocol); }

  std::string path_;
  int socket_ = -1;
};

/// Serves the applications. The clock stands still while one of them computes, for so long as `patience`
/// lasts: what they measure in clocks does not depend on how busy this machine is, as long as none is away
/// for longer. How often one was is counted.
class Service {
 public:
  Service(const Door& door, NodeSystem& nodes, std::chrono::milliseconds patience)
      : door_(door), nodes_(nodes), patience_(patience) {}
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service() {
    for (const auto& [id, application] : applications_) close(application.socket);
  }

  void run() {
    while (!stop_wanted) {
      const bool clocked = may_step();
      look_at_sockets(clocked ? 0 : work() ? 5 : 500);
      if (clocked) step();
    }
  }

 private:
  struct Application {
    int socket;
    std::optional<std::pair<uint32_t, uint32_t>> at;  ///< node and place
    bool asking = false;
    Clock::time_point since = Clock::now();
    bool passed_over = false;  ///< since then
  };

  bool work() const {
    return nodes_.clearing() ||
           std::ranges::any_of(applications_, [](const auto& each) { return each.second.asking; });
  }
  bool may_step() const {
    const auto now = Clock::now();
    return work() && std::ranges::all_of(applications_, [&](const auto& each) {
             return each.second.asking || now - each.second.since > patience_;
           });
  }

  void step() {
    count_passed_over();
    replied_ = false;
    for (int cycle = 0; cycle < cycles_at_once && !replied_; ++cycle) nodes_.step();
  }

  void count_passed_over() {
    for (auto& [id, application] : applications_) {
      if (application.asking || application.passed_over) continue;
      application.passed_over = true;
      ++not_waited_;
    }
  }

  void look_at_sockets(int milliseconds) {
    std::vector<pollfd> sockets{{door_.socket(), POLLIN, 0}};
    std::vector<uint64_t> ids;
    for (const auto& [id, application] : applications_) {
      sockets.push_back({application.socket, static_cast<short>(application.asking ? POLLRDHUP : POLLIN), 0});
      ids.push_back(id);
    }
    if (poll(sockets.data(), sockets.size(), milliseconds) <= 0) return;
    for (size_t index = 0; index < ids.size(); ++index) {
      const short events = sockets[index + 1].revents;
      if (events & POLLIN) {
        take(ids[index]);
      } else if (events != 0) {
        leave(ids[index]);
      }
    }
    if (sockets[0].revents & POLLIN) welcome();
  }

  void welcome() {
    const int socket = accept4(door_.socket(), nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) applications_[next_id_++].socket = socket;
  }

  void take(uint64_t id) {
    Application& application = applications_.at(id);
    Request request;
    if (recv(application.socket, &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC) != sizeof request)
      return leave(id);
    application.asking = true;
    if (!application.at) return attach(id, request);
    if (request.ask == driver::Ask::not_waited) return answer(id, Reply::of({not_waited_}));
    const auto [node, place] = *application.at;
    nodes_.server(node).handle(place, request, [this, id](const Reply& reply) { answer(id, reply); });
  }

  void attach(uint64_t id, const Request& request) {
    if (request.ask != driver::Ask::attach) return answer(id, Reply::refused("not attached"));
    try {
      const uint32_t place = take_place(nodes_, request.a);
      applications_.at(id).at = {request.a, place};
      answer(id, nodes_.server(request.a).attached(place));
    } catch (const Fault& fault) {
      answer(id, Reply::refused(fault.what()));
    }
  }

  void answer(uint64_t id, const Reply& reply) {
    const auto found = applications_.find(id);
    if (found == applications_.end()) return;  // gone meanwhile
    replied_ = true;
    found->second.asking = false;
    found->second.since = Clock::now();
    found->second.passed_over = false;
    // Whom this does not reach is gone, as the next look shows.
    static_cast<void>(send(found->second.socket, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT));
  }

  void leave(uint64_t id) {
    const Application application = applications_.at(id);
    applications_.erase(id);
    close(application.socket);
    if (application.at) nodes_.server(application.at->first).detach(application.at->second);
  }

  static constexpr int cycles_at_once = 256;

  const Door& door_;
  NodeSystem& nodes_;
  std::chrono::milliseconds patience_;
  std::map<uint64_t, Application> applications_;
  uint64_t next_id_ = 0;
  uint64_t not_waited_ = 0;  // times that the patience with one was over
  bool replied_ = false;
};

/// Memory of a weft-node that was killed, and had more nodes.
void remove_surplus_memory(const Options& options) {
  for (uint32_t node = options.nodes; node < Options::most_nodes; ++node)
    shm_unlink(driver::node_memory(options.fabric, node).c_str());
}

void serve(const Options& options) {
  const Door door(driver::node_socket(options.fabric));
  remove_surplus_memory(options);
  std::vector<std::unique_ptr<SharedMemory>> memories;
  std::vector<std::span<uint8_t>> spans;
  for (uint32_t node = 0; node < options.nodes; ++node) {
    memories.push_back(
        std::make_unique<SharedMemory>(driver::node_memory(options.fabric, node), options.memory_mib << 20));
    spans.push_back(memories.back()->bytes());
  }
  NodeSystem nodes(spans, options.faults, options.seed);
  fmt::print("weft-node '{}': {} nodes are ready\n", options.fabric, options.nodes);
  std::fflush(stdout);
  Service(door, nodes, std::chrono::milliseconds(options.patience_ms)).run();
  fmt::print("weft-node '{}': ends after {} clocks\n", options.fabric, nodes.cycle());
}

void end_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_wanted = 1; };
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace
}  // namespace weft::tb

int main(int argc, char** argv) {
  using namespace weft;
  CLI::App app("Verilated NICs and the network between them, for applications of this machine to attach to",
               "weft-node");
  app.footer("Ends on SIGTERM or SIGINT. Exit code: 0 ended so, 2 bad input");
  command_line::add_version(app);
  tb::Options options;
  app.add_option("--fabric", options.fabric, "Name by which applications find it")->capture_default_str();
  app.add_option("--nodes", options.nodes, "NICs")
      ->check(command_line::whole_number(1, tb::Options::most_nodes))
      ->capture_default_str();
  app.add_option("--memory", options.memory_mib, "MiB of host memory of a node")
      ->check(command_line::whole_number(2, 65536))
      ->capture_default_str();
  app.add_option("--patience", options.patience_ms,
                 "ms for which the clock stands still while an application computes")
      ->check(command_line::whole_number(0, 3'600'000))
      ->capture_default_str();
  app.add_option("--loss", options.faults.loss, "Probability that a packet is lost")
      ->check(command_line::within(0, 1));
  app.add_option("--duplicate", options.faults.duplicate, "Probability that it comes twice")
      ->check(command_line::within(0, 1));
  app.add_option("--delay", options.faults.delay, "Clocks that it takes")
      ->check(command_line::whole_number(1, 10'000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of what befalls packets")
      ->check(command_line::whole_number())
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    tb::end_on_signals();
    tb::serve(options);
    return 0;
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "weft-node: {}\n", command_line::complaint(app, error));
  } catch (const Fault& fault) {
    fmt::print(stderr, "weft-node: {}\n", fault.what());
  }
  return 2;
}
