// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a test says that the GPU does, and asks of the fake CUPTI.

#include "state.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace fake_cupti;

EXPORT const char* fake_log() {
  static std::string* const copy = new std::string;
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  *copy = self.log;
  return copy->c_str();
}
// As after cuptiFinalize, which some profilers call.
EXPORT void fake_begin_afresh() {
  const std::lock_guard<std::mutex> lock(fake().mutex);
  fake().clock = nullptr;
  fake().subscriber = 0;
  fake().callback = nullptr;
  fake().callbacks.clear();
  fake().domains.clear();
  fake().kinds.clear();
  fake().pending.clear();
}
EXPORT void fake_refuse(CuptiResult result) { fake().next_subscribe = result; }
EXPORT void fake_drop(std::size_t records) {
  const std::lock_guard<std::mutex> lock(fake().mutex);
  fake().dropped += records;
}
EXPORT void fake_version(std::uint32_t version) { fake().version = version; }
// Requests so many buffers and keeps them, as CUPTI does for threads that launch work. Returns how
// many bytes they have; 0: there was none for one of them.
EXPORT std::size_t fake_request(std::size_t buffers) {
  std::vector<Buffer> taken;
  taken.reserve(buffers);
  {
    const std::lock_guard<std::mutex> lock(fake().mutex);
    fake().kept.reserve(fake().kept.size() + buffers);
  }
  std::size_t bytes = 0;
  bool all = true;
  for (std::size_t i = 0; i < buffers; ++i) {
    const Buffer buffer = request_buffer();
    bytes += buffer.size;
    if (buffer.begin != nullptr) taken.push_back(buffer);
    all = all && buffer.begin != nullptr;
  }
  const std::lock_guard<std::mutex> lock(fake().mutex);
  fake().kept.insert(fake().kept.end(), taken.begin(), taken.end());
  return all ? bytes : 0;
}
// Writes to all that is kept: it is CUPTI's until it was handed back.
EXPORT void fake_scribble() {
  const std::lock_guard<std::mutex> lock(fake().mutex);
  for (const Buffer& buffer : fake().kept) std::memset(buffer.begin, 0x5A, buffer.size);
}
// Hands back all that is kept, empty.
EXPORT void fake_hand_back() {
  std::vector<Buffer> kept;
  BufferCompleted completed = nullptr;
  {
    const std::lock_guard<std::mutex> lock(fake().mutex);
    kept.swap(fake().kept);
    completed = fake().completed;
  }
  for (const Buffer& buffer : kept) completed(nullptr, 0, buffer.begin, buffer.size, 0);
}
EXPORT void fake_fill(std::size_t records) { fake().most_in_buffer = records; }
EXPORT std::size_t fake_callbacks() { return fake().callbacks.size(); }
// 0: nobody has given a clock.
EXPORT std::uint64_t fake_now() {
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  return self.clock == nullptr ? 0 : self.clock();
}

// A call of the runtime (id), and within it one of the driver (inner_id; 0: none), with the same
// correlation number, or each with its own. Returns the inner one's.
EXPORT std::uint32_t fake_call(std::uint32_t id, std::uint32_t inner_id, const char* kernel,
                               int own_numbers) {
  Fake& self = fake();
  std::uint32_t outer = 0, inner = 0;
  {
    const std::lock_guard<std::mutex> lock(self.mutex);
    outer = inner = ++self.correlation;
    if (own_numbers != 0) inner = ++self.correlation;
  }
  if (id != 0) call_back(CuptiDomain::runtime, id, CuptiSite::enter, kernel, outer);
  if (inner_id != 0) {
    call_back(CuptiDomain::driver, inner_id, CuptiSite::enter, kernel, inner);
    call_back(CuptiDomain::driver, inner_id, CuptiSite::exit, kernel, inner);
  }
  if (id != 0) call_back(CuptiDomain::runtime, id, CuptiSite::exit, kernel, outer);
  return inner;
}

