// SPDX-License-Identifier: Apache-2.0
// Reads a fabric and writes a table image, as a program beside weft would.
#include <cstdio>

#include "switch/image.hpp"
#include "topology/spec.hpp"

int main() {
  const auto fabric = weft::topology::load("fattree3:4");
  const weft::switch_lookup::Image image;
  std::printf("%zu hosts, %zu words\n", std::size_t{fabric.hosts()},
              weft::switch_lookup::write_image(image).size());
}
