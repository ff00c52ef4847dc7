// SPDX-License-Identifier: Apache-2.0
// weft-fuzzer-topology: what libFuzzer calls. Reads a fabric in the format of ibnetdiscover; what can be read
// must be the same once written and read again, what cannot is refused in one line.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "topology/distances.hpp"
#include "topology/ibnet.hpp"

namespace {

using namespace weft::topology;

[[noreturn]] void complain(const char* what, const std::string& text) {
  std::fprintf(stderr, "weft-fuzzer-topology: %s\n%s\n", what, text.c_str());
  std::abort();  // libFuzzer writes the input to a file
}

void check_again(const Graph& graph) {
  std::string text;
  try {
    text = write_ibnet(graph);
  } catch (const std::invalid_argument&) {
    return;  // names too long for ibsim
  }
  if (!(read_ibnet(text, "again") == graph)) complain("not the same when written and read again", text);
  if (diameter(graph) == unreachable) complain("not connected", text);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): a name that libFuzzer gives
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    check_again(read_ibnet({reinterpret_cast<const char*>(data), size}, "net"));
  } catch (const Fault& fault) {
    const std::string_view said = fault.what();
    if (!said.starts_with("net:") || said.find('\n') != std::string_view::npos)
      complain("not one line that names the file", fault.what());
  }
  return 0;
}
