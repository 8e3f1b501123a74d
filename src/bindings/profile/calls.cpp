// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/profile/calls.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

#include "bindings/support/py.hpp"
#include "nvtx/stretch.hpp"

namespace nvspan::bindings {

namespace {

// Immortal, because threads end after the module.
class LiveCalls {
 public:
  uint64_t begin(uintptr_t frame, const ProfileCode* code) {
    ProfileCall* call = find_call(frame);
    if (!call) call = add(frame);
    if (!call) return 0;
    const auto place = static_cast<uint64_t>(call - calls_.data());
    *call = {frame, code, ++begun_ * nvtx::stretch_places + place, false};
    return call->number;
  }
  uint64_t resume(uintptr_t frame, const ProfileCode* code) {
    ProfileCall* call = find_call(frame);
    if (!call || call->code != code) return begin(frame, code);
    call->is_suspended = false;
    return call->number;
  }
  void leave(uintptr_t frame, bool is_suspended) {
    ProfileCall* call = find_call(frame);
    if (!call) return;
    call->is_suspended = is_suspended;
    if (is_suspended) return;
    empty(find(frame));
    free_.push_back(static_cast<uint32_t>(call - calls_.data()));  // it has room for all
    call->frame = 0;
  }
  std::vector<ProfileCall> take_suspended() {
    std::vector<ProfileCall> taken;
    for (const ProfileCall& call : calls_) {
      if (call.frame != 0 && call.is_suspended) taken.push_back(call);
    }
    std::sort(taken.begin(), taken.end(),
              [](const ProfileCall& a, const ProfileCall& b) { return a.frame < b.frame; });
    forget();
    return taken;
  }
  void forget() noexcept {
    std::vector<ProfileCall>().swap(calls_);
    std::vector<uint32_t>().swap(free_);
    std::vector<uint32_t>().swap(buckets_);
  }

  object_mutex mutex;

 private:
  static constexpr uint32_t no_place = UINT32_MAX;

  size_t first_bucket(uintptr_t frame) const noexcept {
    return static_cast<size_t>(uint64_t{frame} * 0x9E3779B97F4A7C15u >> 32) & (buckets_.size() - 1);
  }
  size_t next(size_t bucket) const noexcept { return (bucket + 1) & (buckets_.size() - 1); }
  // That of the call in `frame`, or a free one.
  size_t find(uintptr_t frame) const noexcept {
    size_t bucket = first_bucket(frame);
    while (buckets_[bucket] != no_place && calls_[buckets_[bucket]].frame != frame) {
      bucket = next(bucket);
    }
    return bucket;
  }
  ProfileCall* find_call(uintptr_t frame) noexcept {
    const uint32_t place = buckets_.empty() ? no_place : buckets_[find(frame)];
    return place == no_place ? nullptr : &calls_[place];
  }
  ProfileCall* add(uintptr_t frame) {
    uint32_t place = 0;
    if (!free_.empty()) {
      place = free_.back();
      free_.pop_back();
    } else {
      if (calls_.size() == nvtx::stretch_places) return nullptr;
      if (2 * (calls_.size() + 1) > buckets_.size()) grow();
      place = static_cast<uint32_t>(calls_.size());
      calls_.emplace_back();
    }
    calls_[place].frame = frame;
    buckets_[find_free(frame)] = place;
    return &calls_[place];
  }
  size_t find_free(uintptr_t frame) const noexcept {
    size_t bucket = first_bucket(frame);
    while (buckets_[bucket] != no_place) bucket = next(bucket);
    return bucket;
  }
  void grow() {
    const size_t count = buckets_.empty() ? 256 : 2 * buckets_.size();
    std::vector<uint32_t> buckets(count, no_place);
    calls_.reserve(count / 2);
    free_.reserve(count / 2);
    buckets_.swap(buckets);
    for (uint32_t place = 0; place < calls_.size(); ++place) {
      if (calls_[place].frame != 0) buckets_[find_free(calls_[place].frame)] = place;
    }
  }
  // What lies behind the bucket may have been put there because it was taken.
  void empty(size_t bucket) noexcept {
    buckets_[bucket] = no_place;
    for (size_t other = next(bucket); buckets_[other] != no_place; other = next(other)) {
      const uint32_t place = buckets_[other];
      buckets_[other] = no_place;
      buckets_[find_free(calls_[place].frame)] = place;
    }
  }

  std::vector<ProfileCall> calls_;  // by place
  std::vector<uint32_t> free_;      // places
  std::vector<uint32_t> buckets_;   // places, by frame; a power of two
  uint64_t begun_ = 0;
};

LiveCalls& live_calls() noexcept {
  static auto* const calls = new LiveCalls;
  return *calls;
}

}  // namespace

uint64_t profile_begin_call(uintptr_t frame, const ProfileCode* code) noexcept {
  try {
    std::lock_guard<object_mutex> lock(live_calls().mutex);
    return live_calls().begin(frame, code);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

uint64_t profile_resume_call(uintptr_t frame, const ProfileCode* code) noexcept {
  try {
    std::lock_guard<object_mutex> lock(live_calls().mutex);
    return live_calls().resume(frame, code);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void profile_leave_call(uintptr_t frame, bool is_suspended) noexcept {
  std::lock_guard<object_mutex> lock(live_calls().mutex);
  live_calls().leave(frame, is_suspended);
}

void profile_forget_calls() noexcept {
  std::lock_guard<object_mutex> lock(live_calls().mutex);
  live_calls().forget();
}

std::vector<ProfileCall> profile_take_suspended_calls() noexcept {
  std::lock_guard<object_mutex> lock(live_calls().mutex);
  try {
    return live_calls().take_suspended();
  } catch (const std::bad_alloc&) {
    live_calls().forget();
    return {};
  }
}

}  // namespace nvspan::bindings
