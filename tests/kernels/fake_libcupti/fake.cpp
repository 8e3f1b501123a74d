// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// CUPTI without a GPU, for tests: as much of it as the recorder calls, and functions called fake_*
// by which a test says what the GPU does. Work is what a test makes up, with the times that it
// says; it is handed over by a thread of the library's own, or by whoever flushes, as CUPTI does.
//
// It is stricter than CUPTI: what CUPTI lets pass and answers with lost records or a crash is a
// line of the log that begins with "misuse".

#include "cupti/abi.hpp"

#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace nvspan::cupti;

constexpr CuptiResult invalid_parameter = 1;
constexpr CuptiResult not_initialized = 15;

// As long as CUPTI 13 makes them.
struct LongKernel : KernelRecord {
  char rest[104];
};
struct LongCopy : CopyRecord {
  char rest[48];
};
struct LongPeerCopy : PeerCopyRecord {
  char rest[40];
};
struct LongSet : SetRecord {
  char rest[48];
};
struct LongGraph : GraphRecord {
  char rest[16];
};

using Bytes = std::vector<std::uint8_t>;

struct Fake {
  std::mutex mutex;
  std::string log;
  CuptiCallback callback = nullptr;
  int subscriber = 0;  // not 0: there is one
  CuptiResult next_subscribe = cupti_success;
  std::set<std::pair<CuptiDomain, std::uint32_t>> callbacks;
  std::set<ActivityKind> kinds;
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  std::uint64_t (*clock)() = nullptr;
  std::deque<Bytes> pending;
  std::set<std::string> names;  // of kernels that are loaded
  std::size_t dropped = 0;
  std::size_t most_in_buffer = 1000;
  std::uint32_t correlation = 0;
  KernelRecord shape = {};  // of all kernels from now on
  pid_t pid = ::getpid();
};
Fake& fake() {
  static Fake* const instance = new Fake;
  return *instance;
}

void note(const std::string& line) {
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  if (self.pid != ::getpid()) self.log += "misuse: called in a forked child: ";
  self.log += line + "\n";
}

std::size_t size_of(ActivityKind kind) {
  switch (kind) {
    case ActivityKind::kernel:
    case ActivityKind::concurrent_kernel:
      return sizeof(LongKernel);
    case ActivityKind::copy:
      return sizeof(LongCopy);
    case ActivityKind::peer_copy:
      return sizeof(LongPeerCopy);
    case ActivityKind::set:
      return sizeof(LongSet);
    case ActivityKind::graph:
      return sizeof(LongGraph);
  }
  return 0;
}

template <typename Record>
void add(const Record& record) {
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  if (self.kinds.count(record.kind) == 0) return;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&record);
  self.pending.emplace_back(begin, begin + sizeof record);
}

template <typename Record>
std::uint64_t end_of(const Bytes& bytes) {
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record.end;
}
bool is_complete(const Bytes& bytes) {
  ActivityRecord record;
  std::memcpy(&record, bytes.data(), sizeof record);
  if (record.kind == ActivityKind::concurrent_kernel) return end_of<KernelRecord>(bytes) != 0;
  if (record.kind == ActivityKind::graph) return end_of<GraphRecord>(bytes) != 0;
  return end_of<CopyRecord>(bytes) != 0;  // where the others have theirs, too
}

// What there is, in as many buffers as it takes. What has no end stays, unless it is forced.
void hand_over(bool forced) {
  Fake& self = fake();
  std::deque<Bytes> records;
  {
    const std::lock_guard<std::mutex> lock(self.mutex);
    for (Bytes& bytes : self.pending) {
      if (forced || is_complete(bytes)) records.push_back(std::move(bytes));
    }
    self.pending.erase(std::remove_if(self.pending.begin(), self.pending.end(),
                                      [](const Bytes& bytes) { return bytes.empty(); }),
                       self.pending.end());
  }
  if (records.empty() && self.dropped == 0) return;
  do {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0, used = 0;
    self.requested(&buffer, &size, &most);
    if (buffer == nullptr) return note("misuse: no buffer");
    std::size_t count = 0;
    while (!records.empty() && used + records.front().size() <= size &&
           count++ < self.most_in_buffer) {
      std::memcpy(buffer + used, records.front().data(), records.front().size());
      used += records.front().size();
      records.pop_front();
    }
    self.completed(nullptr, 0, buffer, size, used);
  } while (!records.empty());
}

void call_back(CuptiDomain domain, std::uint32_t id, CuptiSite site, const char* kernel,
               std::uint32_t correlation) {
  Fake& self = fake();
  CuptiCallback callback = nullptr;
  {
    const std::lock_guard<std::mutex> lock(self.mutex);
    if (self.callbacks.count({domain, id}) != 0) callback = self.callback;
  }
  if (callback == nullptr) return;
  CuptiCall call = {};
  call.site = site;
  call.symbol_name = kernel;
  call.correlation_id = correlation;
  callback(nullptr, domain, id, &call);
}

}  // namespace

