// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "fake.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fake {

namespace {
thread_local std::vector<Context*> stack;
thread_local int capture_mode = 0;        // global
thread_local bool chose_context = false;  // not only pushed one: the program's own thread
constexpr int64_t epoch_ns = 1'700'000'000'000'000'000;
}  // namespace

State& state() {
  static State* const instance = [] {
    State* made = new State;  // immortal: streams' threads outlive main
    const char* count = std::getenv("FAKE_CUDA_DEVICES");
    for (int i = 0; i < (count ? std::atoi(count) : 2); ++i) {
      made->devices.push_back(std::make_unique<Device>());
      made->devices.back()->context.device = i;
      made->devices.back()->context.primary = true;
      made->devices.back()->context.alive = false;
    }
    return made;
  }();
  return *instance;
}

int64_t now() {
  return epoch_ns + std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::steady_clock::now().time_since_epoch())
                        .count();
}

Result misuse(const char* what) {
  ++state().misuses;
  std::fprintf(stderr, "fake libcuda: misuse: %s\n", what);
  return invalid_handle;
}

Result prepared_failure(const char* call) {
  Lock lock(state().mutex);
  const auto found = state().failures.find(call);
  if (found == state().failures.end()) return success;
  if (found->second.first-- > 0) return success;
  const Result result = found->second.second;
  state().failures.erase(found);
  return result;
}

Result unsafe() {
  if (capture_mode == 2) return success;
  Lock lock(state().mutex);
  Result result = success;
  for (const auto& capture : state().captures) {
    if (capture->mode == 0) {
      capture->invalid = true;
      result = capture_unsupported;
    }
  }
  return result;
}

Context* current() {
  Lock lock(state().mutex);
  return stack.empty() ? nullptr : stack.back();
}

void Stream::start() {
  {
    Lock lock(state().mutex);
    state().all_streams.push_back(this);
  }
  thread = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return stop || !queue.empty(); });
      if (queue.empty()) return;
      Work work = std::move(queue.front());
      queue.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
      --unfinished;
      wake.notify_all();
    }
  });
}

void Stream::push(Work work) {
  std::lock_guard<std::mutex> lock(mutex);
  ++unfinished;
  queue.push_back(std::move(work));
  wake.notify_all();
}

bool Stream::idle() {
  std::lock_guard<std::mutex> lock(mutex);
  return unfinished == 0;
}

void Stream::synchronize() {
  std::unique_lock<std::mutex> lock(mutex);
  wake.wait(lock, [this] { return unfinished == 0; });
}

void Stream::end(bool drop) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (drop) {
      unfinished -= queue.size();
      queue.clear();
    }
    stop = true;
    wake.notify_all();
  }
  thread.detach();  // what runs comes to its end by itself; the stream is never freed
}

Stream* stream_of(void* handle) {
  Lock lock(state().mutex);
  const auto number = reinterpret_cast<uintptr_t>(handle);
  Context* context = current();
  if (number > 2) {
    Stream* stream = static_cast<Stream*>(handle);
    if (state().streams.count(stream)) return stream;
    misuse("a stream that does not exist");
    return nullptr;
  }
  if (!context || !context->alive) return nullptr;
  std::unique_ptr<Stream>& slot =
      number == 2 ? context->per_thread[std::this_thread::get_id()] : context->legacy;
  if (!slot) {
    slot = std::make_unique<Stream>();
    slot->context = context;
    slot->id = ++state().last_id;
    slot->start();
  }
  return slot.get();
}

Result submit(Stream* stream, Work work, bool host) {
  std::unique_lock<std::recursive_mutex> lock(state().mutex);
  if (!stream->capture) {
    lock.unlock();
    stream->push(std::move(work));
    return success;
  }
  if (stream->capture->invalid) return capture_invalidated;
  auto node = std::make_unique<Node>();
  node->work = std::move(work);
  node->host = host;
  node->after = stream->tips;
  stream->tips = {node.get()};
  stream->capture->graph->nodes.push_back(std::move(node));
  return success;
}

