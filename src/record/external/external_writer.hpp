// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A recording of events that the caller has: it says when each was, on which thread of which
// process, in any order. Nothing is at the path until close().

#pragma once

#include "core/immovable.hpp"
#include "core/text/text_table.hpp"
#include "record/external/lane.hpp"
#include "record/external/process_part.hpp"
#include "record/file/format.hpp"
#include "trace/payload/payload.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvspan::record {

// A range that a device did for a process.
struct GivenDeviceRange {
  std::int64_t start = 0;  // ns
  std::int64_t end = 0;
  std::uint32_t name = no_string;
  std::int32_t device = -1;
  std::uint64_t stream = 0;
  std::uint64_t correlation = 0;
  std::int64_t launched = 0;  // ns; 0: not known
  std::uint32_t tid = 0;      // of the thread that launched it
  // A payload of its own, of a schema of the domain, whose bytes end with a word of 8; 0: none.
  std::uint64_t schema = 0;
  const std::uint64_t* data = nullptr;
  std::size_t bytes = 0;
};

// Handles are numbers of the writer; they are not checked here. Errors are std::system_error. For
// one thread at a time.
class ExternalWriter : public core::Immovable {
 public:
  // `memory`: about how many bytes of events are held before they go into a file beside `path`.
  ExternalWriter(std::string path, std::uint64_t memory);
  ~ExternalWriter();

  struct About {
    std::uint32_t pid = 0;
    std::uint32_t parent_pid = 0;
    std::string_view host;
    std::string_view boot_id;
    std::vector<std::string> command;
    std::int64_t unix_offset = 0;
    std::int32_t rank = -1;
    std::int32_t local_rank = -1;
    std::int32_t world_size = -1;
  };
  struct Place {
    std::uint32_t process;
    std::uint32_t number;  // the process's
  };

  std::uint32_t add_process(const About& about);
  std::uint32_t add_thread(std::uint32_t process, std::uint32_t tid, std::uint32_t name);
  std::uint32_t domain(std::uint32_t process, std::uint32_t name);
  // Names that came late.
  void name_domain(std::uint32_t domain, std::uint32_t name);
  void name_thread(std::uint32_t thread, std::uint32_t name);
  std::uint32_t text(std::string_view text) { return static_cast<std::uint32_t>(texts_.add(text)); }
  std::uint32_t counter(std::uint32_t process, std::uint32_t domain, std::uint32_t name,
                        const GivenMeaning& meaning);
  std::uint64_t schema(std::uint32_t domain, SchemaLayout layout);
  // One that has an id already, and with it enumerations and device ranges of that schema.
  void known_schema(std::uint32_t domain, std::uint64_t id, SchemaLayout layout);
  // SiteDefinition::device of device ranges of such schemas: payloads of two types have none.
  std::uint8_t device_site(std::uint32_t domain) const;
  // The schema of a device's ranges whose own payload is of that type, or none.
  std::uint64_t device_schema(std::uint32_t domain, trace::PayloadType payload);
  // The thread of a process in which its devices' ranges lie.
  std::uint32_t device_thread(std::uint32_t process);

  void add_device_range(std::uint32_t domain, const GivenDeviceRange& range);

  std::size_t processes() const noexcept { return processes_.size(); }
  std::size_t threads() const noexcept { return threads_.size(); }
  std::size_t domains() const noexcept { return domains_.size(); }
  std::size_t counters() const noexcept { return counters_.size(); }
  std::size_t texts() const noexcept { return texts_.size(); }
  Place thread(std::uint32_t handle) const { return threads_[handle]; }
  Place domain_place(std::uint32_t handle) const { return domains_[handle]; }
  Place counter_place(std::uint32_t handle) const { return counters_[handle]; }
  ProcessPart& process(std::uint32_t handle) { return *processes_[handle]; }

  // To be called after events were added to one of the thread's lanes: they may go into a file.
  void added(EventLane& lane, std::uint64_t bytes_before) {
    held_ += lane.bytes() - bytes_before;
    if (held_ > memory_) spill();
  }

  std::uint64_t overlapping() const noexcept { return overlapping_; }
  bool is_open() const noexcept { return open_; }
  void close();
  void abort() noexcept;

 private:
  DeviceLayoutDefinition device_layout(std::uint32_t domain,
                                       const std::vector<SchemaField>& fields);
  void spill();
  void write(int fd);

  std::string path_;
  std::uint64_t memory_;
  std::uint64_t held_ = 0;
  bool open_ = true;
  std::uint64_t run_;
  core::TextTable texts_;
  SpillFile spill_;
  std::vector<std::unique_ptr<ProcessPart>> processes_;
  std::vector<Place> threads_;
  std::vector<Place> domains_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> domain_handles_;
  std::vector<Place> counters_;
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::uint64_t> device_schemas_;
  std::map<std::uint32_t, std::uint32_t> device_threads_;
  std::map<std::uint32_t, trace::PayloadType> known_payloads_;  // of device ranges, by domain
  std::uint64_t next_schema_;
  std::uint64_t next_id_ = std::uint64_t{1} << 63;  // of ranges that have no id of their own
  std::uint64_t overlapping_ = 0;
};

}  // namespace nvspan::record
