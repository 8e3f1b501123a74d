// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/context/device_context.hpp"

#include "core/os/fork_lock.hpp"
#include "cuda/context/range_pool.hpp"
#include "cuda/model/outcome_counts.hpp"

namespace nvspan::cuda {

namespace {

struct Process {
  std::mutex mutex;
  std::map<unsigned long long, std::unique_ptr<DeviceContext>> contexts;
  std::vector<std::unique_ptr<DeviceContext>> lost;  // kept: callbacks may still name them
  std::atomic<bool> stopping{false};
  std::atomic<uint64_t> launches{0};
};

std::atomic<bool> in_child{false};  // of a fork after CUDA was used: CUDA is not usable here

void note_child() noexcept { in_child.store(true); }

Process& process() noexcept {
  static Process* const instance = new Process;
  return *instance;
}

// The primary context of a device if the process has made it active. Only its handle is
// needed: the reference that retaining takes is released at once. None under Nsight Compute, whose
// range replay refuses to retain.
ContextHandle active_primary_context(const Driver& api, DeviceOrdinal device) noexcept {
  if (annotate::tool_replays_ranges()) return nullptr;
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
    core::follow_forks<nullptr, nullptr, note_child>();
  }
  recent = {id, entry.get()};
  return entry.get();
}

}  // namespace

bool stopping() noexcept { return process().stopping.load(std::memory_order_acquire); }

bool accepting() noexcept { return !in_child.load(std::memory_order_relaxed) && !stopping(); }

void stop_accepting() noexcept { process().stopping.store(true, std::memory_order_release); }

uint64_t newest_launch() noexcept { return process().launches.load(std::memory_order_relaxed); }

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

bool enter_again(const Driver& api, DeviceContext& context, ContextScope& scope) noexcept {
  ContextHandle current = nullptr;
  if (api.cuCtxGetCurrent(&current) != success) return false;
  return current == context.handle || scope.push(api, context.handle);
}

namespace {

// Whether SideStream::ending counts the range.
bool is_ending(const DeviceRange& range) noexcept {
  const bool calls_host = range.backend == Backend::callback && range.epoch != 0;
  return calls_host && range.submit.now() != SubmitState::over;
}

}  // namespace

void drop_if_lost(DeviceContext& context) noexcept {
  if (!context.lost.load() || context.reading.exchange(true)) return;
  std::lock_guard<std::mutex> lock(context.mutex);
  context.given.take(context.waiting);
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
    lost += side->ending.exchange(0);
    side->callbacks.store(0);
    for (DeviceRange* range : pending) {
      if (!is_ending(*range)) ++lost;
      finish(range, PhaseEvent::lose);
    }
    for (const PolledCall& call : polled) finish(call.range, PhaseEvent::lose);
  }
  context.ring.clear();
  outcome_counts().add(Outcome::context_lost, lost);
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

}  // namespace nvspan::cuda
