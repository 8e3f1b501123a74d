// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// CUPTI without a GPU, for tests: as much of it as the recorder calls, and functions called fake_*
// by which a test says what the GPU does. Work is what a test makes up, with the times that it
// says; it is handed over by a thread of the library's own, or by whoever flushes, as CUPTI does.
//
// It is stricter than CUPTI: what CUPTI lets pass and answers with lost records or a crash is a
// line of the log that begins with "misuse".

#include "state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fake_cupti {

constexpr CuptiResult invalid_parameter = 1;
constexpr CuptiResult not_initialized = 15;

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
  if (record.kind == ActivityKind::memory || record.kind == ActivityKind::device) return true;
  if (record.kind == ActivityKind::graph) return end_of<GraphRecord>(bytes) != 0;
  return end_of<CopyRecord>(bytes) != 0;  // where the others have theirs, too
}

Buffer request_buffer() {
  Fake& self = fake();
  BufferRequested requested = nullptr;
  {
    const std::lock_guard<std::mutex> lock(self.mutex);
    requested = self.requested;
  }
  Buffer buffer = {};
  std::size_t most = 0;
  requested(&buffer.begin, &buffer.size, &most);
  if (buffer.begin == nullptr && self.version < first_without_buffers) note("misuse: no buffer");
  return buffer;
}

// One that was requested before, as CUPTI does when work is launched, or a new one.
Buffer take_buffer() {
  Fake& self = fake();
  {
    const std::lock_guard<std::mutex> lock(self.mutex);
    if (!self.kept.empty()) {
      const Buffer buffer = self.kept.back();
      self.kept.pop_back();
      return buffer;
    }
  }
  return request_buffer();
}

// What there is, in as many buffers as it takes. What has no end stays, unless it is forced.
void hand_over(bool forced) {
  Fake& self = fake();
  std::deque<Bytes> records;
  BufferCompleted completed = nullptr;
  std::size_t dropped = 0, most_in_buffer = 0;
  {
    const std::lock_guard<std::mutex> lock(self.mutex);
    completed = self.completed;
    dropped = self.dropped;
    most_in_buffer = self.most_in_buffer;
    for (Bytes& bytes : self.pending) {
      if (forced || is_complete(bytes)) records.push_back(std::move(bytes));
    }
    self.pending.erase(std::remove_if(self.pending.begin(), self.pending.end(),
                                      [](const Bytes& bytes) { return bytes.empty(); }),
                       self.pending.end());
  }
  if (records.empty() && dropped == 0) return;
  do {
    const Buffer buffer = take_buffer();
    if (buffer.begin == nullptr) {
      const std::lock_guard<std::mutex> lock(self.mutex);
      self.dropped += records.size();
      return;
    }
    std::size_t count = 0, used = 0;
    while (!records.empty() && used + records.front().size() <= buffer.size &&
           count++ < most_in_buffer) {
      std::memcpy(buffer.begin + used, records.front().data(), records.front().size());
      used += records.front().size();
      records.pop_front();
    }
    completed(nullptr, 0, buffer.begin, buffer.size, used);
  } while (!records.empty());
}

void call_back(CuptiDomain domain, std::uint32_t id, CuptiSite site, const char* kernel,
               std::uint32_t correlation) {
  Fake& self = fake();
  CuptiCallback callback = nullptr;
  const char* name = nullptr;
  {
    const std::lock_guard<std::mutex> lock(self.mutex);
    const bool wanted = self.callbacks.count({domain, id}) + self.domains.count(domain) != 0;
    if (wanted) callback = self.callback;
    name = self.functions[{domain, id}].c_str();
  }
  if (callback == nullptr) return;
  CuptiCall call = {};
  call.site = site;
  call.function_name = name;
  call.symbol_name = kernel;
  call.correlation_id = correlation;
  callback(nullptr, domain, id, &call);
}

// A node's handle is its number.
void call_back_resource(std::uint32_t id, std::uint64_t node, std::uint64_t original) {
  Fake& self = fake();
  CuptiCallback callback = nullptr;
  {
    const std::lock_guard<std::mutex> lock(self.mutex);
    self.nodes.insert(node);
    if (self.callbacks.count({CuptiDomain::resource, id}) != 0) callback = self.callback;
  }
  if (callback == nullptr) return;
  CuptiGraph graph = {};
  graph.node = reinterpret_cast<void*>(node);
  graph.original_node = reinterpret_cast<void*>(original);
  const CuptiResource resource{nullptr, nullptr, &graph};
  callback(nullptr, CuptiDomain::resource, id, &resource);
}

}  // namespace fake_cupti