namespace {

void destroy_contents(Context& context) {
  State& all = state();
  for (Stream* stream : context.streams) {
    all.streams.erase(stream);
    stream->end(true);
  }
  for (Event* event : context.events) all.events.erase(event);
  if (context.legacy) context.legacy.release()->end(true);
  for (auto& [thread, stream] : context.per_thread) stream.release()->end(true);
  context.streams.clear();
  context.events.clear();
  context.per_thread.clear();
}

bool usable(Context* context) { return state().contexts.count(context) != 0 && context->alive; }

}  // namespace

}  // namespace fake

using namespace fake;

// --- for tests
// ------------------------------------------------------------------------------------

FAKE_EXPORT void fake_cuda_fail(const char* call, int after, int result) {
  Lock lock(state().mutex);
  state().failures[call] = {after, result};
}

FAKE_EXPORT unsigned long long fake_cuda_misuses() { return state().misuses.load(); }

// --- the process and its devices
// ------------------------------------------------------------------

FAKE_EXPORT Result cuInit(unsigned) {
  Lock lock(state().mutex);
  state().initialised = true;
  return success;
}

FAKE_EXPORT Result cuDriverGetVersion(int* version) {
  *version = 13000;
  return success;
}

FAKE_EXPORT Result cuGetErrorName(Result, const char** name) {
  *name = "CUDA_ERROR_FAKE";
  return success;
}

FAKE_EXPORT Result cuDeviceGetCount(int* count) {
  Lock lock(state().mutex);
  if (!state().initialised) return not_initialized;
  *count = static_cast<int>(state().devices.size());
  return success;
}

FAKE_EXPORT Result cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return state().initialised ? success : not_initialized;
}

FAKE_EXPORT Result cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  Lock lock(state().mutex);
  if (!state().initialised) return not_initialized;
  *flags = 0;
  *active = state().devices[static_cast<size_t>(device)]->context.alive;
  return success;
}

FAKE_EXPORT Result cuDevicePrimaryCtxRetain(void** context, int device) {
  not_in_a_replay("cuDevicePrimaryCtxRetain");
  Lock lock(state().mutex);
  Device& own = *state().devices[static_cast<size_t>(device)];
  ++own.retained;
  if (!own.context.alive) {
    own.context.alive = true;
    own.context.id = ++state().last_id;
    state().contexts.insert(&own.context);
  }
  *context = &own.context;
  return success;
}

FAKE_EXPORT Result cuDevicePrimaryCtxReset_v2(int device) {
  Lock lock(state().mutex);
  Device& own = *state().devices[static_cast<size_t>(device)];
  destroy_contents(own.context);
  own.context.alive = false;
  return success;
}

FAKE_EXPORT Result cuDevicePrimaryCtxRelease_v2(int device) {
  Lock lock(state().mutex);
  Device& own = *state().devices[static_cast<size_t>(device)];
  if (own.retained <= 0) return invalid_context;
  if (--own.retained == 0) return cuDevicePrimaryCtxReset_v2(device);
  return success;
}

// --- contexts
// -------------------------------------------------------------------------------------

FAKE_EXPORT Result cuCtxCreate_v2(void** context, unsigned, int device) {
  Lock lock(state().mutex);
  Context* made = new Context;
  made->device = device;
  made->id = ++state().last_id;
  state().contexts.insert(made);
  stack.push_back(made);
  chose_context = true;
  *context = made;
  return success;
}

FAKE_EXPORT Result cuCtxDestroy_v2(void* context) {
  Lock lock(state().mutex);
  Context* own = static_cast<Context*>(context);
  if (!usable(own)) return invalid_context;
  destroy_contents(*own);
  own->alive = false;
  if (!stack.empty() && stack.back() == own) stack.pop_back();
  return success;
}

FAKE_EXPORT Result cuCtxGetCurrent(void** context) {
  if (!state().initialised) return not_initialized;
  *context = current();
  return success;
}

FAKE_EXPORT Result cuCtxSetCurrent(void* context) {
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(static_cast<Context*>(context));
  chose_context = chose_context || context;
  return success;
}

FAKE_EXPORT Result cuCtxPushCurrent_v2(void* context) {
  FAKE_CHECK(cuCtxPushCurrent);
  Lock lock(state().mutex);  // a destroyed context is taken without a word, as by the driver
  if (!state().contexts.count(static_cast<Context*>(context))) return invalid_context;
  stack.push_back(static_cast<Context*>(context));
  return success;
}

