// SPDX-License-Identifier: Apache-2.0
// An image that still comes, as a file.
#include "relay/growing_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/fault.hpp"

namespace weft::relay {

GrowingFile::GrowingFile(std::filesystem::path place)
    : place_(std::move(place)), part_(place_.string() + ".part") {
  file_ = open(part_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) fail("cannot be written");
}

GrowingFile::~GrowingFile() {
  close(file_);
  std::error_code error;
  std::filesystem::remove(part_, error);  // there is none if it is complete
}

void GrowingFile::fail(const char* what) const {
  throw Fault(fmt::format("{}: {}: {}", part_.string(), what, std::strerror(errno)));
}

void GrowingFile::set_size(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0) throw Fault("the image is empty");
  if (size_.value_or(bytes) != bytes)
    throw Fault(fmt::format("the image has {} bytes, not {} as before", bytes, *size_));
  size_ = bytes;
  grown_.notify_all();
}

void GrowingFile::append(std::span<const char> bytes) {
  const uint64_t offset = this->bytes();
  if (offset + bytes.size() > wait_for_size()) throw Fault("there are more bytes than the image has");
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote =
        pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (wrote <= 0) fail("cannot be written");
    done += static_cast<std::size_t>(wrote);
  }
  const std::lock_guard lock(mutex_);
  bytes_ = offset + bytes.size();
  if (bytes_ == *size_) {
    if (rename(part_.c_str(), place_.c_str()) != 0) fail("cannot be put in place");
    complete_ = true;
  }
  grown_.notify_all();
}

uint64_t GrowingFile::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

bool GrowingFile::is_complete() const {
  const std::lock_guard lock(mutex_);
  return complete_;
}

uint64_t GrowingFile::wait_for_size() {
  std::unique_lock lock(mutex_);
  grown_.wait(lock, [&] { return size_.has_value(); });
  return *size_;
}

std::size_t GrowingFile::read(uint64_t offset, std::span<char> into) {
  std::unique_lock lock(mutex_);
  grown_.wait(lock, [&] { return bytes_ > offset; });
  const uint64_t there = std::min<uint64_t>(into.size(), bytes_ - offset);
  lock.unlock();
  const ssize_t got = pread(file_, into.data(), there, static_cast<off_t>(offset));
  return static_cast<std::size_t>(std::max<ssize_t>(got, 0));
}

}  // namespace weft::relay
