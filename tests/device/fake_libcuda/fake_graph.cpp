// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Memory, kernels, capture and graphs of the fake driver.
#include "fake.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace fake {

void UserObject::release(int count) {
  if (references.fetch_sub(count) != count) return;
  // On a thread of the driver's own, as the real one does.
  std::thread([destroy = destroy, data = data] { destroy(data); }).join();
  delete this;
}

Graph::~Graph() {
  for (auto& [object, count] : objects) object->release(count);
}

Executable::~Executable() {
  for (auto& [object, count] : objects) object->release(count);
}

namespace {

struct Slot {
  uint64_t time;
  uint64_t word;
};

template <class T>
T argument(void** arguments, int index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof value);
  return value;
}

Work stamp_work(void** arguments) {
  Slot* ring = argument<Slot*>(arguments, 0);
  uint64_t* head = argument<uint64_t*>(arguments, 1);
  const uint64_t mask = argument<uint64_t>(arguments, 2);
  const uint64_t what = argument<uint64_t>(arguments, 3);
  return [=] {
    const auto time = static_cast<uint64_t>(now());
    const uint64_t index = __atomic_fetch_add(head, 1, __ATOMIC_SEQ_CST);
    Slot& slot = ring[index & mask];
    const uint64_t word = what ^ time * 0x9E3779B97F4A7C15u ^ ((index + 1) & 0xFFFFFFFFu);
    __atomic_store_n(&slot.word, word, __ATOMIC_RELEASE);  // the halves may come in any order
    std::this_thread::yield();
    __atomic_store_n(&slot.time, time, __ATOMIC_RELEASE);
  };
}

Work ping_work(void** arguments) {
  uint64_t* answers = argument<uint64_t*>(arguments, 0);
  uint32_t* question = argument<uint32_t*>(arguments, 1);
  const uint32_t rounds = argument<uint32_t>(arguments, 2);
  const uint64_t patience = argument<uint64_t>(arguments, 3);
  return [=] {
    __atomic_store_n(answers, 1, __ATOMIC_SEQ_CST);
    for (uint32_t round = 1; round <= rounds; ++round) {
      const int64_t since = now();
      while (__atomic_load_n(question, __ATOMIC_SEQ_CST) < round) {
        if (now() - since > static_cast<int64_t>(patience)) return;
        std::this_thread::yield();
      }
      __atomic_store_n(answers + round, static_cast<uint64_t>(now()), __ATOMIC_SEQ_CST);
    }
  };
}

