// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Sites of this process by their keys. It owns none of them.
//
// A key is the index of a slot in its low 30 bits and a number in its high 30 bits that differs
// from one Site to the next and from process to process: code that was serialised by value may come
// back to a process in which its Site is alive, or gone, or was never known.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "bindings/decorate/registry/site.hpp"

namespace nvspan::bindings {

// Gives the Site a key. False if there is no memory, or no slot.
bool register_site(Site* site) noexcept;

// Registers a Site under a key that it brings along. False if there is no memory.
bool register_restored_site(Site* site, int64_t key) noexcept;

void forget_site(const Site* site) noexcept;

namespace detail {

inline constexpr int64_t slot_bits = 30;
inline constexpr size_t chunk_bits = 12;
inline constexpr size_t chunk_size = size_t{1} << chunk_bits;
inline constexpr size_t most_chunks = 4096;

// Chunks are never freed or moved, so that readers need no lock.
extern std::atomic<std::atomic<Site*>*> site_chunks[most_chunks];

Site* find_restored_site(int64_t key) noexcept;

}  // namespace detail

// Null if there is none.
inline Site* find_site(int64_t key) noexcept {
  const size_t slot = static_cast<size_t>(key) & ((size_t{1} << detail::slot_bits) - 1);
  const size_t chunk = slot >> detail::chunk_bits;
  if (chunk < detail::most_chunks) {
    if (auto* sites = detail::site_chunks[chunk].load(std::memory_order_acquire)) {
      Site* site = sites[slot & (detail::chunk_size - 1)].load(std::memory_order_acquire);
      if (site != nullptr && site->key == key) return site;
    }
  }
  return detail::find_restored_site(key);
}

}  // namespace nvspan::bindings
