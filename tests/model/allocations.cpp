// SPDX-License-Identifier: Apache-2.0
// Counts calls of operator new and delete. In a file of its own: where the compiler sees both ends it takes
// them for no pair.
#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<uint64_t> count = 0, freed = 0;

void give_back(void* memory) {
  freed.fetch_add(memory == nullptr ? 0 : 1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

void* operator new(size_t bytes) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, size_t) noexcept { give_back(memory); }

namespace weft::model_test {

uint64_t allocations() { return count; }
uint64_t allocated() { return count - freed; }

}  // namespace weft::model_test
