// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/thread_list.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace nvspan::lines {
namespace {

constexpr std::size_t most_interpreters = 64;
constexpr int most_threads = 65536;

}  // namespace

PythonThreads::PythonThreads(MemoryCopier& copier, const nvspan_layout& layout)
    : copier_(copier),
      layout_(layout),
      state_bytes_(pointer +
                   static_cast<std::size_t>(std::max(
                       {layout.thread_id, layout.thread_ident, layout.thread_native_id,
                        layout.thread_next, layout.thread_prev, layout.thread_interpreter}))) {}

bool PythonThreads::can_tell_threads(std::uint64_t ident) {
  if (layout_.thread_native_id >= 0) return true;
  constexpr std::int32_t most = 2048;
  const auto own = static_cast<std::int32_t>(::syscall(SYS_gettid));
  for (std::int32_t offset = 0; offset < most; offset += 4) {
    std::int32_t value = 0;
    if (!copier_.read(moved(ident, offset), &value, sizeof value) || value != own) continue;
    tid_offset_ = offset;
    return true;
  }
  return false;
}

// One copy has all that was there at the last look.
void PythonThreads::copy_known() {
  ranges_.clear();
  ranges_.push_back(range_of(layout_.first_interpreter, pointer));
  std::size_t bytes = pointer;
  for (const Address interpreter : interpreters_) {
    ranges_.push_back(range_of(moved(interpreter, layout_.interpreter_next), pointer));
    ranges_.push_back(range_of(moved(interpreter, layout_.interpreter_threads), pointer));
    bytes += 2 * pointer;
  }
  listed_offset_ = bytes;
  next_listed_ = 0;
  for (const Listed& listed : listed_) {
    if (bytes + state_bytes_ > MemoryCopier::most_bytes) break;
    ranges_.push_back(range_of(listed.state, state_bytes_));
    bytes += state_bytes_;
  }
  const std::size_t got = copier_.copy(ranges_.data(), ranges_.size());
  copy_.assign(copier_.bytes(), copier_.bytes() + got);
}

// Null: it is new, or many before it have ended.
const PythonThreads::Listed* PythonThreads::find_listed(Address state) {
  constexpr std::size_t farthest = 16;
  const std::size_t end = std::min(listed_.size(), next_listed_ + farthest);
  for (std::size_t i = next_listed_; i < end; ++i) {
    if (listed_[i].state != state) continue;
    next_listed_ = i + 1;
    return &listed_[i];
  }
  return nullptr;
}

const char* PythonThreads::state_at(Address address, const Listed* listed) {
  if (listed != nullptr) {
    const auto place = static_cast<std::size_t>(listed - listed_.data());
    const std::size_t offset = listed_offset_ + place * state_bytes_;
    if (offset + state_bytes_ <= copy_.size()) return copy_.data() + offset;
  }
  one_.resize(state_bytes_);
  return copier_.read(address, one_.data(), one_.size()) ? one_.data() : nullptr;
}

bool PythonThreads::next_interpreter(std::size_t number, Address interpreter, Address& next,
                                     Address& first) {
  const std::size_t at = pointer + 2 * pointer * number;
  if (number < interpreters_.size() && interpreters_[number] == interpreter &&
      copy_.size() >= at + 2 * pointer) {
    std::memcpy(&next, copy_.data() + at, pointer);
    std::memcpy(&first, copy_.data() + at + pointer, pointer);
    return true;
  }
  return copier_.read(moved(interpreter, layout_.interpreter_next), &next, pointer) &&
         copier_.read(moved(interpreter, layout_.interpreter_threads), &first, pointer);
}

bool PythonThreads::read(std::vector<PythonThread*>& found) {
  found.clear();
  ++look_;
  copy_known();
  if (copy_.size() < pointer) return false;
  auto interpreter = value_at<Address>(copy_.data(), 0);
  std::vector<Address> interpreters;
  std::vector<Listed> listed;
  listed.reserve(listed_.size());
  bool whole = true;
  while (is_plausible(interpreter) && interpreters.size() < most_interpreters) {
    Address next = 0;
    Address first = 0;
    if (!next_interpreter(interpreters.size(), interpreter, next, first)) return false;
    interpreters.push_back(interpreter);
    whole = read_threads(interpreter, first, found, listed) && whole;
    interpreter = next;
  }
  interpreters_.swap(interpreters);
  listed_.swap(listed);
  return whole;
}

bool PythonThreads::read_threads(Address interpreter, Address first,
                                 std::vector<PythonThread*>& found, std::vector<Listed>& listed) {
  Address before = 0;
  int count = 0;
  for (Address at = first; at != 0 && count < most_threads; ++count) {
    const Listed* const known = find_listed(at);
    const char* const state = is_plausible(at) ? state_at(at, known) : nullptr;
    if (state == nullptr || value_at<Address>(state, layout_.thread_interpreter) != interpreter ||
        value_at<Address>(state, layout_.thread_prev) != before) {
      return false;
    }
    const auto id = value_at<std::uint64_t>(state, layout_.thread_id);
    const auto ident = value_at<std::uint64_t>(state, layout_.thread_ident);
    const auto next = value_at<Address>(state, layout_.thread_next);
    PythonThread& thread = known != nullptr ? *known->thread : threads_[at];
    listed.push_back({at, &thread});
    if (thread.id != id || thread.ident != ident) adopt(thread, at, id, ident, state);
    if (thread.tid > 0) {
      thread.seen = look_;
      found.push_back(&thread);
    }
    before = at;
    at = next;
  }
  return true;
}

void PythonThreads::take_ended(std::vector<std::uint32_t>& numbers) {
  numbers.swap(ended_);
  ended_.clear();
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    if (thread->second.seen == look_ || thread->second.id == PythonThread::no_id) {
      ++thread;
      continue;
    }
    if (thread->second.number != 0) numbers.push_back(thread->second.number);
    thread = threads_.erase(thread);
  }
}

void PythonThreads::end_all(std::vector<std::uint32_t>& numbers) {
  numbers.swap(ended_);
  ended_.clear();
  for (const auto& [address, thread] : threads_) {
    if (thread.number != 0) numbers.push_back(thread.number);
  }
  threads_.clear();
  listed_.clear();
}

// Not bound to its thread of the operating system yet: it is looked at again.
void PythonThreads::adopt(PythonThread& thread, Address address, std::uint64_t id,
                          std::uint64_t ident, const char* state) {
  if (thread.number != 0) ended_.push_back(thread.number);
  thread = PythonThread{};
  thread.state = address;
  thread.turn = next_turn_++;
  thread.id = id;
  thread.ident = ident;
  if (layout_.thread_native_id >= 0) {
    thread.tid = static_cast<pid_t>(value_at<std::uint64_t>(state, layout_.thread_native_id));
  } else if (tid_offset_ >= 0 && is_plausible(ident)) {
    std::int32_t tid = 0;
    if (copier_.read(moved(ident, tid_offset_), &tid, sizeof tid)) thread.tid = tid;
  }
  if (thread.tid <= 0) thread.id = PythonThread::no_id;
}

}  // namespace nvspan::lines
