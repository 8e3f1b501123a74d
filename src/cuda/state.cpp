// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/state.hpp"

#include <functional>
#include <new>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace nvspan::cuda {

namespace {

constexpr size_t most_side_streams = 128;  // of one context

struct Process {
  std::mutex mutex;
  std::map<unsigned long long, std::unique_ptr<DeviceContext>> contexts;
  std::vector<std::unique_ptr<DeviceContext>> lost;  // kept: callbacks may still name them
  std::atomic<bool> stopping{false};
  std::atomic<uint64_t> launches{0};
  Counters counters;
};

std::atomic<bool> in_child{false};  // of a fork after CUDA was used: CUDA is not usable here

#if !defined(_WIN32)
void after_fork_in_child() noexcept { in_child.store(true); }
#endif

Process& process() noexcept {
  static Process* const instance = new Process;
  return *instance;
}

uint64_t thread_number() noexcept {
  static std::atomic<uint64_t> last{0};
  thread_local const uint64_t number = ++last;
  return number;
}

// The primary context of a device if the process has made it active. Its handle is all we want:
// the reference that retaining takes is given back at once. None under Nsight Compute, whose range
// replay refuses to retain.
ContextHandle active_primary_context(const Driver& api, DeviceOrdinal device) noexcept {
  if (tool_replays_ranges()) return nullptr;
  unsigned flags = 0;
  int active = 0;
  ContextHandle context = nullptr;
  if (api.cuDevicePrimaryCtxGetState(device, &flags, &active) != success || !active) return nullptr;
  if (api.cuDevicePrimaryCtxRetain(&context, device) != success) return nullptr;
  api.cuDevicePrimaryCtxRelease_v2(device);
  return context;
}

DeviceContext* find_context(const Driver& api, ContextHandle handle) noexcept {
  unsigned long long id = 0;
  if (!context_id(api, handle, id)) return nullptr;
  struct Recent {
    unsigned long long id = 0;
    DeviceContext* context = nullptr;
  };
  thread_local Recent recent;
  if (recent.context && recent.id == id && !recent.context->lost.load(std::memory_order_relaxed)) {
    return recent.context;
  }
  Process& state = process();
  std::lock_guard<std::mutex> lock(state.mutex);
  std::unique_ptr<DeviceContext>& entry = state.contexts[id];
  if (entry && entry->lost.load()) state.lost.push_back(std::move(entry));
  if (!entry) {
    DeviceOrdinal device = -1;
    api.cuCtxGetDevice(&device);
    const bool primary = active_primary_context(api, device) == handle;
    entry = std::make_unique<DeviceContext>(handle, id, device, primary);
#if !defined(_WIN32)
    static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
    (void)registered;
#endif
  }
  recent = {id, entry.get()};
  return entry.get();
}

// What a partner that is being taken over belongs to.
const StreamHandle nobodys_stream = reinterpret_cast<StreamHandle>(~uintptr_t{0});

Result make_streams(const Driver& api, SideStream& made) noexcept {
  const RelaxedCapture relaxed(api);
  int lowest = 0;
  int highest = 0;
  api.cuCtxGetStreamPriorityRange(&lowest, &highest);
  const Result result = api.cuEventCreate(&made.fork, event_disable_timing);
  if (result != success) return result;
  return api.cuStreamCreateWithPriority(&made.side, stream_non_blocking, highest);
}

}  // namespace

Counters& counters() noexcept { return process().counters; }

bool stopping() noexcept { return process().stopping.load(std::memory_order_acquire); }

bool accepting() noexcept { return !in_child.load(std::memory_order_relaxed) && !stopping(); }

void stop_accepting() noexcept { process().stopping.store(true, std::memory_order_release); }

uint64_t next_launch() noexcept {
  return process().launches.fetch_add(1, std::memory_order_relaxed) + 1;
}

DeviceContext* enter_context(const Driver& api, Target target, ContextHandle current,
                             ContextScope& scope) noexcept {
  ContextHandle wanted = current;
  if (!is_default_stream(target.stream)) {
    if (api.cuStreamGetCtx(target.stream, &wanted) != success) return nullptr;
  } else if (target.device >= 0) {
    DeviceOrdinal device = -1;
    if (!current || api.cuCtxGetDevice(&device) != success || device != target.device) {
      wanted = active_primary_context(api, target.device);
    }
  } else if (!current) {
    wanted = active_primary_context(api, 0);
  }
  if (!wanted) return nullptr;
  if (wanted != current && !scope.push(api, wanted)) return nullptr;
  return find_context(api, wanted);
}

DeviceContext* current_context(const Driver& api, ContextHandle current) noexcept {
  return find_context(api, current);
}

uint64_t known_stream_id(DeviceContext& context, StreamHandle user) noexcept {
  std::lock_guard<std::mutex> lock(context.mutex);
  const auto found = context.streams.lower_bound({user, 0});
  const bool known = found != context.streams.end() && found->first.first == user;
  return known ? found->second->stream_id : reinterpret_cast<uintptr_t>(user);
}

bool enter_again(const Driver& api, DeviceContext& context, ContextScope& scope) noexcept {
  ContextHandle current = nullptr;
  if (api.cuCtxGetCurrent(&current) != success) return false;
  return current == context.handle || scope.push(api, context.handle);
}