EXPORT void fake_kernel(const char* name, std::uint64_t start, std::uint64_t end,
                        std::uint32_t correlation, std::uint32_t device, std::uint32_t context,
                        std::uint32_t stream) {
  LongKernel record = {};
  static_cast<KernelRecord&>(record) = fake().shape;
  record.graph_node = node_of_work();
  record.kind = ActivityKind::concurrent_kernel;
  record.start = start;
  record.end = end;
  record.correlation = correlation;
  record.device = device;
  record.context = context;
  record.stream = stream;
  {
    Fake& self = fake();
    const std::lock_guard<std::mutex> lock(self.mutex);
    record.name = name == nullptr ? nullptr : self.names.insert(name).first->c_str();
  }
  add(record);
}
EXPORT void fake_shape(const std::int32_t* grid, const std::int32_t* block, unsigned registers,
                       std::int32_t static_shared, std::int32_t dynamic_shared) {
  KernelRecord& shape = fake().shape;
  std::copy(grid, grid + 3, shape.grid);
  std::copy(block, block + 3, shape.block);
  shape.registers_per_thread = static_cast<std::uint16_t>(registers);
  shape.static_shared_memory = static_shared;
  shape.dynamic_shared_memory = dynamic_shared;
}
// Kernels of one name, each launched by the runtime and run at once.
EXPORT void fake_launches(const char* name, std::size_t count, std::uint64_t ticks) {
  constexpr std::uint32_t cuda_launch_kernel = 211, cu_launch_kernel = 307;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t number = fake_call(cuda_launch_kernel, cu_launch_kernel, name, 0);
    const std::uint64_t start = fake_now();
    fake_kernel(name, start, start + ticks, number, 0, 1, 7);
  }
}
// A capture begins, or ends, by a call of the driver.
EXPORT void fake_capture(int begins) {
  constexpr std::uint32_t begin_capture = 539, end_capture = 497;
  const std::uint32_t id = begins != 0 ? begin_capture : end_capture;
  call_back(CuptiDomain::driver, id, CuptiSite::enter, nullptr, 0);
  call_back(CuptiDomain::driver, id, CuptiSite::exit, nullptr, 0);
}
// Made by a call of this thread, or, where there is an original one, cloned from it.
EXPORT void fake_node(std::uint64_t node, std::uint64_t original) {
  call_back_resource(original == 0 ? graph_node_created : graph_node_cloned, node, original);
}
EXPORT void fake_destroy_node(std::uint64_t node) {
  call_back_resource(graph_node_destroyed, node, 0);
}
// Of all work that this thread makes up from now on; 0: it is of no graph.
EXPORT void fake_of_node(std::uint64_t node) { node_of_work() = node; }
// A replay of a graph, of so many kernels that follow each other.
EXPORT void fake_replay(const char* name, std::size_t count, std::uint64_t ticks) {
  constexpr std::uint32_t cuda_graph_launch = 311, cu_graph_launch = 514;
  const std::uint32_t number = fake_call(cuda_graph_launch, cu_graph_launch, nullptr, 0);
  std::uint64_t start = fake_now();
  for (std::size_t i = 0; i < count; ++i, start += ticks) {
    fake_kernel(name, start, start + ticks, number, 0, 1, 7);
  }
}
// The modules of all kernels are unloaded, and their names with them.
EXPORT void fake_unload() {
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  for (const std::string& name : self.names) {
    std::memset(const_cast<char*>(name.data()), '?', name.size());
  }
}

namespace {
template <typename Record>
Record copied(ActivityKind kind, int direction, std::uint64_t bytes, std::uint64_t start,
              std::uint64_t end, std::uint32_t correlation, std::uint32_t stream) {
  Record record = {};
  record.kind = kind;
  record.copy_kind = static_cast<std::uint8_t>(direction);
  record.bytes = bytes;
  record.start = start;
  record.end = end;
  record.correlation = correlation;
  record.context = 1;
  record.stream = stream;
  record.graph_node = node_of_work();
  return record;
}
}  // namespace

