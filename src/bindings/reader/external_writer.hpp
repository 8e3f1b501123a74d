// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "bindings/reader/given/event_rows.hpp"
#include "bindings/reader/given/given_payload.hpp"
#include "bindings/reader/reports.hpp"
#include "record/external/clock_map.hpp"
#include "record/external/external_writer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace nvspan::bindings {

// The class nvspan._reader.ExternalWriter: recordings of events that the caller has.
class External {
 public:
  External(const std::string& path, std::uint64_t memory) : path_(path), writer_(path, memory) {}

  std::uint32_t process(std::int64_t pid, std::int64_t parent_pid, const pybind11::str& host,
                        const pybind11::str& boot_id, const std::vector<pybind11::str>& command,
                        std::int64_t unix_offset, std::int32_t rank, std::int32_t local_rank,
                        std::int32_t world_size);
  std::uint32_t thread(std::uint32_t process, std::int64_t tid, const pybind11::object& name);
  std::uint32_t domain(std::uint32_t process, const pybind11::object& name);
  void name_thread(std::uint32_t thread, const pybind11::str& name);
  void name_domain(std::uint32_t domain, const pybind11::str& name);
  pybind11::object strings(const pybind11::iterable& texts);
  void category(std::uint32_t domain, std::int64_t number, const pybind11::str& name);
  void device_name(std::uint32_t process, std::int64_t device, const pybind11::str& name);
  // Major and minor capability, multiprocessors, threads of a warp; of a multiprocessor warps,
  // blocks, registers and bytes of shared memory.
  using GpuLimits = std::array<std::int64_t, 8>;
  void gpu(std::uint32_t process, std::int64_t device, const pybind11::str& name,
           const GpuLimits& limits);
  void stream_name(std::uint32_t process, std::uint64_t stream, const pybind11::str& name);
  std::uint32_t clock(const std::vector<std::pair<std::int64_t, std::int64_t>>& points,
                      double frequency);
  std::uint64_t schema(std::uint32_t domain, const pybind11::object& name, std::size_t size,
                       const pybind11::iterable& entries);
  void known_schema(std::uint32_t domain, std::uint64_t id, const pybind11::object& name,
                    std::uint64_t size, std::uint64_t type, const pybind11::iterable& entries);
  void enumeration(std::uint32_t domain, std::uint64_t id, const pybind11::object& name,
                   std::uint64_t size, const pybind11::iterable& values);
  void cite(std::uint32_t process, std::uint64_t handle, std::uint32_t text);
  std::uint32_t counter(std::uint32_t process, std::uint32_t domain, const pybind11::str& name,
                        const pybind11::object& unit, const pybind11::object& description,
                        const pybind11::object& schema);

  void ranges(std::uint32_t thread, std::uint32_t domain, const pybind11::object& start,
              const pybind11::object& end, const pybind11::kwargs& given);
  void marks(std::uint32_t thread, std::uint32_t domain, const pybind11::object& time,
             const pybind11::kwargs& given) {
    single({thread, domain}, time, pybind11::none(), given, record::LaneEvent::mark);
  }
  void pushes(std::uint32_t thread, std::uint32_t domain, const pybind11::object& time,
              const pybind11::kwargs& given) {
    single({thread, domain}, time, pybind11::none(), given, record::LaneEvent::push);
  }
  void starts(std::uint32_t thread, std::uint32_t domain, const pybind11::object& time,
              const pybind11::object& id, const pybind11::kwargs& given) {
    single({thread, domain}, time, id, given, record::LaneEvent::start);
  }
  void pops(std::uint32_t thread, std::uint32_t domain, const pybind11::object& time,
            const pybind11::object& clock) {
    closing({thread, domain}, time, pybind11::none(), clock, record::LaneEvent::pop);
  }
  void ends(std::uint32_t thread, std::uint32_t domain, const pybind11::object& time,
            const pybind11::object& id, const pybind11::object& clock) {
    closing({thread, domain}, time, id, clock, record::LaneEvent::end);
  }
  void device_ranges(std::uint32_t process, std::uint32_t domain, const pybind11::object& start,
                     const pybind11::object& end, const pybind11::kwargs& given);
  void samples(std::uint32_t thread, std::uint32_t counter, const pybind11::object& time,
               const pybind11::object& value, const pybind11::object& clock);

