// SPDX-License-Identifier: Apache-2.0
// The loader of a switch lookup block.
#include "switch/loader.hpp"

namespace weft::switch_lookup {

using formats::LoadState;

LoadState Loader::state() const {
  if (!reader_) return LoadState::idle;
  switch (reader_->state()) {
    case ImageLoader::State::more:
      return LoadState::load;
    case ImageLoader::State::done:
      return LoadState::done;
    case ImageLoader::State::refused:
      break;
  }
  return LoadState::refused;
}

void Loader::begin() {
  if (state() == LoadState::load) ++refused_;
  reader_.emplace(sizes_, switch_id_);
}

bool Loader::take(uint32_t word) {
  if (state() != LoadState::load) return false;
  reader_->take(word);
  if (state() == LoadState::refused) ++refused_;
  if (state() == LoadState::done) {
    ++taken_;
    in_use_ = reader_->image();
  }
  return true;
}

}  // namespace weft::switch_lookup
