// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorate/registry/site_table.hpp"

#include <mutex>
#include <new>
#include <random>
#include <unordered_map>
#include <vector>

namespace nvspan::bindings {

namespace detail {

std::atomic<std::atomic<Site*>*> site_chunks[most_chunks];

}  // namespace detail

namespace {

struct Table {
  std::mutex mutex;
  size_t used = 0;  // slots that were ever given away
  std::vector<size_t> free_slots;
  std::unordered_map<int64_t, Site*> restored;
  std::atomic<bool> any_restored{false};
  std::mt19937_64 numbers{std::random_device{}()};
};

// Never destroyed: code may run while the process goes away.
Table& table() {
  static Table* instance = new Table;
  return *instance;
}

std::atomic<Site*>& site_slot(size_t slot) noexcept {
  auto* chunk = detail::site_chunks[slot >> detail::chunk_bits].load(std::memory_order_relaxed);
  return chunk[slot & (detail::chunk_size - 1)];
}

}  // namespace

bool register_site(Site* site) noexcept try {
  Table& sites = table();
  const std::lock_guard<std::mutex> lock(sites.mutex);
  size_t slot;
  if (!sites.free_slots.empty()) {
    slot = sites.free_slots.back();
    sites.free_slots.pop_back();
  } else {
    slot = sites.used;
    const size_t chunk = slot >> detail::chunk_bits;
    if (chunk >= detail::most_chunks) return false;
    sites.free_slots.reserve(slot + 1);  // so that forget_site cannot fail
    if (detail::site_chunks[chunk].load(std::memory_order_relaxed) == nullptr) {
      detail::site_chunks[chunk].store(new std::atomic<Site*>[detail::chunk_size](),
                                       std::memory_order_release);
    }
    ++sites.used;
  }
  const uint64_t number = sites.numbers() & ((uint64_t{1} << detail::slot_bits) - 1);
  site->key = static_cast<int64_t>(number << detail::slot_bits | slot);
  site_slot(slot).store(site, std::memory_order_release);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool register_restored_site(Site* site, int64_t key) noexcept try {
  Table& sites = table();
  const std::lock_guard<std::mutex> lock(sites.mutex);
  site->key = key;
  sites.restored[key] = site;
  sites.any_restored.store(true, std::memory_order_release);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void forget_site(const Site* site) noexcept {
  Table& sites = table();
  const std::lock_guard<std::mutex> lock(sites.mutex);
  const size_t slot = static_cast<size_t>(site->key) & ((size_t{1} << detail::slot_bits) - 1);
  if (slot < sites.used && site_slot(slot).load(std::memory_order_relaxed) == site) {
    site_slot(slot).store(nullptr, std::memory_order_release);
    sites.free_slots.push_back(slot);
    return;
  }
  auto found = sites.restored.find(site->key);
  if (found != sites.restored.end() && found->second == site) sites.restored.erase(found);
}

Site* detail::find_restored_site(int64_t key) noexcept {
  Table& sites = table();
  if (!sites.any_restored.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard<std::mutex> lock(sites.mutex);
  auto found = sites.restored.find(key);
  return found != sites.restored.end() ? found->second : nullptr;
}

}  // namespace nvspan::bindings
