// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the fake CUPTI knows, and the log of its calls.

#pragma once

#include "records.hpp"

#include <unistd.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace fake_cupti {

using namespace nvspan::cupti;

using Bytes = std::vector<std::uint8_t>;

struct Buffer {
  std::uint8_t* begin;
  std::size_t size;
};

struct Fake {
  std::mutex mutex;
  std::string log;
  CuptiCallback callback = nullptr;
  int subscriber = 0;  // not 0: there is one
  CuptiResult next_subscribe = cupti_success;
  std::set<std::pair<CuptiDomain, std::uint32_t>> callbacks;
  std::set<CuptiDomain> domains;
  std::map<std::pair<CuptiDomain, std::uint32_t>, std::string> functions;
  std::set<ActivityKind> kinds;
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  std::uint64_t (*clock)() = nullptr;
  std::deque<Bytes> pending;
  std::set<std::string> names;  // of kernels that are loaded
  std::size_t dropped = 0;
  std::size_t most_in_buffer = 1000;
  std::uint32_t correlation = 0;
  KernelRecord shape = {};  // of all kernels from now on
  std::set<std::uint64_t> nodes;
  std::uint32_t version = 130'000;
  std::vector<Buffer> kept;  // that were requested and are not filled
  pid_t pid = ::getpid();
};
inline Fake& fake() {
  static Fake* const instance = new Fake;
  return *instance;
}

// Of a graph: of all work that this thread makes up from now on; 0: of none.
inline std::uint64_t& node_of_work() {
  static thread_local std::uint64_t node = 0;
  return node;
}

inline void note(const std::string& line) {
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  if (self.pid != ::getpid()) self.log += "misuse: called in a forked child: ";
  self.log += line + "\n";
}

inline bool is_subscriber(const void* subscriber) {
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  return subscriber == &self.subscriber && self.subscriber != 0;
}

template <typename Record>
void add(const Record& record) {
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  if (self.kinds.count(record.kind) == 0) return;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&record);
  self.pending.emplace_back(begin, begin + sizeof record);
}

// A new one, of which there may be none.
Buffer request_buffer();
// What there is, in as many buffers as it takes. What has no end stays, unless it is forced.
void hand_over(bool forced);
void call_back(CuptiDomain domain, std::uint32_t id, CuptiSite site, const char* kernel,
               std::uint32_t correlation);
void call_back_resource(std::uint32_t id, std::uint64_t node, std::uint64_t original);

}  // namespace fake_cupti

EXPORT std::uint64_t fake_now();  // 0: nobody has given a clock