void run(Executable& executable) {
  std::lock_guard<std::mutex> running(executable.running);
  std::vector<size_t> left(executable.nodes.size());
  std::vector<size_t> ready;
  for (size_t i = 0; i < left.size(); ++i) {
    left[i] = executable.nodes[i].second.size();
    if (left[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const auto first = std::min_element(ready.begin(), ready.end());
    const size_t done = *first;
    ready.erase(first);
    executable.nodes[done].first();
    for (size_t i = 0; i < left.size(); ++i) {
      for (const size_t before : executable.nodes[i].second) {
        if (before == done && --left[i] == 0) ready.push_back(i);
      }
    }
  }
}

// Kernels of 100 ms and more end early when a test says so.
struct LongKernels {
  std::mutex mutex;
  std::condition_variable wake;
  bool end = false;
};

LongKernels& long_kernels() {
  static LongKernels& kernels = *new LongKernels;  // immortal: streams' threads outlive main
  return kernels;
}

}  // namespace

Work kernel_work(const std::string& name, void** arguments) {
  if (name == "nvspan_stamp") return stamp_work(arguments);
  if (name == "nvspan_ping") return ping_work(arguments);
  if (name == "nvspan_clock") {
    uint64_t* out = argument<uint64_t*>(arguments, 0);
    return [out] { __atomic_store_n(out, static_cast<uint64_t>(now()), __ATOMIC_SEQ_CST); };
  }
  // The tests' own kernel: spins for some nanoseconds.
  const uint64_t duration = argument<uint64_t>(arguments, 0);
  return [duration] {
    const std::chrono::nanoseconds time(duration);
    if (time < std::chrono::milliseconds(100)) {
      std::this_thread::sleep_for(time);
      return;
    }
    LongKernels& kernels = long_kernels();
    std::unique_lock<std::mutex> lock(kernels.mutex);
    kernels.wake.wait_for(lock, time, [&] { return kernels.end; });
  };
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT void fake_cuda_end_kernels() {
  const std::lock_guard<std::mutex> lock(long_kernels().mutex);
  long_kernels().end = true;
  long_kernels().wake.notify_all();
}

namespace {

std::string* keep(const char* text) {
  Lock lock(state().mutex);
  state().strings.push_back(new std::string(text));
  return state().strings.back();
}

}  // namespace

// --- modules and memory
// ---------------------------------------------------------------------------

FAKE_EXPORT Result cuModuleLoadData(void** module, const void* image) {
  FAKE_CHECK(cuModuleLoadData);
  if (Result refused = unsafe()) return refused;
  *module = keep(static_cast<const char*>(image));
  return current() ? success : invalid_context;
}

FAKE_EXPORT Result cuModuleGetFunction(void** function, void* module, const char* name) {
  if (static_cast<std::string*>(module)->find(name) == std::string::npos) return not_found;
  *function = keep(name);
  return success;
}

FAKE_EXPORT Result cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  FAKE_CHECK(cuMemHostAlloc);
  if (Result refused = unsafe()) return refused;
  *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  return success;
}

FAKE_EXPORT Result cuMemHostRegister_v2(void* memory, size_t, unsigned flags) {
  FAKE_CHECK(cuMemHostRegister);
  if (Result refused = unsafe()) return refused;
  if (!current()) return invalid_context;
  return memory && (flags & 2) ? success : invalid_value;
}

FAKE_EXPORT Result cuMemHostGetDevicePointer_v2(unsigned long long* device, void* memory,
                                                unsigned flags) {
  if (flags != 0) return invalid_value;
  *device = reinterpret_cast<uintptr_t>(memory);
  return success;
}

FAKE_EXPORT Result cuMemAlloc_v2(unsigned long long* memory, size_t bytes) {
  if (Result refused = unsafe()) return refused;
  *memory = reinterpret_cast<uintptr_t>(std::calloc(1, bytes));
  return success;
}

FAKE_EXPORT Result cuMemsetD8_v2(unsigned long long memory, unsigned char value, size_t bytes) {
  std::memset(reinterpret_cast<void*>(memory), value, bytes);
  return success;
}

// --- capture
// --------------------------------------------------------------------------------------

FAKE_EXPORT Result cuStreamBeginCapture_v2(void* handle, int mode) {
  Stream* stream = stream_of(handle);
  if (!stream || reinterpret_cast<uintptr_t>(handle) <= 1) return invalid_handle;
  Lock lock(state().mutex);
  auto capture = std::make_shared<Capture>();
  capture->id = ++state().last_id;
  capture->mode = mode;
  capture->graph = new Graph;
  capture->streams.insert(stream);
  state().captures.insert(capture);
  stream->capture = capture;
  stream->tips.clear();
  return success;
}

FAKE_EXPORT Result cuStreamEndCapture(void* handle, void** graph) {
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  Lock lock(state().mutex);
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture) return invalid_value;
  std::set<Node*> reached;
  const std::function<void(Node*)> reach = [&](Node* node) {
    if (!reached.insert(node).second) return;
    for (Node* before : node->after) reach(before);
  };
  for (Node* node : stream->tips) reach(node);
  bool joined = true;
  for (Stream* other : capture->streams) {
    for (Node* node : other->tips) joined = joined && (other == stream || reached.count(node));
    if (other != stream && other->tips.empty()) joined = false;
    other->capture.reset();
    other->tips.clear();
  }
  state().captures.erase(capture);
  Graph* made = capture->graph;
  capture->graph = nullptr;
  *graph = nullptr;
  if (capture->invalid || !joined) {
    delete made;
    return capture->invalid ? capture_invalidated : capture_unjoined;
  }
  state().graphs.insert(made);
  *graph = made;
  return success;
}

