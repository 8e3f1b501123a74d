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

// The id is unique for the life of the process, the handle is not: a reset primary context keeps
// it.
bool context_id(const Driver& api, ContextHandle context, unsigned long long& id) noexcept {
  if (api.cuCtxGetId) return api.cuCtxGetId(context, &id) == success;
  id = reinterpret_cast<uintptr_t>(context);
  return true;
}

// The primary context of a device if the process has made it active. Its handle is all we want:
// the reference that retaining takes is given back at once.
ContextHandle active_primary_context(const Driver& api, DeviceOrdinal device) noexcept {
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
    entry = std::make_unique<DeviceContext>(handle, id, device);
#if !defined(_WIN32)
    static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
    (void)registered;
#endif
  }
  recent = {id, entry.get()};
  return entry.get();
}

bool make_streams(const Driver& api, SideStream& made) noexcept {
  const RelaxedCapture relaxed(api);
  int lowest = 0;
  int highest = 0;
  api.cuCtxGetStreamPriorityRange(&lowest, &highest);
  return api.cuEventCreate(&made.fork, event_disable_timing) == success &&
         api.cuStreamCreateWithPriority(&made.side, stream_non_blocking, highest) == success;
}

}  // namespace

Counters& counters() noexcept { return process().counters; }

bool stopping() noexcept { return process().stopping.load(std::memory_order_acquire); }

bool accepting() noexcept { return !in_child.load(std::memory_order_relaxed) && !stopping(); }

void stop_accepting() noexcept { process().stopping.store(true, std::memory_order_release); }

uint64_t next_launch() noexcept {
  return process().launches.fetch_add(1, std::memory_order_relaxed) + 1;
}

DeviceContext* enter_context(const Driver& api, Target target, ContextScope& scope) noexcept {
  ContextHandle current = nullptr;
  if (api.cuCtxGetCurrent(&current) != success) return nullptr;
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

bool still_there(const Driver& api, const DeviceContext& context) noexcept {
  unsigned long long id = 0;
  return context_id(api, context.handle, id) && id == context.id;
}

bool enter_again(const Driver& api, DeviceContext& context, ContextScope& scope) noexcept {
  ContextHandle current = nullptr;
  if (api.cuCtxGetCurrent(&current) != success) return false;
  return current == context.handle || scope.push(api, context.handle);
}

SideStream* side_stream(const Driver& api, DeviceContext& context, StreamHandle user) noexcept {
  const uint64_t thread = is_per_thread_stream(user) ? thread_number() : 0;
  struct Recent {
    DeviceContext* context = nullptr;
    StreamHandle user = nullptr;
    SideStream* side = nullptr;
  };
  thread_local Recent recent;
  if (recent.side && recent.context == &context && recent.user == user) return recent.side;
  std::lock_guard<std::mutex> lock(context.mutex);
  std::unique_ptr<SideStream>& entry = context.streams[{user, thread}];
  if (!entry) {
    if (context.streams.size() > most_side_streams) {
      context.streams.erase({user, thread});
      return nullptr;
    }
    auto made = std::make_unique<SideStream>();
    made->context = &context;
    made->user = user;
    if (!make_streams(api, *made)) {
      context.streams.erase({user, thread});
      return nullptr;
    }
    unsigned long long stream_id = reinterpret_cast<uintptr_t>(user);
    const RelaxedCapture relaxed(api);
    if (api.cuStreamGetId) api.cuStreamGetId(user, &stream_id);
    made->stream_id = stream_id;
    entry = std::move(made);
  }
  recent = {&context, user, entry.get()};
  return entry.get();
}

void lose_context(DeviceContext& context) noexcept {
  if (context.lost.exchange(true)) return;
  std::lock_guard<std::mutex> lock(context.mutex);
  uint64_t lost = 0;
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
  lost += context.ring.alive();
  context.ring.clear();
  counters().add(Count::context_lost, lost);
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
