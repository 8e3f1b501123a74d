// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Reading recordings. Nothing in a file is believed: what does not fit is left out and said in
// problems().
//
// A file is copied into memory, not mapped. What add() has checked must not change after it, and a
// mapped file may be cut or written over by anyone: a read behind its new end is a SIGBUS, and so
// is any defence against it a handler of the whole process. Mapping would not be cheaper either: a
// file of 1.7 MB of the page cache takes 0.22 to 0.29 ms of processor time to copy and look through
// once, 0.21 to 0.27 ms mapped, 0.32 ms mapped with its pages filled in beforehand. Memory is that
// of the largest file for each worker.

#pragma once

#include "core/immovable.hpp"
#include "core/text/text_table.hpp"
#include "nvtx/stretch.hpp"
#include "reader/chunks/file_check.hpp"
#include "reader/file/launches.hpp"
#include "reader/file/sample_tables.hpp"
#include "record/file/work_format.hpp"
#include "trace/payload/payload_schema.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

// What a recording has not: of which thread, from when to when, how many events and why.
struct ReadLoss {
  std::uint32_t process = 0;
  std::int64_t thread = -1;  // -1: threads that never had a chunk, or several
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint64_t count = 0;  // 0: not known
  std::string_view reason;
};

std::string_view loss_reason_text(record::LossReason reason);
// Reasons of what was recorded and is not in the file any more.
constexpr std::string_view damaged_text = "damaged";
constexpr std::string_view cut_off_text = "cut off";
constexpr std::string_view overwritten_text = "overwritten";  // by a ring
constexpr std::string_view payload_loss_text = "payload not kept";
// Work of a GPU that is there, and is not shown.
constexpr std::string_view early_work_text = "GPU work before its launch";

constexpr std::int32_t no_name = -1;
constexpr std::uint32_t unknown_site = 0;  // of ReadSites: a site that the file does not define

enum class EndReason : std::uint8_t { closed, process_end, thread_exit, killed, lost };
enum class RangeKind : std::uint8_t { push_pop, start_end, device };
constexpr std::size_t range_kinds = 3;
using nvtx::StretchKind;

struct ReadSite {
  std::uint32_t domain = 0;        // of Recording::domains()
  std::uint32_t local_domain = 0;  // of the file: two domains of one name are two here
  std::int32_t name = no_name;     // of Recording::strings()
  std::uint8_t message_type = 0;
  std::uint8_t payload_type = 0;
  bool has_color = false;
  std::uint8_t device = 0;  // as in SiteDefinition
  bool is_others = false;   // of all names that were past the budget
  StretchKind stretch = StretchKind::none;
  bool backward = false;  // its category says that it is the backward pass of what is called so
  std::uint32_t color = 0;
  std::uint32_t category = 0;
  std::int32_t category_name = no_name;
  std::uint32_t shape = 0;  // of a kernel, of Recording::shapes(); 0: not known

  // Of a range that is not a push range.
  RangeKind started_kind() const noexcept {
    return device != 0 ? RangeKind::device : RangeKind::start_end;
  }
  // Of what the program itself gave.
  std::uint8_t own_payload_type() const noexcept {
    if (stretch != StretchKind::none) return 0;
    return device != 0 ? static_cast<std::uint8_t>(device - 1) : payload_type;
  }
};

struct DeviceLayout {
  std::uint32_t offsets[record::device_fields];
};
struct GivenName {
  std::uint64_t ticks = 0;
  std::int32_t name = no_name;
};

struct ReadCounter {
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  std::uint64_t id = 0;
  std::int32_t field = no_name;  // of a counter group
  std::int32_t unit = no_name;
};

class ReadSchemas;

// A counter whose samples are of several numbers: each is a counter of its own.
struct ReadGroup {
  struct Part {
    std::uint32_t counter;  // of ReadProcess::counters
    std::uint64_t type;
    std::uint64_t offset;
  };
  std::uint64_t size = 0;  // bytes of a sample
  std::vector<Part> parts;
};

