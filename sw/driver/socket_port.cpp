// SPDX-License-Identifier: Apache-2.0
// An application's way to a weft-node.
#include "driver/socket_port.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/fault.hpp"

namespace weft::driver {

namespace {

class SocketPort : public Port {
 public:
  SocketPort(const std::string& fabric, uint32_t node) : who_("weft-node '" + fabric + "'") {
    connect(node_socket(fabric));
    attached_ = SocketPort::ask({.ask = Ask::attach, .a = node});
    if (attached_.ok == 0) fail(attached_.text());
    map(node_memory(fabric, node), attached_.values[3]);
  }
  SocketPort(const SocketPort&) = delete;
  SocketPort& operator=(const SocketPort&) = delete;
  ~SocketPort() override {
    if (!memory_.empty()) munmap(memory_.data(), memory_.size());
    close(socket_);
  }

  /// The first attach is this object's own, the context's is answered from it.
  Reply ask(const Request& request) override {
    if (request.ask == Ask::attach && attached_.ok != 0) return attached_;
    Reply reply;
    const bool sent = send(socket_, &request, sizeof request, MSG_NOSIGNAL) == sizeof request;
    if (!sent || recv(socket_, &reply, sizeof reply, 0) != sizeof reply) throw Fault(who_ + ": is gone");
    return reply;
  }
  std::span<uint8_t> memory() override { return memory_; }

 private:
  [[noreturn]] void fail(const std::string& why) {
    close(socket_);
    throw Fault(who_ + ": " + why);
  }

  void connect(const std::string& path) {
    socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) fail("name is too long");
    std::memcpy(address.sun_path, path.data(), path.size());
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      fail("is not running (" + path + ": " + std::strerror(errno) + ")");
  }

  void map(const std::string& name, uint64_t bytes) {
    const int file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
    if (file < 0) fail("memory " + name + ": " + std::strerror(errno));
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) fail("memory " + name + ": " + std::strerror(errno));
    memory_ = {static_cast<uint8_t*>(at), bytes};
  }

  std::string who_;
  int socket_ = -1;
  Reply attached_;
  std::span<uint8_t> memory_;
};

}  // namespace

std::string node_socket(const std::string& fabric) {
  if (fabric.empty() || fabric.find('/') != std::string::npos)
    throw Fault("bad name of a fabric '" + fabric + "': it is empty or has a /");
  return "/tmp/weft-" + std::to_string(getuid()) + "-" + fabric + ".socket";
}

std::string node_memory(const std::string& fabric, uint32_t node) {
  return "/weft-" + std::to_string(getuid()) + "-" + fabric + "-" + std::to_string(node);
}

std::unique_ptr<Port> attach(const std::string& fabric, uint32_t node) {
  return std::make_unique<SocketPort>(fabric, node);
}

}  // namespace weft::driver