namespace {

// Under the lock.
Result capture_status(void* handle, const Stream& stream, int* status) {
  *status = 0;
  if (reinterpret_cast<uintptr_t>(handle) <= 1) {
    for (const auto& capture : state().captures) {
      for (const Stream* other : capture->streams) {
        if (other->context == stream.context && !(other->flags & 1)) return capture_implicit;
      }
    }
  }
  if (stream.capture) *status = stream.capture->invalid ? 2 : 1;
  return success;
}

}  // namespace

FAKE_EXPORT Result cuStreamIsCapturing(void* handle, int* status) {
  FAKE_CHECK(cuStreamIsCapturing);
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  Lock lock(state().mutex);
  return capture_status(handle, *stream, status);
}

FAKE_EXPORT Result cuStreamGetCaptureInfo_v3(void* handle, int* status, unsigned long long* id,
                                             void** graph, void* const** nodes, const void** edges,
                                             size_t* count) {
  FAKE_CHECK(cuStreamGetCaptureInfo);
  not_in_a_replay("cuStreamGetCaptureInfo_v3");
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  Lock lock(state().mutex);
  *count = 0;
  if (edges) *edges = nullptr;
  const Result result = capture_status(handle, *stream, status);
  if (result != success || !stream->capture) return result;
  *id = stream->capture->id;
  *graph = stream->capture->graph;
  *nodes = reinterpret_cast<void* const*>(stream->tips.data());
  *count = stream->tips.size();
  return success;
}

FAKE_EXPORT Result cuStreamUpdateCaptureDependencies(void* handle, void** nodes, size_t count,
                                                     unsigned flags) {
  Stream* stream = stream_of(handle);
  if (!stream || !stream->capture) return invalid_handle;
  Lock lock(state().mutex);
  if (flags == 1) stream->tips.clear();
  for (size_t i = 0; i < count; ++i) stream->tips.push_back(static_cast<Node*>(nodes[i]));
  return success;
}

// --- graphs
// ---------------------------------------------------------------------------------------

namespace {

Result add_node(void** made, void* graph_handle, void* const* after, size_t count, Work work,
                bool host) {
  Lock lock(state().mutex);
  Graph* graph = static_cast<Graph*>(graph_handle);
  auto node = std::make_unique<Node>();
  node->work = std::move(work);
  node->host = host;
  for (size_t i = 0; i < count; ++i) {
    Node* before = static_cast<Node*>(after[i]);
    for (const Node* other : node->after) {
      if (other == before) return invalid_value;  // an edge given twice
    }
    node->after.push_back(before);
  }
  *made = node.get();
  graph->nodes.push_back(std::move(node));
  return success;
}

}  // namespace

FAKE_EXPORT Result cuGraphAddHostNode(void** node, void* graph, void* const* after, size_t count,
                                      const void* parameters) {
  FAKE_CHECK(cuGraphAddHostNode);
  struct Parameters {
    void (*function)(void*);
    void* data;
  };
  const Parameters own = *static_cast<const Parameters*>(parameters);
  return add_node(node, graph, after, count, [own] { own.function(own.data); }, true);
}

FAKE_EXPORT Result cuGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                                        const void* parameters) {
  FAKE_CHECK(cuGraphAddKernelNode);
  struct Parameters {
    std::string* function;
    unsigned sizes[7];
    void** arguments;
  };
  const Parameters& own = *static_cast<const Parameters*>(parameters);
  return add_node(node, graph, after, count, kernel_work(*own.function, own.arguments), false);
}

FAKE_EXPORT Result cuUserObjectCreate(void** object, void* data, void (*destroy)(void*),
                                      unsigned count, unsigned flags) {
  FAKE_CHECK(cuUserObjectCreate);
  if (flags != 1) return invalid_value;
  UserObject* made = new UserObject;
  made->references = static_cast<int>(count);
  made->data = data;
  made->destroy = destroy;
  *object = made;
  return success;
}

