// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A CUDA driver without a GPU, for tests: as much of libcuda as nvspan and its tests call. Streams
// are threads, events have times, kernels are C++ functions known by name.
//
// It is stricter than the driver: a handle that was destroyed is answered with an error and a line
// on stderr, where the driver may do anything.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace fake {

using Result = int;
constexpr Result success = 0;
constexpr Result invalid_value = 1;
constexpr Result not_initialized = 3;
constexpr Result invalid_context = 201;
constexpr Result invalid_handle = 400;
constexpr Result not_found = 500;
constexpr Result not_ready = 600;
constexpr Result context_is_destroyed = 709;
constexpr Result not_supported = 801;
constexpr Result capture_unsupported = 900;
constexpr Result capture_invalidated = 901;
constexpr Result capture_unjoined = 904;
constexpr Result capture_implicit = 906;
constexpr Result update_failure = 910;

using Work = std::function<void()>;

struct UserObject {
  std::atomic<int> references{1};
  void* data = nullptr;
  void (*destroy)(void*) = nullptr;
  void release(int count);
};

struct Node {
  Work work;
  bool host = false;
  std::vector<Node*> after;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<UserObject*, int> objects;
  ~Graph();
};

struct Executable {
  std::vector<std::pair<Work, std::vector<size_t>>> nodes;  // with the indices that come before
  std::map<UserObject*, int> objects;
  std::mutex running;  // launches of one executable follow each other
  ~Executable();
};

struct Capture {
  uint64_t id = 0;
  int mode = 0;
  Graph* graph = nullptr;
  bool invalid = false;
  std::set<struct Stream*> streams;
};

struct Context;

struct Stream {
  Context* context = nullptr;
  unsigned flags = 0;
  uint64_t id = 0;
  std::shared_ptr<Capture> capture;  // under the global mutex
  std::vector<Node*> tips;           // what the next captured work depends on

  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Work> queue;
  size_t unfinished = 0;
  size_t host_functions = 0;  // unfinished ones
  bool waited = false;        // for an event of another stream
  bool stop = false;
  std::thread thread;

  void start();
  void push(Work work);
  bool idle();
  void synchronize();
  void end(bool drop);
};

struct Event {
  Context* context = nullptr;
  bool timing = true;
  std::mutex mutex;
  std::condition_variable wake;
  uint64_t recorded = 0;
  uint64_t reached = 0;
  int64_t time = 0;
  std::shared_ptr<Capture> capture;
  std::vector<Node*> tips;
};

struct Context {
  int device = 0;
  uint64_t id = 0;
  bool primary = false;
  bool alive = true;
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::unique_ptr<Stream> legacy;
  std::map<std::thread::id, std::unique_ptr<Stream>> per_thread;
};

struct Device {
  Context context;  // the primary one
  int retained = 0;
};

struct State {
  std::recursive_mutex mutex;
  bool initialised = false;
  std::vector<std::unique_ptr<Device>> devices;
  std::set<Context*> contexts;
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Graph*> graphs;
  std::set<Executable*> executables;
  std::set<std::shared_ptr<Capture>> captures;
  uint64_t last_id = 0;
  std::map<std::string, std::pair<int, Result>> failures;  // calls to let through, then the result
  std::vector<Stream*> all_streams;   // never freed: their threads may be in them
  std::vector<Event*> all_events;     // likewise
  std::vector<std::string*> strings;  // modules and functions
  std::atomic<uint64_t> misuses{0};
};

State& state();
using Lock = std::lock_guard<std::recursive_mutex>;

Context* current();
bool has_chosen_context();        // the calling thread, which has not only pushed one
Stream* stream_of(void* handle);  // null: not a stream of the current context that is alive
int64_t now();                    // the GPU's clock, ns
Result misuse(const char* what);
Result prepared_failure(const char* call);
// Whether a call that another thread's capture forbids may go on; spoils the capture if not.
Result unsafe();
// A call that range replay of Nsight Compute refuses within a range of the calling thread.
void not_in_a_replay(const char* call);
// A call that ends such a range, unless it comes from the range's own thread.
void only_in_a_replay(const char* call);
Work kernel_work(const std::string& name, void** arguments);
// Puts work onto a stream, or into the graph that is captured from it.
Result submit(Stream* stream, Work work, bool host);

}  // namespace fake

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))
#define FAKE_CHECK(name) \
  if (fake::Result failure = fake::prepared_failure(#name)) return failure
