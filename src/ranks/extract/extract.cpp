// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/extract/extract.hpp"

#include "ranks/extract/noted.hpp"
#include "ranks/traces/segments.hpp"
#include "ranks/traces/trace.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/payloads.hpp"
#include "reader/scan/range_scan.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace nvspan::ranks {
namespace {

// The fields of a collective's payload: our own, and NCCL's.
class CollectiveFields final : public trace::PayloadVisitor {
 public:
  std::int64_t group = 0, sequence = no_sequence, bytes = -1, size = -1, root = -1, rank = -1;
  std::int64_t asynchronous = 0, number = -1, early = 0, queued = 0;
  std::int64_t delayed = -1, computed = no_time;

  bool value(std::string_view name, const trace::PayloadValue& value) override {
    if (value.kind != trace::PayloadValue::Kind::integer &&
        value.kind != trace::PayloadValue::Kind::count) {
      return true;
    }
    const std::pair<std::string_view, std::int64_t*> all[] = {
        {"group", &group},
        {"NCCL communicator ID", &group},
        {"comm", &group},
        {"seq", &sequence},
        {"sequence", &sequence},
        {"bytes", &bytes},
        {"Message size [bytes]", &bytes},
        {"size", &size},
        {"No. of ranks", &size},
        {"root", &root},
        {"Root", &root},
        {"peer", &root},
        {"Peer", &root},
        {"rank", &rank},
        {"async", &asynchronous},
        {"step", &number},
        {"early", &early},
        {"queued", &queued},
        {"delayed", &delayed},
        {"computed", &computed},
    };
    for (const auto& [known, into] : all) {
      if (name == known) *into = value.integer;
    }
    return true;
  }
};

using reader::EntryPayload;
using reader::ScannedRange;

// Steps have the numbers that the program gives them where these count up; else they are counted.
void number_steps(std::vector<Step>& steps) {
  const auto no_later = [](const Step& a, const Step& b) { return b.number <= a.number; };
  const bool counts_up = std::adjacent_find(steps.begin(), steps.end(), no_later) == steps.end();
  if (counts_up && (steps.empty() || steps.front().number >= 0)) return;
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].number = static_cast<std::int64_t>(i);
}

enum class Role : std::uint8_t { work, collective, wait, step };

struct SiteRole {
  Role role = Role::work;
  CollectiveKind kind = CollectiveKind::none;
  bool enqueued = false;
  std::int32_t text = 0;
};

// Of an import: its times say nothing of the system's clock.
constexpr auto given_clock = static_cast<std::uint32_t>(record::ClockType::given);

// Recordings of before the rank was a field, as tests/data/nccl has, call the category of a
// collective "communicator 1f9a65b3c1a5e2d4, rank 0 of 4".
void read_rank_in_category(const std::string& category, CollectiveFields& fields) {
  const std::size_t comma = category.find(", rank "), last = category.find(" of ");
  if (comma == std::string::npos || last == std::string::npos) return;
  fields.rank = std::strtol(category.c_str() + comma + 7, nullptr, 10);
  fields.size = std::strtol(category.c_str() + last + 4, nullptr, 10);
}

class Extraction : public reader::RangeScan<Extraction> {
 public:
  Extraction(const reader::Recording& recording, const ExtractOptions& options,
             core::TextTable& texts)
      : RangeScan(recording, reader::Selection::whole()), payloads_(recording) {
    const auto has = [](const std::vector<std::string>& list, std::string_view text) {
      return std::find(list.begin(), list.end(), text) != list.end();
    };
    for (const reader::ReadSite& site : recording.sites()) {
      SiteRole role;
      const std::string_view name = recording.text(site.name);
      const std::string_view domain = recording.text(
          recording.domains().empty() ? reader::no_name : recording.domains()[site.domain]);
      role.text = texts.add(name.empty() ? "(no name)" : name);
      if (has(options.domains, domain)) {
        std::string operation = operation_name(name);
        constexpr std::string_view wait = "wait";
        role.role = Role::collective;
        if (operation.size() > wait.size() &&
            operation.compare(operation.size() - wait.size(), wait.size(), wait) == 0) {
          operation.resize(operation.size() - wait.size());
          role.role = Role::wait;
        }
        role.kind = operation_kind(operation);
        role.enqueued = has(options.enqueued, domain);
        if (role.kind == CollectiveKind::none) role.role = Role::work;
        if (role.kind != CollectiveKind::none) role.text = texts.add(operation);
      } else if (options.step_names.count({site.domain, site.name}) != 0) {
        role.role = Role::step;
      }
      roles_.push_back(role);
    }
    for (const LoopStep& step : options.steps) {
      if (threads.size() <= step.thread) threads.resize(step.thread + 1);
      threads[step.thread].steps.push_back(Step{-1, step.start, step.end});
    }
    for (ThreadWork& thread : threads) {
      std::sort(thread.steps.begin(), thread.steps.end(),
                [](const Step& a, const Step& b) { return a.start < b.start; });
    }
  }

