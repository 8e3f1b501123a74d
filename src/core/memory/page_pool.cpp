// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/memory/page_pool.hpp"

#if defined(_WIN32)
#include <cstdlib>
#else
#include <sys/mman.h>
#endif

namespace nvspan::core {

PagePool::~PagePool() {
  while (chunks_ != nullptr) {
    Chunk* next = chunks_->next;
    unmap(chunks_, chunk_bytes);
    chunks_ = next;
  }
}

std::size_t PagePool::class_of(std::size_t bytes) noexcept {
  std::size_t index = 0;
  while ((smallest_block << index) < bytes) ++index;
  return index;
}

void* PagePool::allocate(std::size_t bytes) {
  if (bytes > largest_block) return map(bytes);
  const std::size_t index = class_of(bytes);
  if (FreeBlock* block = free_[index]) {
    free_[index] = block->next;
    return block;
  }
  const std::size_t size = smallest_block << index;
  if (left_ < size) {
    auto* chunk = static_cast<Chunk*>(map(chunk_bytes));
    chunk->next = chunks_;
    chunks_ = chunk;
    next_ = reinterpret_cast<char*>(chunk) + smallest_block;
    left_ = chunk_bytes - smallest_block;
  }
  void* block = next_;
  next_ += size;
  left_ -= size;
  return block;
}

void PagePool::deallocate(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  if (bytes > largest_block) {
    unmap(block, bytes);
    return;
  }
  const std::size_t index = class_of(bytes);
  auto* freed = static_cast<FreeBlock*>(block);
  freed->next = free_[index];
  free_[index] = freed;
}

void* PagePool::map(std::size_t bytes) {
#if defined(_WIN32)
  void* address = std::malloc(bytes);
  if (address == nullptr) throw std::bad_alloc();
#else
  void* address =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
#endif
  mapped_bytes_ += bytes;
  return address;
}

void PagePool::unmap(void* address, std::size_t bytes) noexcept {
#if defined(_WIN32)
  std::free(address);
#else
  ::munmap(address, bytes);
#endif
  mapped_bytes_ -= bytes;
}

}  // namespace nvspan::core