using namespace fake_cupti;

// --- CUPTI ---------------------------------------------------------------------------------------

EXPORT CuptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = fake().version;
  return cupti_success;
}

// By the clock that was registered, else in ns since 1970.
EXPORT CuptiResult cuptiGetTimestamp(std::uint64_t* time) {
  const std::uint64_t registered = fake_now();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  *time = registered != 0 ? registered
                          : static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
  return cupti_success;
}

EXPORT CuptiResult cuptiSubscribe(void** subscriber, CuptiCallback callback, void*) {
  note("subscribe");
  Fake& self = fake();
  const char* const answer = std::getenv("FAKE_CUPTI_SUBSCRIBE");
  if (answer != nullptr) return std::atoi(answer);
  const std::lock_guard<std::mutex> lock(self.mutex);
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
  if (!is_subscriber(subscriber)) {
    note("misuse: unsubscribed by nobody");
    return invalid_parameter;
  }
  const std::lock_guard<std::mutex> lock(self.mutex);
  self.subscriber = 0;
  self.callback = nullptr;
  self.callbacks.clear();
  self.domains.clear();
  return cupti_success;
}

EXPORT CuptiResult cuptiEnableDomain(std::uint32_t enable, void* subscriber, CuptiDomain domain) {
  note("domain " + std::to_string(static_cast<int>(domain)));
  Fake& self = fake();
  if (!is_subscriber(subscriber) || enable == 0) {
    note("misuse: a domain without a subscriber");
    return invalid_parameter;
  }
  const std::lock_guard<std::mutex> lock(self.mutex);
  self.domains.insert(domain);
  return cupti_success;
}

EXPORT CuptiResult cuptiEnableCallback(std::uint32_t enable, void* subscriber, CuptiDomain domain,
                                       std::uint32_t id) {
  Fake& self = fake();
  if (!is_subscriber(subscriber)) {
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

EXPORT CuptiResult cuptiGetGraphNodeId(void* node, std::uint64_t* id) {
  Fake& self = fake();
  const std::lock_guard<std::mutex> lock(self.mutex);
  *id = reinterpret_cast<std::uint64_t>(node);
  return self.nodes.count(*id) != 0 ? cupti_success : invalid_parameter;
}

EXPORT CuptiResult cuptiGetResultString(CuptiResult result, const char** text) {
  *text = result == cupti_multiple_subscribers ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
                                               : "CUPTI_ERROR_UNKNOWN";
  return cupti_success;
}

namespace {
// From that version on a profiler need not subscribe to have records.
bool needs_subscriber() {
  constexpr std::uint32_t first_without = 130'300;
  return fake().version < first_without && !is_subscriber(&fake().subscriber);
}
}  // namespace

EXPORT CuptiResult cuptiActivityRegisterCallbacks(BufferRequested requested,
                                                  BufferCompleted completed) {
  note("register buffers");
  Fake& self = fake();
  if (needs_subscriber()) note("misuse: buffers before a subscriber");
  const std::lock_guard<std::mutex> lock(self.mutex);
  if (!self.kinds.empty()) self.log += "misuse: buffers while another user's are filled\n";
  self.requested = requested;
  self.completed = completed;
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
  note("register clock");
  Fake& self = fake();
  if (fake_now() != 0) note("misuse: a second clock");
  const std::lock_guard<std::mutex> lock(self.mutex);
  if (!self.kinds.empty()) self.log += "misuse: a clock after kinds of records\n";
  self.clock = clock;
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityEnable(ActivityKind kind) {
  note("enable " + std::to_string(static_cast<unsigned>(kind)));
  Fake& self = fake();
  if (needs_subscriber()) note("misuse: a kind before a subscriber");
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
  const std::lock_guard<std::mutex> lock(self.mutex);
  *dropped = self.dropped;
  self.dropped = 0;
  return cupti_success;
}

EXPORT CuptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  if (flag != 0) note("flush " + std::to_string(flag));  // others come once a second
  {
    const std::lock_guard<std::mutex> lock(fake().mutex);
    if (fake().requested == nullptr) return not_initialized;
  }
  hand_over(flag == flush_forced);
  return cupti_success;
}

EXPORT CuptiResult cuptiFinalize() {
  note("misuse: finalize");
  return cupti_success;
}