EXPORT void fake_copy(int direction, std::uint64_t bytes, std::uint64_t start, std::uint64_t end,
                      std::uint32_t correlation, std::uint32_t stream) {
  constexpr int peer_to_peer = 10;
  if (direction == peer_to_peer) {
    add(copied<LongPeerCopy>(ActivityKind::peer_copy, direction, bytes, start, end, correlation,
                             stream));
  } else {
    add(copied<LongCopy>(ActivityKind::copy, direction, bytes, start, end, correlation, stream));
  }
}
EXPORT void fake_set(std::uint64_t bytes, std::uint64_t start, std::uint64_t end,
                     std::uint32_t correlation, std::uint32_t stream) {
  LongSet record = {};
  record.graph_node = node_of_work();
  record.kind = ActivityKind::set;
  record.bytes = bytes;
  record.start = start;
  record.end = end;
  record.correlation = correlation;
  record.context = 1;
  record.stream = stream;
  add(record);
}
EXPORT void fake_memory(int operation, std::uint32_t memory_kind, std::uint64_t address,
                        std::uint64_t bytes, std::uint64_t time, std::uint32_t correlation) {
  LongMemory record = {};
  record.kind = ActivityKind::memory;
  record.operation = static_cast<MemoryOperation>(operation);
  record.memory_kind = memory_kind;
  record.address = address;
  record.bytes = bytes;
  record.time = time;
  record.correlation = correlation;
  record.context = 1;
  add(record);
}
EXPORT void fake_limited_device(std::uint32_t id, const char* name, std::uint32_t major,
                                std::uint32_t minor, std::uint32_t warps, std::uint32_t blocks,
                                std::uint32_t shared_bytes) {
  static std::set<std::string>* const names = new std::set<std::string>;
  LongDevice record = {};
  record.kind = ActivityKind::device;
  record.id = id;
  record.name = names->insert(name).first->c_str();
  record.major_capability = major;
  record.minor_capability = minor;
  record.processors = 132;
  record.threads_of_warp = 32;
  record.warps = warps;
  record.blocks = blocks;
  record.registers = 65'536;
  record.shared_bytes = shared_bytes;
  add(record);
}
EXPORT void fake_device(std::uint32_t id, const char* name) {
  fake_limited_device(id, name, 9, 0, 64, 32, 233'472);
}
EXPORT void fake_function(int domain, std::uint32_t id, const char* name) {
  const std::lock_guard<std::mutex> lock(fake().mutex);
  fake().functions[{static_cast<CuptiDomain>(domain), id}] = name;
}
EXPORT void fake_graph(std::uint32_t graph, std::uint64_t start, std::uint64_t end,
                       std::uint32_t correlation, std::uint32_t stream) {
  LongGraph record = {};
  record.kind = ActivityKind::graph;
  record.graph = graph;
  record.start = start;
  record.end = end;
  record.correlation = correlation;
  record.context = 1;
  record.stream = stream;
  add(record);
}

// By a thread of the library's own. `order` 1: the last first.
EXPORT void fake_deliver(int order) {
  Fake& self = fake();
  {
    const std::lock_guard<std::mutex> lock(self.mutex);
    if (order == 1) std::reverse(self.pending.begin(), self.pending.end());
  }
  std::thread(hand_over, false).join();
}
// In a forked child: it is a process of its own, which has not used CUDA.
EXPORT void fake_forked() { fake().pid = ::getpid(); }
EXPORT std::size_t fake_pending() {
  const std::lock_guard<std::mutex> lock(fake().mutex);
  return fake().pending.size();
}
EXPORT int fake_wants(int kind) {
  return static_cast<int>(fake().kinds.count(static_cast<ActivityKind>(kind)));
}
