// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/context/side_stream.hpp"

#include <memory>

#include "cuda/context/device_context.hpp"

namespace nvspan::cuda {

namespace {

constexpr size_t most_side_streams = 128;  // of one context

uint64_t thread_number() noexcept {
  static std::atomic<uint64_t> last{0};
  thread_local const uint64_t number = ++last;
  return number;
}

// What a partner that is being taken over belongs to.
const StreamHandle nobodys_stream = reinterpret_cast<StreamHandle>(~uintptr_t{0});

Result make_streams(const Driver& api, SideStream& stream) noexcept {
  const RelaxedCapture relaxed(api);
  int lowest = 0;
  int highest = 0;
  api.cuCtxGetStreamPriorityRange(&lowest, &highest);
  const Result result = api.cuEventCreate(&stream.fork, event_disable_timing);
  if (result != success) return result;
  return api.cuStreamCreateWithPriority(&stream.side, stream_non_blocking, highest);
}

// Whether the stream is pinned for `user`, by which it cannot be taken over any more.
bool pin(SideStream& stream, StreamHandle user) noexcept {
  stream.pins.fetch_add(1);
  if (stream.user.load() == user) {
    stream.last_used.store(newest_launch(), std::memory_order_relaxed);
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
    std::unique_ptr<SideStream> stream;
    if (context.streams.size() >= most_side_streams) {
      stream = take_oldest(context);
      if (!stream) return no_room;
    } else {
      stream = std::make_unique<SideStream>();
      stream->context = &context;
      const Result result = make_streams(api, *stream);
      if (result != success) return result;
    }
    unsigned long long stream_id = reinterpret_cast<uintptr_t>(user);
    const RelaxedCapture relaxed(api);
    if (api.cuStreamGetId) api.cuStreamGetId(user, &stream_id);
    stream->stream_id = stream_id;
    stream->user.store(user);
    found = stream.get();
    pin(*found, user);
    context.streams[{user, thread}] = std::move(stream);
  }
  recent = {&context, user, found};
  return success;
}

uint64_t known_stream_id(DeviceContext& context, StreamHandle user) noexcept {
  std::lock_guard<std::mutex> lock(context.mutex);
  const auto found = context.streams.lower_bound({user, 0});
  const bool known = found != context.streams.end() && found->first.first == user;
  return known ? found->second->stream_id : reinterpret_cast<uintptr_t>(user);
}

}  // namespace nvspan::cuda