struct ReadGpu {
  record::GpuLimitsDefinition limits = {};
  std::int32_t name = no_name;
};

struct ReadProcess {
  std::string path;
  record::FileHeader header;
  std::vector<std::string> command;
  bool closed = false;
  bool was_ring = false;             // switched to one while it was recorded
  std::uint64_t open_chunks = 0;     // without a checksum, as their process did not end them
  std::uint64_t end_ticks = 0;       // the last moment that it knows of
  std::int64_t end = 0;              // likewise, ns
  std::vector<std::uint32_t> sites;  // by the file's number
  std::vector<std::uint32_t> counters;
  std::vector<std::uint32_t> domains;
  std::map<std::uint32_t, ReadGroup> groups;  // by the file's number of the counter
  std::shared_ptr<ReadSchemas> schemas;
  SampleTables samples;
  std::shared_ptr<const Launches> launches;  // null: no GPU's work was recorded
  std::map<std::uint32_t, ReadGpu> gpus;     // by device
  // Those whose work is recorded, by number.
  std::unordered_map<std::uint32_t, record::GraphNodeDefinition> graph_nodes;
  // WorkGapDefinition, as they are in the file: beginning and reason, end.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> gaps;
  std::map<std::pair<std::uint32_t, std::uint64_t>, DeviceLayout> device_layouts;  // domain, schema
  std::map<std::uint64_t, std::vector<GivenName>> device_names, stream_names;      // by handle
  // ns of CLOCK_MONOTONIC = first.monotonic + (ticks - first.ticks) * ratio / 2^32
  std::uint64_t ratio = 0;
  std::int64_t offset = 0;  // added to reach the time line of the first file

  std::int64_t time(std::uint64_t ticks) const noexcept {
    const auto delta = static_cast<std::int64_t>(ticks - header.first.ticks);
    const auto scaled = static_cast<__int128>(delta) * static_cast<std::int64_t>(ratio) >> 32;
    return static_cast<std::int64_t>(header.first.monotonic) + static_cast<std::int64_t>(scaled) +
           offset;
  }
  std::int64_t duration(std::uint64_t ticks) const noexcept {  // in ns
    return time(header.first.ticks + ticks) - time(header.first.ticks);
  }
};

struct ReadGap {
  std::uint32_t process = 0;
  std::int64_t from = 0, to = 0;  // ns
  std::string_view reason;
};

struct ReadThread {
  std::uint32_t process = 0;
  std::uint32_t number = 0;  // the file's
  std::uint32_t tid = 0;
  std::int32_t name = no_name;
  bool defined = false;
  bool exited = false;
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;  // of its last event, or of its exit
  std::vector<ReadChunk> chunks;
  // Of a ring: its first chunks were used again.
  bool overwritten = false;
  std::uint64_t overwritten_to = 0;      // ticks
  std::uint64_t overwritten_events = 0;  // 0: not known
  bool end_overwritten = false;          // what followed its last event
};

struct ReadEvent {
  std::uint32_t process = 0;
  std::string_view json;
};

struct ReadStats {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;          // of threads()
  std::vector<std::uint64_t> bytes;  // a copy of the chunk, whose writer may be alive
};

// What add() has read does not change, so that any number of threads may read it at once; texts and
// problems that are found later are added to it behind locks of their own.
class Recording : public core::Immovable {
 public:
  // Reads the file, beside those read before: one recording, or several that follow one another.
  // False: it is no recording, and problem() of it is the last of problems(). Not while another
  // thread uses the Recording.
  bool add(const std::string& path);
  bool add(const std::string& path, std::vector<std::uint64_t> words, std::size_t bytes);