// --- CUPTI ---------------------------------------------------------------------------------------

EXPORT CuptiResult cuptiSubscribe(void** subscriber, CuptiCallback callback, void*) {
  note("subscribe");
  Fake& self = fake();
  const char* const answer = std::getenv("FAKE_CUPTI_SUBSCRIBE");
  if (answer != nullptr) return std::atoi(answer);
  if (self.next_subscribe != cupti_success) return self.next_subscribe;
  if (self.subscriber != 0) return cupti_multiple_subscribers;
  self.subscriber = 1;
  self.callback = callback;
  *subscriber = &self.subscriber;
  return cupti_success;
}

EXPORT CuptiResult cuptiUnsubscribe(void* subscriber) {
  note("unsubscribe");
  Fake& self = fake();
  if (subscriber != &self.subscriber || self.subscriber == 0) {
    note("misuse: unsubscribed by nobody");
    return invalid_parameter;
  }
  const std::lock_guard<std::mutex> lock(self.mutex);
  self.subscriber = 0;
  self.callback = nullptr;
  self.callbacks.clear();
  return cupti_success;
}

EXPORT CuptiResult cuptiEnableCallback(std::uint32_t enable, void* subscriber, CuptiDomain domain,
                                       std::uint32_t id) {
  Fake& self = fake();
  if (subscriber != &self.subscriber || self.subscriber == 0) {
    note("misuse: a callback without a subscriber");
    return invalid_parameter;
  }
  const std::lock_guard<std::mutex> lock(self.mutex);
  if (enable != 0) {
    self.callbacks.insert({domain, id});
  } else {
    self.callbacks.erase({domain, id});
  }
  return cupti_success;
}

EXPORT CuptiResult cuptiGetResultString(CuptiResult result, const char** text) {
  *text = result == cupti_multiple_subscribers ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
                                               : "CUPTI_ERROR_UNKNOWN";
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityRegisterCallbacks(BufferRequested requested,
                                                  BufferCompleted completed) {
  note("register buffers");
  Fake& self = fake();
  if (self.subscriber == 0) note("misuse: buffers before a subscriber");
  self.requested = requested;
  self.completed = completed;
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
  note("register clock");
  Fake& self = fake();
  if (self.clock != nullptr) note("misuse: a second clock");
  if (!self.kinds.empty()) note("misuse: a clock after kinds of records");
  self.clock = clock;
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityEnable(ActivityKind kind) {
  note("enable " + std::to_string(static_cast<unsigned>(kind)));
  Fake& self = fake();
  if (self.subscriber == 0) note("misuse: a kind before a subscriber");
  const char* const refused = std::getenv("FAKE_CUPTI_REFUSED_KIND");
  if (refused != nullptr && std::atoi(refused) == static_cast<int>(kind)) {
    return cupti_insufficient_privileges;
  }
  const std::lock_guard<std::mutex> lock(self.mutex);
  self.kinds.insert(kind);
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityDisable(ActivityKind kind) {
  note("disable " + std::to_string(static_cast<unsigned>(kind)));
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  self.kinds.erase(kind);
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                              ActivityRecord** record) {
  if (fake().pid != ::getpid()) note("next record");
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<std::uint8_t*>(*record) + size_of((*record)->kind);
  }
  if (next >= buffer + valid) return cupti_max_limit_reached;
  *record = reinterpret_cast<ActivityRecord*>(next);
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  Fake& self = fake();
  *dropped = self.dropped;
  self.dropped = 0;
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  note("flush " + std::to_string(flag));
  if (fake().requested == nullptr) return not_initialized;
  hand_over(flag == flush_forced);
  return cupti_success;
}

EXPORT CuptiResult cuptiFinalize() {
  note("misuse: finalize");
  return cupti_success;
}

// --- what a test says ----------------------------------------------------------------------------

EXPORT const char* fake_log() {
  static std::string* const copy = new std::string;
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  *copy = self.log;
  return copy->c_str();
}
EXPORT void fake_refuse(CuptiResult result) { fake().next_subscribe = result; }
EXPORT void fake_drop(std::size_t records) { fake().dropped += records; }
EXPORT void fake_fill(std::size_t records) { fake().most_in_buffer = records; }
EXPORT std::size_t fake_callbacks() { return fake().callbacks.size(); }
// 0: nobody has given a clock.
EXPORT std::uint64_t fake_now() {
  Fake& self = fake();
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
  record.kind = ActivityKind::set;
  record.bytes = bytes;
  record.start = start;
  record.end = end;
  record.correlation = correlation;
  record.context = 1;
  record.stream = stream;
  add(record);
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
EXPORT std::size_t fake_pending() { return fake().pending.size(); }
EXPORT int fake_wants(int kind) {
  return static_cast<int>(fake().kinds.count(static_cast<ActivityKind>(kind)));
}
