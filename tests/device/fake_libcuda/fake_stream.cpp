// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Streams: threads that do what is put onto them.
#include "fake.hpp"

namespace fake {

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

}  // namespace fake

using namespace fake;

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
  if (!stream->context->primary && !has_chosen_context())
    misuse("a launch behind the program's back");
  return submit(stream, kernel_work(*static_cast<std::string*>(function), arguments), false);
}