  const core::TextTable& strings() const noexcept { return strings_; }
  // One of them; absent: no_name, or there is none of that number.
  std::string_view text(std::int32_t number) const noexcept {
    const auto index = static_cast<std::size_t>(number);
    return number < 0 || index >= strings_.size() ? std::string_view() : strings_[index];
  }
  const std::vector<std::int32_t>& domains() const noexcept { return domains_; }  // names
  std::int64_t domain_called(std::string_view name) const;  // -1: none, or no name
  const std::vector<ReadSite>& sites() const noexcept { return sites_; }
  const std::vector<record::LaunchShape>& shapes() const noexcept { return shapes_; }
  const std::vector<ReadCounter>& counters() const noexcept { return counters_; }
  const std::vector<ReadProcess>& processes() const noexcept { return processes_; }
  const std::vector<ReadThread>& threads() const noexcept { return threads_; }
  const std::vector<ReadLoss>& losses() const noexcept { return losses_; }
  // In which a GPU's work was not recorded, or not all of it; by process and beginning.
  std::vector<ReadGap> gaps() const;
  const std::vector<ReadEvent>& events() const noexcept { return events_; }
  const std::vector<ReadStats>& stats_chunks() const noexcept { return stats_; }
  std::vector<std::string> problems() const;

  // A loss of that thread, its window given in ticks.
  ReadLoss loss_in(std::uint32_t thread, std::uint64_t from, std::uint64_t to, std::uint64_t count,
                   std::string_view reason) const;
  void add_problem(std::string text);
  std::int32_t intern(std::string_view text) { return strings_.add(text); }

 private:
  struct Loading;
  struct Definition;

  bool add(const std::string& path, std::uint64_t offset, std::uint64_t& next);
  bool add(const std::string& path, std::vector<std::uint64_t> words, std::size_t bytes,
           const FileCheck& check);
  bool read_header(ReadProcess& process, const std::vector<std::uint64_t>& words,
                   std::size_t bytes);
  void find_chunks(Loading& loading, const FileCheck& check);
  void read_definitions(Loading& loading, const ReadChunk& chunk);
  void find_damage(const Loading& loading, std::size_t first_thread, const FileCheck& check);
  void order_samples(Loading& loading, const FileCheck& check) const;
  ReadThread& thread(Loading& loading, std::uint32_t number, std::uint32_t tid);
  void resolve(Loading& loading);
  std::uint32_t domain_named(std::int32_t name);
  std::uint32_t domain_of(const Loading& loading, std::uint32_t local);
  ReadSite site_of(const Loading& loading, const record::SiteDefinition& read);
  void resolve_sites(Loading& loading);
  void resolve_counters(Loading& loading);
  void resolve_threads(Loading& loading);
  void resolve_thread_names(Loading& loading);
  void resolve_losses(const Loading& loading);
  void find_launches(std::uint32_t process, std::size_t first_thread);
  void find_undelivered(ReadProcess& process, std::size_t first_thread) const;
  void add_cut_loss(std::uint32_t process);
  void find_end(ReadProcess& process, std::size_t first_thread) const;

  std::vector<std::vector<std::uint64_t>> files_;
  core::TextTable strings_;
  std::vector<std::int32_t> domains_;
  std::unordered_map<std::int32_t, std::uint32_t> domain_ids_;
  std::vector<ReadSite> sites_{ReadSite{}};
  std::vector<record::LaunchShape> shapes_{record::LaunchShape{}};  // the first is none
  std::vector<ReadCounter> counters_;
  std::vector<ReadProcess> processes_;
  std::vector<ReadThread> threads_;
  std::vector<ReadLoss> losses_;
  std::vector<ReadEvent> events_;
  std::vector<ReadStats> stats_;
  mutable std::mutex problems_mutex_;
  std::vector<std::string> problems_;
};

// What tells ranges apart where several sites may have one name: domain, name and kind. Domains are
// below 2^29.
constexpr std::uint64_t name_key(const ReadSite& site, RangeKind kind = RangeKind::push_pop) {
  return std::uint64_t{site.domain} << 34 |
         std::uint64_t{static_cast<std::uint32_t>(site.name)} << 2 |
         static_cast<std::uint64_t>(kind);
}

// The backward pass of a name is another one.
constexpr std::uint64_t pass_key(const ReadSite& site, RangeKind kind) {
  return name_key(site, kind) | std::uint64_t{site.backward} << 63;
}

}  // namespace nvspan::reader