  std::vector<ThreadWork> threads;                                    // by the recording's number
  std::map<std::uint32_t, std::vector<GpuStretch>> spans;             // by process
  std::map<std::uint32_t, std::vector<NotedCollective>> collectives;  // by process, as they ended

  void begin_thread(std::uint32_t thread) {
    if (threads.size() <= thread) threads.resize(thread + 1);
    work_ = &threads[thread];
  }
  std::uint64_t open(const reader::PushRange& range, std::uint64_t, const EntryPayload& payload) {
    const SiteRole& role = roles_[range.site];
    const std::int64_t at = time(range.start);
    if (role.role == Role::work) work_->enter(at, role.text);
    if (role.role == Role::work) return no_row;
    work_->enter(at, role.role == Role::step ? ThreadWork::outside : ThreadWork::waiting);
    CollectiveFields fields;
    read(range.site, payload, fields);
    if (role.role == Role::step) {
      std::vector<Step>& steps = work_->steps;
      const auto step =
          std::lower_bound(steps.begin(), steps.end(), at,
                           [](const Step& each, std::int64_t start) { return each.start < start; });
      if (step != steps.end() && step->start == at) step->number = fields.number;
      return no_row;
    }
    note_delay(role, fields, at);
    return note(role, fields, at);
  }
  void close(const reader::PushRange& range, std::uint64_t ticks, const EntryPayload&) {
    leave(range, time(ticks));
  }
  void unclosed(const reader::PushRange& range, std::uint64_t ticks, reader::EndReason) {
    leave(range, time(ticks));
  }
  // Start/end ranges: of collectives alone.
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t,
                       const EntryPayload& payload) {
    const SiteRole& role = roles_[range.site];
    if (role.role != Role::collective && role.role != Role::wait) return no_row;
    CollectiveFields fields;
    if (recording_.sites()[range.site].device == 0) {
      read(range.site, payload, fields);
      note_delay(role, fields, range.start);
      return note(role, fields, range.start);
    }
    const std::int64_t launched = read_device(range.site, payload, fields);
    const std::uint64_t row = note(role, fields, range.start);
    noted_[row].collective.device = true;
    noted_[row].launched = launched;
    return row;
  }
  void ended(const ScannedRange& range) {
    if (range.kind == reader::RangeKind::push_pop) return;
    if (range.reason != reader::EndReason::closed) return;
    const bool device = range.kind == reader::RangeKind::device;
    if (range.row == no_row) {
      if (device) spans_.push_back(GpuStretch{range.start, range.end, roles_[range.site].text});
      return;
    }
    Collective& collective = noted_[range.row].collective;
    collective.enqueued = collective.enqueued && !device;
    if (collective.enqueued) return;
    collective.end = range.end;
    if (collective.wait == no_time) collective.wait = collective.begin;
  }
  void end_process(std::uint32_t process) {
    collectives[process].swap(noted_);
    spans[process].swap(spans_);
    noted_.clear();
    spans_.clear();
  }

 private:
  std::uint64_t note(const SiteRole& role, const CollectiveFields& fields, std::int64_t at) {
    NotedCollective open;
    Collective& collective = open.collective;
    open.is_wait = role.role == Role::wait;
    collective.begin = at;
    const bool enqueued = role.enqueued || fields.queued != 0;
    const bool later = fields.asynchronous != 0 && !open.is_wait;  // it waits on a handle
    if (!later && !enqueued) collective.wait = at;
    collective.early = std::max<std::int64_t>(0, fields.early);
    // Exact, as `early` is not where the thread lost its core before the range began.
    if (fields.computed != no_time && process_->header.clock != given_clock) {
      collective.early = std::max(collective.early, at - fields.computed - process_->offset);
    }
    collective.group = static_cast<std::uint64_t>(fields.group);
    collective.sequence = fields.sequence;
    collective.bytes = fields.bytes;
    collective.size = static_cast<std::int32_t>(fields.size);
    collective.root = static_cast<std::int32_t>(fields.root);
    collective.rank = static_cast<std::int32_t>(fields.rank);
    collective.op = role.text;
    collective.kind = role.kind;
    collective.enqueued = enqueued;
    noted_.push_back(open);
    return noted_.size() - 1;
  }
  void note_delay(const SiteRole& role, const CollectiveFields& fields, std::int64_t at) {
    if (role.role == Role::wait || fields.delayed < 0) return;
    work_->delays.push_back(RunDelay{at, fields.delayed});
  }
  void leave(const reader::PushRange& range, std::int64_t at) {
    work_->leave(at);
    const Role role = roles_[range.site].role;
    if (role != Role::collective && role != Role::wait) return;
    noted_[range.row].call_end = at;
    Collective& collective = noted_[range.row].collective;
    if (collective.wait != no_time) collective.end = at;
    ++work_->collectives;
  }
  void read(std::uint32_t site, const EntryPayload& payload, CollectiveFields& fields) {
    if (payload.bytes != nullptr) {
      payloads_.read(recording_.threads()[thread_].process, recording_.sites()[site].local_domain,
                     payload.bytes, payload.bits, fields);
    } else if (payload.present) {
      fields.number = static_cast<std::int64_t>(payload.bits);
    }
  }

  // The communicator is the stream, its number of the collective the payload, the rank and the size
  // fields beside it: docs/ranks.md. Returns when the CPU called it, if that is known.
  std::int64_t read_device(std::uint32_t site, const EntryPayload& payload,
                           CollectiveFields& fields) {
    const reader::ReadSite& of = recording_.sites()[site];
    reader::DeviceCall call;
    reader::read_device_call(*process_, of, payload, call);
    if (call.payload.bytes == nullptr) read(site, payload, fields);
    fields.group = static_cast<std::int64_t>(call.stream != 0 ? call.stream : call.stream_handle);
    const bool pairs =
        roles_[site].kind == CollectiveKind::send || roles_[site].kind == CollectiveKind::receive;
    if (call.payload.present) {
      (pairs ? fields.root : fields.sequence) = static_cast<std::int64_t>(call.payload.bits);
    }
    if (fields.rank < 0 && of.category_name != reader::no_name) {
      read_rank_in_category(std::string(recording_.text(of.category_name)), fields);
    }
    if (fields.rank < 0 || fields.size <= fields.rank ||
        fields.size > std::numeric_limits<std::int32_t>::max()) {
      fields.rank = fields.size = -1;
    }
    return call.launched == 0 ? no_time : time(call.launched);
  }

  std::vector<SiteRole> roles_;
  std::vector<GpuStretch> spans_;
  std::vector<NotedCollective> noted_;
  reader::RecordedPayloads payloads_;
  ThreadWork* work_ = nullptr;
};

}  // namespace

