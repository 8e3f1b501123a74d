// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "cupti/buffers.hpp"

#include <new>

namespace nvspan::cupti {

ActivityBuffers::Buffer ActivityBuffers::take() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  Buffer buffer{nullptr, taken_ + usual_bytes <= budget ? usual_bytes : small_bytes};
  if (buffer.size == usual_bytes && !kept_.empty()) {
    buffer.begin = kept_.back();
    kept_.pop_back();
  } else {
    buffer.begin = static_cast<std::uint8_t*>(
        ::operator new(buffer.size, std::align_val_t(alignment), std::nothrow));
  }
  if (buffer.begin == nullptr) return Buffer{nullptr, 0};
  taken_ += buffer.size;
  return buffer;
}

ActivityBuffers::Buffer ActivityBuffers::take_spare() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (std::size_t i = 0; i < spare_buffers; ++i) {
    if (spare_taken_[i]) continue;
    spare_taken_[i] = true;
    return Buffer{spare_[i], small_bytes};
  }
  return Buffer{nullptr, 0};
}

void ActivityBuffers::give_back(const Buffer& buffer) noexcept {
  if (buffer.begin == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (buffer.begin >= spare_[0] && buffer.begin < spare_[0] + sizeof spare_) {
    spare_taken_[static_cast<std::size_t>(buffer.begin - spare_[0]) / small_bytes] = false;
    return;
  }
  taken_ -= buffer.size;
  if (buffer.size == usual_bytes && kept_.size() < most_kept) {
    try {
      kept_.push_back(buffer.begin);
    } catch (...) {  // no memory
      ::operator delete(buffer.begin, std::align_val_t(alignment));
    }
    return;
  }
  ::operator delete(buffer.begin, std::align_val_t(alignment));
}

}  // namespace nvspan::cupti
