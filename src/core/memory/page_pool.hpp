// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Memory for code that may run inside a signal handler that interrupted malloc, inside a malloc
// hook, or in a forked child: it comes from the kernel, never from the C library's heap.

#pragma once

#include "core/immovable.hpp"

#include <cstddef>
#include <functional>
#include <new>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace nvspan::core {

// Blocks of up to `largest_block` bytes are recycled by size class and go back to the kernel only
// with the pool; larger ones go back at once. Not thread-safe: its owner's lock guards it.
class PagePool : public Immovable {
 public:
  ~PagePool();

  void* allocate(std::size_t bytes);  // 32-byte aligned; throws std::bad_alloc
  void deallocate(void* block, std::size_t bytes) noexcept;

  std::size_t mapped_bytes() const noexcept { return mapped_bytes_; }

 private:
  static constexpr std::size_t smallest_block = 32;
  static constexpr std::size_t class_count = 11;
  static constexpr std::size_t largest_block = smallest_block << (class_count - 1);
  static constexpr std::size_t chunk_bytes = 256 * 1024;

  struct FreeBlock {
    FreeBlock* next;
  };
  struct Chunk {
    Chunk* next;
  };

  static std::size_t class_of(std::size_t bytes) noexcept;
  void* map(std::size_t bytes);
  void unmap(void* address, std::size_t bytes) noexcept;

  FreeBlock* free_[class_count] = {};
  Chunk* chunks_ = nullptr;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t mapped_bytes_ = 0;
};

// Lets the standard containers live in a PagePool.
template <typename T>
class PoolAllocator {
 public:
  using value_type = T;

  PoolAllocator(PagePool& pool) noexcept : pool_(&pool) {}  // NOLINT(google-explicit-constructor)
  template <typename U>
  PoolAllocator(const PoolAllocator<U>& other) noexcept  // NOLINT(google-explicit-constructor)
      : pool_(other.pool_) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(pool_->allocate(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept {
    pool_->deallocate(block, count * sizeof(T));
  }

  template <typename U>
  friend bool operator==(const PoolAllocator& a, const PoolAllocator<U>& b) noexcept {
    return a.pool() == b.pool();
  }
  template <typename U>
  friend bool operator!=(const PoolAllocator& a, const PoolAllocator<U>& b) noexcept {
    return a.pool() != b.pool();
  }

  PagePool* pool() const noexcept { return pool_; }

 private:
  template <typename U>
  friend class PoolAllocator;

  PagePool* pool_;
};

using PoolString = std::basic_string<char, std::char_traits<char>, PoolAllocator<char>>;

template <typename T>
using PoolVector = std::vector<T, PoolAllocator<T>>;

template <typename Key, typename Value, typename Hash = std::hash<Key>,
          typename Equal = std::equal_to<Key>>
using PoolMap =
    std::unordered_map<Key, Value, Hash, Equal, PoolAllocator<std::pair<const Key, Value>>>;

template <typename Key>
using PoolSet = std::unordered_set<Key, std::hash<Key>, std::equal_to<Key>, PoolAllocator<Key>>;

}  // namespace nvspan::core