std::vector<RankTrace> extract(const reader::Recording& recording, const ExtractOptions& options,
                               core::TextTable& texts) {
  const std::int32_t outside = texts.add("(outside of ranges)");
  Extraction extraction(recording, options, texts);
  extraction.run();
  std::vector<RankTrace> traces;
  for (std::uint32_t process = 0; process < recording.processes().size(); ++process) {
    const reader::ReadProcess& read = recording.processes()[process];
    ThreadWork* main = nullptr;
    for (std::size_t i = 0; i < extraction.threads.size(); ++i) {
      ThreadWork& thread = extraction.threads[i];
      if (recording.threads()[i].process != process) continue;
      if (main == nullptr || std::make_pair(thread.steps.size(), thread.collectives) >
                                 std::make_pair(main->steps.size(), main->collectives)) {
        main = &thread;
      }
    }
    if (main != nullptr) number_steps(main->steps);
    RankTrace trace;
    tell_calls(extraction.collectives[process]);
    trace.collectives = joined(extraction.collectives[process]);
    if (main == nullptr || (trace.collectives.empty() && main->steps.empty())) continue;
    trace.rank = read.header.rank;
    trace.process = process;
    trace.path = read.path;
    trace.pid = read.header.pid;
    const auto field = [](const char* text, std::size_t most) {
      std::string found(text, std::find(text, text + most, '\0'));
      while (!found.empty() && found.back() <= ' ') found.pop_back();
      return found;
    };
    trace.host = field(read.header.host, sizeof read.header.host);
    trace.boot_id = field(read.header.boot_id, sizeof read.header.boot_id);
    trace.device = by_device(extraction.collectives[process]);
    if (trace.device) {
      ThreadWork work = work_of(extraction.spans[process]);
      work.steps = std::move(main->steps);
      work.cut(trace, outside);
    } else {
      main->cut(trace, outside);
      if (!main->delays.empty()) take_off(trace, main->delays, texts.add("(without a core)"));
    }
    // Of the host's own clock, without what several files were moved by.
    move(trace, -read.offset);
    traces.push_back(std::move(trace));
  }
  return traces;
}

}  // namespace nvspan::ranks
