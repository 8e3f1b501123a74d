// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"
#include "core/memory/page_pool.hpp"

#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>

namespace nvspan::core {

// Storage that lasts until the next clear(): for all that one event points at.
class Arena : public Immovable {
 public:
  explicit Arena(PagePool& pool) noexcept : pool_(pool) {}
  ~Arena() { clear(); }

  void clear() noexcept {
    while (last_ != nullptr) {
      Block* previous = last_->previous;
      pool_.deallocate(last_, last_->size);
      last_ = previous;
    }
  }

  char* bytes(std::size_t size) {
    if (size > static_cast<std::size_t>(-1) - sizeof(Block)) throw std::bad_alloc();
    auto* block = static_cast<Block*>(pool_.allocate(size + sizeof(Block)));
    block->previous = last_;
    block->size = size + sizeof(Block);
    last_ = block;
    return reinterpret_cast<char*>(block + 1);
  }

  template <typename T>
  T* array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignof(Block));
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    auto* first = reinterpret_cast<T*>(bytes(count * sizeof(T)));
    for (std::size_t i = 0; i < count; ++i) new (first + i) T();
    return first;
  }

  std::string_view copy(std::string_view text) {
    char* out = bytes(text.size());
    if (!text.empty()) std::memcpy(out, text.data(), text.size());
    return {out, text.size()};
  }

 private:
  struct alignas(16) Block {
    Block* previous;
    std::size_t size;
  };

  PagePool& pool_;
  Block* last_ = nullptr;
};

}  // namespace nvspan::core