namespace {

// Whether the stream is pinned for `user`, by which it cannot be taken over any more.
bool pin(SideStream& stream, StreamHandle user) noexcept {
  stream.pins.fetch_add(1);
  if (stream.user.load() == user) {
    stream.last_used.store(process().launches.load(std::memory_order_relaxed),
                           std::memory_order_relaxed);
    return true;
  }
  unpin(&stream);
  return false;
}

bool idle(SideStream& stream) noexcept {
  if (stream.pins.load() != 0 || stream.callbacks.load() != 0) return false;
  std::lock_guard<std::mutex> lock(stream.mutex);
  return stream.pending.empty() && stream.polled.empty();
}

// Takes the partner of the stream that had no range for longest out of the table: nobody names it
// and nothing is under way on it. Under the context's mutex.
std::unique_ptr<SideStream> take_oldest(DeviceContext& context) noexcept {
  for (;;) {
    auto oldest = context.streams.end();
    for (auto at = context.streams.begin(); at != context.streams.end(); ++at) {
      if (!at->second || !idle(*at->second)) continue;
      const bool older = oldest == context.streams.end() ||
                         at->second->last_used.load() < oldest->second->last_used.load();
      if (older) oldest = at;
    }
    if (oldest == context.streams.end()) return nullptr;
    // A thread pins before it looks whose the stream is; we change that before we look for pins.
    SideStream& stream = *oldest->second;
    const StreamHandle user = stream.user.exchange(nobodys_stream);
    if (idle(stream)) {
      std::unique_ptr<SideStream> taken = std::move(oldest->second);
      context.streams.erase(oldest);
      return taken;
    }
    stream.user.store(user);
  }
}

}  // namespace

Result side_stream(const Driver& api, DeviceContext& context, StreamHandle user,
                   SideStream*& found) noexcept {
  const uint64_t thread = is_per_thread_stream(user) ? thread_number() : 0;
  struct Recent {
    DeviceContext* context = nullptr;
    StreamHandle user = nullptr;
    SideStream* side = nullptr;
  };
  thread_local Recent recent;
  found = recent.side;
  if (found && recent.context == &context && recent.user == user && pin(*found, user)) {
    return success;
  }
  std::lock_guard<std::mutex> lock(context.mutex);
  const auto known = context.streams.find({user, thread});
  if (known != context.streams.end()) {
    found = known->second.get();
    pin(*found, user);
  } else {
    std::unique_ptr<SideStream> made;
    if (context.streams.size() >= most_side_streams) {
      made = take_oldest(context);
      if (!made) return no_room;
    } else {
      made = std::make_unique<SideStream>();
      made->context = &context;
      const Result result = make_streams(api, *made);
      if (result != success) return result;
    }
    unsigned long long stream_id = reinterpret_cast<uintptr_t>(user);
    const RelaxedCapture relaxed(api);
    if (api.cuStreamGetId) api.cuStreamGetId(user, &stream_id);
    made->stream_id = stream_id;
    made->user.store(user);
    found = made.get();
    pin(*found, user);
    context.streams[{user, thread}] = std::move(made);
  }
  recent = {&context, user, found};
  return success;
}

void drop_if_lost(DeviceContext& context) noexcept {
  if (!context.lost.load() || context.reading.exchange(true)) return;
  std::lock_guard<std::mutex> lock(context.mutex);
  uint64_t lost = context.waiting.size() + context.ring.alive();
  for (const ReadRange& read : context.waiting) release(read.range);
  context.waiting.clear();
  for (auto& [key, side] : context.streams) {
    std::deque<DeviceRange*> pending;
    std::deque<PolledCall> polled;
    {
      std::lock_guard<std::mutex> stream_lock(side->mutex);
      pending.swap(side->pending);
      polled.swap(side->polled);
      side->events.clear();
    }
    lost += pending.size() + side->callbacks.exchange(0);
    for (DeviceRange* range : pending) finish(range, Phase::lost);
    for (const PolledCall& call : polled) finish(call.range, Phase::lost);
  }
  context.ring.clear();
  counters().add(Count::context_lost, lost);
  context.reading.store(false);
}

void lose_context(DeviceContext& context) noexcept {
  if (!context.lost.exchange(true)) drop_if_lost(context);
}

std::vector<DeviceContext*> live_contexts() {
  Process& state = process();
  std::lock_guard<std::mutex> lock(state.mutex);
  std::vector<DeviceContext*> found;
  for (auto& [id, context] : state.contexts) {
    if (context && !context->lost.load()) found.push_back(context.get());
  }
  return found;
}

namespace {

// Ranges are made by one thread and let go by another: the allocator's slowest case.
struct RangePool {
  static constexpr size_t most = 1024;
  std::mutex mutex;
  std::vector<void*> free;
};

RangePool& range_pool() noexcept {
  static RangePool* const pool = [] {
    RangePool* made = new RangePool;
    made->free.reserve(RangePool::most);
    return made;
  }();
  return *pool;
}

void free_range(DeviceRange* range) noexcept {
  unpin(range->begin_stream);
  unpin(range->end_stream);
  range->~DeviceRange();
  RangePool& pool = range_pool();
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (pool.free.size() < RangePool::most) {
      pool.free.push_back(range);
      return;
    }
  }
  ::operator delete(range);
}

}  // namespace

DeviceRange* new_range() noexcept {
  RangePool& pool = range_pool();
  void* memory = nullptr;
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (!pool.free.empty()) {
      memory = pool.free.back();
      pool.free.pop_back();
    }
  }
  return new (memory ? memory : ::operator new(sizeof(DeviceRange))) DeviceRange;
}

void retain(DeviceRange* range) noexcept {
  range->references.fetch_add(1, std::memory_order_relaxed);
}

void release(DeviceRange* range) noexcept {
  if (range->references.fetch_sub(1, std::memory_order_acq_rel) == 1) free_range(range);
}

void finish(DeviceRange* range, Phase phase) noexcept {
  range->phase.store(phase, std::memory_order_release);
  release(range);
}

}  // namespace nvspan::cuda
