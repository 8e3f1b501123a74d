// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges, marks and counter samples that are submitted after the fact, with their times. It prints
// the time that the stamps count from.

#include "payloads.hpp"

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace {

struct Work {
  std::int64_t begin;
  std::int64_t end;
  nvtxStringHandle_t name;
  std::uint32_t category;
  std::uint32_t color;
};
struct Note {
  char text[16];
  std::int64_t at;
};

// NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR, which NVTX 3.2 shifts out of an int.
constexpr std::uint64_t begin_and_interval = std::uint64_t{1} << 32;

// CLOCK_REALTIME when nvtxTimestampGet was `stamp`; the closest of many readings of both.
std::int64_t wall_clock_at(std::int64_t stamp) {
  std::int64_t closest = INT64_MAX, result = 0;
  for (int i = 0; i < 100; ++i) {
    timespec wall = {};
    const std::int64_t before = nvtxTimestampGet();
    clock_gettime(CLOCK_REALTIME, &wall);
    const std::int64_t apart = nvtxTimestampGet() - before;
    if (apart >= closest) continue;
    closest = apart;
    result = wall.tv_sec * 1000000000 + wall.tv_nsec - (before + apart / 2) + stamp;
  }
  return result;
}

}  // namespace

int main() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("device");
  const nvtxStringHandle_t copy = nvtxDomainRegisterStringA(domain, "copy");
  const nvtxStringHandle_t kernel = nvtxDomainRegisterStringA(domain, "kernel");
  const std::int64_t zero = nvtxTimestampGet();
  usleep(20000);  // every stamp but the one of long ago lies between two readings of the clocks

  constexpr std::uint64_t stamp = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  const Entries of_work = {
      entry(stamp, nullptr, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN, 0, 0),
      entry(stamp, nullptr, NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END, 0, offsetof(Work, end)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, nullptr,
            NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, 0, offsetof(Work, name)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, nullptr, 0, 0, offsetof(Work, category)),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, nullptr, 0, 0, offsetof(Work, color)),
  };
  const std::uint64_t work = register_schema(
      domain,
      {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Work), 0, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND},
      of_work);
  // Out of order, overlapping, and long before anything else.
  const std::int64_t second = 1000000000;
  const Work batch[] = {{zero + 5000000, zero + 9000000, kernel, 4, 0xFF112233},
                        {zero + 1000000, zero + 6000000, copy, 0, 0xFF000000},
                        {zero - 3600 * second, zero - 3590 * second, kernel, 4, 0xFF112233}};
  nvtxEventBatch_t events = {};
  events.eventSchemaId = work;
  events.size = sizeof batch;
  events.events = batch;
  events.flags = NVTX_BATCH_FLAG_UNSORTED;
  nvtxEventBatchSubmit(domain, &events);

  // A clock of its own: CLOCK_REALTIME.
  nvtxTimeDomainAttr_t time = {};
  time.timestampTypeId = NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_REALTIME;
  nvtxSemanticsTime_t semantics = {};
  semantics.header = {sizeof semantics, NVTX_SEMANTIC_ID_TIME_V1, NVTX_TIME_SEMANTIC_VERSION,
                      nullptr};
  semantics.timeDomainId = nvtxTimeDomainRegister(domain, &time);
  Entries of_note = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, nullptr,
            NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 0, 0),
      entry(stamp, nullptr, NVTX_PAYLOAD_ENTRY_FLAG_MARK, 0, offsetof(Note, at)),
  };
  of_note[0].arrayOrUnionDetail = sizeof Note::text;
  of_note[1].semantics = &semantics.header;
  const std::uint64_t note = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Note), 0, NVTX_PAYLOAD_SCHEMA_FLAG_MARK},
      of_note);
  Note value = {"flushed", wall_clock_at(zero) + 2000000};
  const nvtxPayloadData_t data = {note, sizeof value, &value};
  nvtxEventSubmit(domain, &data, 1);

  nvtxCounterAttr_t counter = {};
  counter.structSize = sizeof counter;
  counter.name = "queue";
  counter.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_UINT32;
  const std::uint64_t queue = nvtxCounterRegister(domain, &counter);
  counter.name = "load";
  counter.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64;
  const std::uint64_t load = nvtxCounterRegister(domain, &counter);
  const std::uint32_t lengths[] = {3, 1, 4};
  const std::int64_t times[] = {zero + 1000000, zero + 3000000, zero + 2000000};
  nvtxCounterBatch_t samples = {};
  samples.counterId = queue;
  samples.counters = lengths;
  samples.countersSize = sizeof lengths;
  samples.timestamps = times;
  samples.timestampsSize = sizeof times;
  nvtxCounterBatchSubmit(domain, &samples);
  const double loads[] = {0.5, 0.25};
  const std::int64_t pair[] = {zero + 7000000, 1000000};
  samples.counterId = load;
  samples.counters = loads;
  samples.countersSize = sizeof loads;
  samples.flags = begin_and_interval;
  samples.timestamps = pair;
  samples.timestampsSize = sizeof pair;
  nvtxCounterBatchSubmit(domain, &samples);

  nvtxRangePushA("submitting");
  nvtxRangePop();
  const pid_t child = fork();
  if (child == 0) {
    events.size = sizeof batch[0];
    nvtxEventBatchSubmit(domain, &events);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%lld\n", static_cast<long long>(zero));
  return status;
}