FAKE_EXPORT Result cuUserObjectRelease(void* object, unsigned count) {
  static_cast<UserObject*>(object)->release(static_cast<int>(count));
  return success;
}

FAKE_EXPORT Result cuGraphRetainUserObject(void* graph, void* object, unsigned count,
                                           unsigned flags) {
  FAKE_CHECK(cuGraphRetainUserObject);
  Lock lock(state().mutex);
  UserObject* own = static_cast<UserObject*>(object);
  if (!(flags & 1)) own->references += static_cast<int>(count);
  static_cast<Graph*>(graph)->objects[own] += static_cast<int>(count);
  return success;
}

namespace {

// An executable of the graph as it is now. Under the global mutex.
Executable* instantiate(const Graph& graph) {
  Executable* made = new Executable;
  std::map<const Node*, size_t> index;
  for (const auto& node : graph.nodes) index.emplace(node.get(), index.size());
  for (const auto& node : graph.nodes) {
    std::vector<size_t> before;
    for (const Node* other : node->after) before.push_back(index.at(other));
    made->nodes.emplace_back(node->work, before);
  }
  for (const auto& [object, count] : graph.objects) object->references += count;
  made->objects = graph.objects;
  state().executables.insert(made);
  return made;
}

bool has_host_node(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const auto& node) { return node->host; });
}

}  // namespace

FAKE_EXPORT Result cuGraphInstantiateWithFlags(void** executable, void* handle,
                                               unsigned long long flags) {
  constexpr unsigned long long device_launch = 4;
  Lock lock(state().mutex);
  Graph* graph = static_cast<Graph*>(handle);
  if (!state().graphs.count(graph)) return misuse("cuGraphInstantiate");
  if ((flags & device_launch) && has_host_node(*graph)) return not_supported;
  *executable = new std::shared_ptr<Executable>(instantiate(*graph));
  return success;
}

// The replays that were launched before have the old contents, those to come the new ones.
FAKE_EXPORT Result cuGraphExecUpdate_v2(void* executable, void* handle, void*) {
  auto& own = *static_cast<std::shared_ptr<Executable>*>(executable);
  Lock lock(state().mutex);
  Graph* graph = static_cast<Graph*>(handle);
  if (!state().graphs.count(graph)) return misuse("cuGraphExecUpdate");
  if (graph->nodes.size() != own->nodes.size()) return update_failure;
  own.reset(instantiate(*graph));
  return success;
}

FAKE_EXPORT Result cuGraphClone(void** clone, void* handle) {
  Lock lock(state().mutex);
  Graph* graph = static_cast<Graph*>(handle);
  if (!state().graphs.count(graph)) return misuse("cuGraphClone");
  Graph* made = new Graph;
  std::map<const Node*, Node*> copies;
  for (const auto& node : graph->nodes) {
    made->nodes.push_back(std::make_unique<Node>(*node));
    copies[node.get()] = made->nodes.back().get();
  }
  for (const auto& node : made->nodes) {
    for (Node*& before : node->after) before = copies.at(before);
  }
  made->objects = graph->objects;
  for (const auto& [object, count] : made->objects) object->references += count;
  state().graphs.insert(made);
  *clone = made;
  return success;
}

FAKE_EXPORT Result cuGraphLaunch(void* executable, void* handle) {
  Stream* stream = stream_of(handle);
  if (!stream) return invalid_handle;
  // The launch holds the executable: it may be destroyed while it runs.
  auto own = *static_cast<std::shared_ptr<Executable>*>(executable);
  stream->push([own] { run(*own); });
  return success;
}

FAKE_EXPORT Result cuGraphExecDestroy(void* executable) {
  delete static_cast<std::shared_ptr<Executable>*>(executable);
  return success;
}

FAKE_EXPORT Result cuGraphDestroy(void* handle) {
  Graph* graph = static_cast<Graph*>(handle);
  {
    Lock lock(state().mutex);
    if (!state().graphs.erase(graph)) return misuse("cuGraphDestroy");
  }
  delete graph;
  return success;
}
