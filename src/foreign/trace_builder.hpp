// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a trace becomes: events on lanes of threads, and of devices.

#pragma once

#include "foreign/event_args.hpp"
#include "record/external/external_writer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nvspan::foreign {

// A file that is not what it should be: the byte at which that was seen, and what is wrong.
class ForeignError : public std::runtime_error {
 public:
  ForeignError(std::uint64_t byte, const std::string& what)
      : std::runtime_error(what), byte_(byte) {}
  std::uint64_t byte() const noexcept { return byte_; }

 private:
  std::uint64_t byte_;
};

// How many of a trace's events became what; what a recording has no place for is left out.
struct ImportCounts {
  std::uint64_t ranges = 0;
  std::uint64_t device_ranges = 0;
  std::uint64_t marks = 0;
  std::uint64_t samples = 0;
  std::map<std::string, std::uint64_t> left_out;  // by what they are
};

// `thread` is what TraceBuilder::thread() returned; an empty domain is the default one.
struct ThreadEvent {
  record::LaneEvent kind;
  std::uint32_t thread;
  std::string_view domain;
  std::string_view name;  // of a range, mark or counter
  std::int64_t time;
  std::uint64_t value = 0;  // as an event of this kind has it
  EventArgs* args = nullptr;
};

struct DeviceEvent {
  std::string_view domain;
  std::string_view name;
  std::int64_t start;
  std::int64_t end;
  std::int32_t device;
  std::uint64_t stream;
  std::uint64_t correlation;
  EventArgs* args = nullptr;
};

class TraceBuilder {
 public:
  explicit TraceBuilder(record::ExternalWriter& writer) : writer_(writer) {}

  // A process or thread is known by a number or a text of the trace's; see text_key().
  std::uint32_t process(std::int64_t key);
  std::uint32_t thread(std::int64_t process_key, std::int64_t thread_key);
  std::int64_t text_key(std::string_view text) { return text_keys | writer_.text(text); }
  void name_process(std::int64_t key, std::string_view name) { process_names_[key] = name; }
  void name_thread(std::int64_t process_key, std::int64_t thread_key, std::string_view name) {
    thread_names_[{process_key, thread_key}] = name;
  }
  void set_unix_offset(std::int64_t offset) { unix_offset_ = offset; }
  void set_rank(std::int32_t rank, std::int32_t world_size) {
    rank_ = rank;
    world_size_ = world_size;
  }

  void add(const ThreadEvent& event);
  // A call of the processor that launched what has the correlation.
  void launch(std::uint32_t thread, std::uint64_t correlation, std::int64_t time);
  // Kept until finish(), which knows the launches.
  void add(const DeviceEvent& event);
  void name_device(std::int32_t device, std::string_view name) { device_names_[device] = name; }
  void leave_out(const char* what) { ++counts_.left_out[what]; }

  void finish();
  const ImportCounts& counts() const noexcept { return counts_; }

 private:
  static constexpr std::int64_t text_keys = std::int64_t{1} << 62;  // far from any number in use

  struct Launch {
    std::int64_t time;
    std::uint32_t thread;
  };
  struct KeptDeviceEvent {
    std::int64_t start;
    std::int64_t end;
    std::uint32_t domain;  // texts
    std::uint32_t name;
    std::int32_t device;
    std::uint64_t stream;
    std::uint64_t correlation;
    std::uint32_t form;     // of its arguments
    std::uint32_t bytes;    // of their data
    std::uint64_t data_at;  // in device_data_
  };
  // The arguments of an event in the words of a payload: none where `schema` is 0.
  struct Payload {
    std::uint64_t schema = 0;
    std::size_t bytes = 0;
    std::size_t words = 0;  // with those before the data
    const std::uint64_t* data = nullptr;
  };

  std::uint32_t number_for(std::int64_t key);
  std::uint32_t domain_of(std::uint32_t process, std::string_view name);
  std::uint32_t site(std::uint32_t domain, std::string_view name, const Payload& payload);
  std::uint64_t schema(std::uint32_t domain, std::uint32_t form);
  Payload payload(std::uint32_t domain, EventArgs* args);
  std::uint32_t counter(std::uint32_t process, std::uint32_t domain, std::string_view name);

  record::ExternalWriter& writer_;
  ImportCounts counts_;
  std::int64_t unix_offset_ = 0;
  std::int32_t rank_ = -1;
  std::int32_t world_size_ = -1;
  std::uint32_t next_number_ = 0x40000000;  // for threads whose number is none
  std::unordered_map<std::int64_t, std::uint32_t> processes_;
  std::vector<std::int64_t> process_keys_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> threads_;
  std::pair<std::int64_t, std::int64_t> last_thread_key_ = {0, 0};
  std::uint32_t last_thread_ = record::no_thread;
  std::vector<std::uint32_t> tids_;  // by thread
  std::map<std::int64_t, std::string> process_names_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names_;
  std::map<std::int32_t, std::string> device_names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> domains_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> counters_;
  std::unordered_map<std::uint64_t, Launch> launches_;
  std::vector<KeptDeviceEvent> device_events_;
  std::vector<std::uint64_t> device_data_;
  const EventArgs* args_ = nullptr;                           // whose forms have schemas
  std::unordered_map<std::uint64_t, std::uint64_t> schemas_;  // by domain and form
  std::vector<std::uint64_t> data_;
};

}  // namespace nvspan::foreign