FAKE_EXPORT Result cuCtxPopCurrent_v2(void** context) {
  if (stack.empty()) return invalid_context;
  *context = stack.back();
  stack.pop_back();
  return success;
}

FAKE_EXPORT Result cuCtxGetDevice(int* device) {
  Context* context = current();
  if (!context) return invalid_context;
  *device = context->device;
  return success;
}

FAKE_EXPORT Result cuCtxGetId(void* context, unsigned long long* id) {
  only_in_a_replay("cuCtxGetId");
  Lock lock(state().mutex);
  if (!usable(static_cast<Context*>(context))) return context_is_destroyed;
  *id = static_cast<Context*>(context)->id;
  return success;
}

FAKE_EXPORT Result cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -5;
  return success;
}

FAKE_EXPORT Result cuCtxSynchronize() {
  Context* context = current();
  if (!context) return invalid_context;
  std::vector<Stream*> streams;
  {
    Lock lock(state().mutex);
    streams.assign(context->streams.begin(), context->streams.end());
    if (context->legacy) streams.push_back(context->legacy.get());
    for (auto& [thread, stream] : context->per_thread) streams.push_back(stream.get());
  }
  for (Stream* stream : streams) stream->synchronize();
  return success;
}

FAKE_EXPORT Result cuThreadExchangeStreamCaptureMode(int* mode) {
  not_in_a_replay("cuThreadExchangeStreamCaptureMode");
  std::swap(*mode, capture_mode);
  return success;
}

// --- streams
// --------------------------------------------------------------------------------------

FAKE_EXPORT Result cuStreamCreateWithPriority(void** stream, unsigned flags, int) {
  FAKE_CHECK(cuStreamCreate);
  if (Result refused = unsafe()) return refused;
  Lock lock(state().mutex);
  Context* context = current();
  if (!context || !context->alive) return invalid_context;
  Stream* made = new Stream;
  made->context = context;
  made->flags = flags;
  made->id = ++state().last_id;
  made->start();
  context->streams.insert(made);
  state().streams.insert(made);
  *stream = made;
  return success;
}

FAKE_EXPORT Result cuStreamCreate(void** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

FAKE_EXPORT Result cuStreamDestroy_v2(void* handle) {
  Lock lock(state().mutex);
  Stream* stream = static_cast<Stream*>(handle);
  if (!state().streams.erase(stream)) return misuse("cuStreamDestroy");
  stream->context->streams.erase(stream);
  stream->end(false);
  return success;
}

FAKE_EXPORT Result cuStreamGetCtx(void* handle, void** context) {
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  *context = stream->context;
  return success;
}

FAKE_EXPORT Result cuStreamGetId(void* handle, unsigned long long* id) {
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  Lock lock(state().mutex);
  if (stream->capture) {  // no question for a stream that captures, as the driver has it
    stream->capture->invalid = true;
    return capture_unsupported;
  }
  *id = stream->id;
  return success;
}

FAKE_EXPORT Result cuStreamQuery(void* handle) {
  only_in_a_replay("cuStreamQuery");
  if (Result refused = unsafe()) return refused;
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  return stream->idle() ? success : not_ready;
}

FAKE_EXPORT Result cuStreamSynchronize(void* handle) {
  FAKE_CHECK(cuStreamSynchronize);
  only_in_a_replay("cuStreamSynchronize");
  if (Result refused = unsafe()) return refused;
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  {
    Lock lock(state().mutex);
    if (stream->capture) {
      stream->capture->invalid = true;
      return capture_unsupported;
    }
  }
  stream->synchronize();
  return success;
}

FAKE_EXPORT Result cuLaunchHostFunc(void* handle, void (*function)(void*), void* data) {
  FAKE_CHECK(cuLaunchHostFunc);
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  bool captures = false;
  {
    Lock lock(state().mutex);
    captures = stream->capture != nullptr;
  }
  if (captures) return submit(stream, [function, data] { function(data); }, true);
  {
    // So many fit into a stream that waits for another one; then the launch waits for the GPU.
    std::unique_lock<std::mutex> lock(stream->mutex);
    stream->wake.wait(lock, [&] { return !stream->waited || stream->host_functions < 56; });
    ++stream->host_functions;
  }
  stream->push([stream, function, data] {
    function(data);
    std::lock_guard<std::mutex> lock(stream->mutex);
    --stream->host_functions;
    stream->wake.notify_all();
  });
  return success;
}

FAKE_EXPORT Result cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, void* handle, void** arguments, void**) {
  FAKE_CHECK(cuLaunchKernel);
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  // The driver breaks when the program destroys the context at that moment: 719 from then on.
  if (!stream->context->primary && !chose_context) misuse("a launch behind the program's back");
  return submit(stream, kernel_work(*static_cast<std::string*>(function), arguments), false);
}