  void absent(std::uint32_t thread, std::uint32_t counter, const pybind11::object& time,
              const pybind11::object& reason, const pybind11::object& clock);

  std::uint64_t overlapping() const {
    const Lock lock(mutex_);
    return writer_.overlapping();
  }
  void close();
  void abort() {
    const released_gil released;
    const std::lock_guard<std::mutex> lock(mutex_);
    writer_.abort();
  }

 private:
  // What changes the writer, or looks into it, does so behind the lock, in which no Python may run:
  // whoever waits for the lock has the GIL.
  using Lock = std::lock_guard<std::mutex>;
  void check_open() const;
  // A text, made before the lock is taken; nothing: None.
  using Text = std::optional<std::string>;
  static Text text_given(const pybind11::object& given);
  struct GivenField {
    std::string name;
    Text unit;
    record::SchemaField read = {};  // without its texts
  };
  static std::vector<GivenField> fields_given(const pybind11::iterable& entries);
  std::uint32_t number_of(const Text& text) {
    return text ? writer_.text(*text) : record::no_string;
  }
  [[noreturn]] static void refuse_handle(const char* what, std::uint64_t given);
  std::uint32_t counter_of(std::uint32_t thread, std::uint32_t counter) const;
  const record::ClockMap* clock_of(const pybind11::object& handle) const;
  record::ProcessPart& part(std::uint32_t process);
  record::ProcessPart& part_of(std::uint32_t thread, std::uint32_t domain);
  const GivenSchema* schema_of(const pybind11::object& handle, std::uint32_t domain) const;
  // Runs without the GIL, behind the lock.
  template <typename Use>
  void work(Use&& use);
  template <typename Fill>
  void fill(record::EventLane& lane, std::size_t rows, Fill&& fill);

  record::EventLane& lane_of(std::uint32_t thread) {
    const auto place = writer_.thread(thread);
    return writer_.process(place.process).lane(place.number);
  }
  struct TimedRows {
    const GivenColumn& times;
    const record::ClockMap* clock;
    std::size_t count;
  };
  template <typename Add>
  void fill_timed(record::EventLane& lane, const TimedRows& rows, Add&& add);
  void fill_numbers(record::EventLane& lane, const TimedRows& rows, const GivenColumn& numbers,
                    record::LaneEvent event, std::uint32_t subject);

  // What rows of ranges, marks, pushes and starts are given with.
  struct EventArguments;
  struct Place {
    std::uint32_t thread, domain;
  };
  void single(const Place& place, const pybind11::object& time, const pybind11::object& id,
              const pybind11::kwargs& given, record::LaneEvent event);
  void closing(const Place& place, const pybind11::object& time, const pybind11::object& id,
               const pybind11::object& clock, record::LaneEvent event);

  std::string path_;
  mutable std::mutex mutex_;
  record::ExternalWriter writer_;
  std::vector<std::unique_ptr<record::ClockMap>> clocks_;
  std::map<std::uint64_t, GivenSchema> schemas_;
  std::map<std::uint32_t, std::uint64_t> counter_schemas_;
};

template <typename Use>
void External::work(Use&& use) {
  try {
    const released_gil released;
    const std::lock_guard<std::mutex> lock(mutex_);
    use();
  } catch (const std::system_error& error) {
    raise_os_error(error, path_);
  }
}

// Calls `fill` with begin and count of each block of rows.
template <typename Fill>
void External::fill(record::EventLane& lane, std::size_t rows, Fill&& fill) {
  for (std::size_t begin = 0; begin < rows; begin += given_block) {
    const std::uint64_t before = lane.bytes();
    fill(begin, std::min(given_block, rows - begin));
    writer_.added(lane, before);
  }
}

void bind_external_writer(pybind11::module_& module);

}  // namespace nvspan::bindings