// --- events
// ---------------------------------------------------------------------------------------

FAKE_EXPORT Result cuEventCreate(void** event, unsigned flags) {
  FAKE_CHECK(cuEventCreate);
  Lock lock(state().mutex);
  Context* context = current();
  if (!context || !context->alive) return invalid_context;
  Event* made = new Event;
  made->context = context;
  made->timing = (flags & 2) == 0;
  context->events.insert(made);
  state().all_events.push_back(made);
  state().events.insert(made);
  *event = made;
  return success;
}

namespace {

Event* event_of(void* handle) {
  Lock lock(state().mutex);
  Event* event = static_cast<Event*>(handle);
  if (state().events.count(event)) return event;
  misuse("an event that does not exist");
  return nullptr;
}

}  // namespace

FAKE_EXPORT Result cuEventRecord(void* handle, void* stream_handle) {
  FAKE_CHECK(cuEventRecord);
  Stream* stream = stream_of(stream_handle);
  Event* event = event_of(handle);
  if (!stream || !event || stream->context != event->context) return invalid_handle;
  {
    Lock lock(state().mutex);
    event->capture = stream->capture;
    if (stream->capture) {
      event->tips = stream->tips;
      return success;
    }
  }
  uint64_t generation = 0;
  {
    std::lock_guard<std::mutex> lock(event->mutex);
    generation = ++event->recorded;
  }
  stream->push([event, generation] {
    std::lock_guard<std::mutex> lock(event->mutex);
    event->reached = generation;
    event->time = now();
    event->wake.notify_all();
  });
  return success;
}

FAKE_EXPORT Result cuStreamWaitEvent(void* stream_handle, void* handle, unsigned) {
  FAKE_CHECK(cuStreamWaitEvent);
  Stream* stream = stream_of(stream_handle);
  Event* event = event_of(handle);
  if (!stream || !event) return invalid_handle;
  {
    Lock lock(state().mutex);
    if (event->capture && event->capture->graph) {  // the stream is drawn into the capture
      stream->capture = event->capture;
      event->capture->streams.insert(stream);
      for (Node* node : event->tips) stream->tips.push_back(node);
      return success;
    }
  }
  uint64_t generation = 0;
  {
    std::lock_guard<std::mutex> lock(event->mutex);
    generation = event->recorded;
  }
  {
    std::lock_guard<std::mutex> lock(stream->mutex);
    stream->waited = true;
  }
  stream->push([event, generation] {
    std::unique_lock<std::mutex> lock(event->mutex);
    while (event->reached < generation) event->wake.wait(lock);
  });
  return success;
}

FAKE_EXPORT Result cuEventQuery(void* handle) {
  not_in_a_replay("cuEventQuery");
  if (Result refused = unsafe()) return refused;
  Event* event = event_of(handle);
  if (!event) return invalid_handle;
  std::lock_guard<std::mutex> lock(event->mutex);
  return event->reached == event->recorded ? success : not_ready;
}

FAKE_EXPORT Result cuEventElapsedTime(float* ms, void* first_handle, void* second_handle) {
  Event* first = event_of(first_handle);
  Event* second = event_of(second_handle);
  if (!first || !second || !first->timing || !second->timing) return invalid_handle;
  if (first->context != second->context) return invalid_handle;
  int64_t times[2];
  int at = 0;
  for (Event* event : {first, second}) {
    std::lock_guard<std::mutex> lock(event->mutex);
    if (event->recorded == 0) return misuse("an event that was never recorded");
    if (event->reached != event->recorded) return not_ready;
    times[at++] = event->time;
  }
  *ms = static_cast<float>(static_cast<double>(times[1] - times[0]) / 1e6);
  return success;
}
