// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a file had and has not any more: of which thread, from when to when, how many events.

#include "reader/file/chunk_scan.hpp"
#include "reader/file/loading.hpp"
#include "reader/file/recording.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace nvspan::reader {
namespace {

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string several(std::uint64_t count, const char* noun) {
  return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

// Collects a file's losses, of which some are of an unknown number of events.
class Losses {
 public:
  Losses(const ReadProcess& process, std::uint32_t index) : process_(process), index_(index) {}

  void add(std::int64_t thread, std::int64_t from, std::int64_t to, std::uint64_t count,
           std::string_view reason) {
    ReadLoss loss;
    loss.process = index_;
    loss.thread = thread;
    loss.from = std::min(from, to);
    loss.to = std::max(from, to);
    loss.count = count;
    loss.reason = reason;
    rows.push_back(loss);
  }
  std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const ReadLoss& loss : rows) sum += loss.count;
    return sum;
  }
  // Of all threads together so many are missing beside those that are counted.
  void add_rest(std::uint64_t rest, std::string_view reason) {
    const auto open = [](const ReadLoss& loss) { return loss.count == 0; };
    if (rest == 0) {
      rows.erase(std::remove_if(rows.begin(), rows.end(), open), rows.end());
      return;
    }
    const auto unknown = std::count_if(rows.begin(), rows.end(), open);
    if (unknown == 1) {
      std::find_if(rows.begin(), rows.end(), open)->count = rest;
      return;
    }
    std::int64_t from = process_.end;
    for (const ReadLoss& loss : rows) {
      if (open(loss)) from = std::min(from, loss.from);
    }
    if (unknown == 0) from = process_.time(process_.header.first.ticks);
    add(-1, from, process_.end, rest, reason);
  }

  std::vector<ReadLoss> rows;

 private:
  const ReadProcess& process_;
  std::uint32_t index_;
};

}  // namespace

std::string_view loss_reason_text(record::LossReason reason) {
  switch (reason) {
    case record::LossReason::reentered:
      return "signal handler";
    case record::LossReason::no_space:
      return "no space";
    case record::LossReason::no_memory:
      return "no memory";
    case record::LossReason::too_deep:
      return "nested too deeply";
    case record::LossReason::name_budget:
      return "past the budget for names";
    case record::LossReason::tool_dropped:
      return "dropped by CUPTI";
    case record::LossReason::no_times:
      return "GPU work without times";
  }
  return "unknown";
}

void Recording::find_damage(const Loading& loading, std::size_t first_thread,
                            const FileCheck& check) {
  const ReadProcess& process = loading.process;
  const bool ring = process.was_ring ||
                    process.header.mode == static_cast<std::uint32_t>(record::RecordMode::ring);
  const bool full = process.header.mode == static_cast<std::uint32_t>(record::RecordMode::full);
  const bool gone =
      check.missing_bytes != 0 || check.damaged_bytes != 0 || check.missing_chunks != 0;
  const std::string_view gone_text =
      check.missing_bytes != 0 && check.damaged_bytes == 0 ? cut_off_text : damaged_text;
  // Where there was no space a definition may be missing that nobody damaged.
  const auto& lost = process.header.losses;
  const bool ran_out = process.header.loss.count != 0 ||
                       std::any_of(std::begin(lost), std::end(lost),
                                   [](const record::LossWindow& loss) { return loss.count != 0; });
  const auto incomplete_string =
      std::count(loading.strings.begin(), loading.strings.end(), no_name);
  const auto incomplete_site = std::count(process.sites.begin(), process.sites.end(), unknown_site);
  const bool look_into_all =
      gone || incomplete_string != 0 || incomplete_site != 0 || loading.damaged_definitions != 0;

  // A ring's chunk may be used again between the looks at the ones before and after it. Of a
  // process that has ended, whatever is missing leaves a place without a chunk.
  // One that was recorded whole before it became a ring has its gap in the middle.
  const bool may_skip = check.moving || (ring && !gone && (!check.closed || process.was_ring));
  Losses losses(process, loading.index);
  std::uint64_t damaged_chunks = process.samples.damaged;
  std::uint64_t kept_events = 0;
  std::uint64_t unknown_events = 0;
  std::uint64_t defined_threads = 0;
  for (std::size_t i = first_thread; i < threads_.size(); ++i) {
    ReadThread& thread = threads_[i];
    const auto row = static_cast<std::int64_t>(i);
    if (thread.defined) ++defined_threads;
    std::vector<ReadChunk> kept;
    std::uint64_t number = 0;
    std::uint64_t recorded = 0;
    std::uint64_t last = thread.start_ticks;
    const auto lose = [&](std::uint64_t from, std::uint64_t to, std::uint64_t count,
                          std::string_view reason) {
      losses.add(row, process.time(from), to == 0 ? process.end : process.time(to), count, reason);
    };
    for (std::size_t k = 0; k < thread.chunks.size(); ++k) {
      ReadChunk& chunk = thread.chunks[k];
      if (chunk.number <= number) continue;  // there can be no second one
      const ReadChunk* next = k + 1 < thread.chunks.size() ? &thread.chunks[k + 1] : nullptr;
      if (ring && number == 0) {
        thread.overwritten = chunk.number != 1;
        thread.overwritten_to = chunk.base_ticks;
        thread.overwritten_events = chunk.before;
      } else if (chunk.number != number + 1 && may_skip) {
        thread.overwritten = ring;
        thread.overwritten_to = chunk.base_ticks;
        thread.overwritten_events += chunk.before > recorded ? chunk.before - recorded : 0;
      } else if (chunk.number != number + 1) {
        lose(last, chunk.base_ticks, chunk.before > recorded ? chunk.before - recorded : 0,
             gone_text);
      }
      number = chunk.number;
      // What the chunk held, and until when: by its seal, else by what follows.
      const bool followed = next != nullptr && next->number == number + 1;
      std::uint64_t events = chunk.events;
      std::uint64_t until = chunk.last_ticks;
      bool known = chunk.sealed;
      if (!chunk.sealed && followed && !check.moving) {
        known = next->before >= chunk.before;
        events = known ? next->before - chunk.before : 0;
        until = next->base_ticks;
      }
      if (chunk.state == ChunkState::damaged) {
        ++damaged_chunks;
        lose(chunk.base_ticks, until, events, damaged_text);
        recorded = chunk.before + events;
        last = std::max(chunk.base_ticks, until);
        continue;
      }
      ChunkScan scan;
      if (chunk.state != ChunkState::whole || look_into_all) {
        scan = scan_chunk(*this, process, chunk);
        if (scan.last != nullptr && may_end_in_filling(chunk, scan.end)) {
          chunk.end = scan.last;
          scan = scan_chunk(*this, process, chunk);
        }
        unknown_events += scan.unknown;
        if (!chunk.sealed && known) events -= std::min(events, scan.lost);
        const bool incomplete = scan.damaged || (known && scan.events < events);
        const std::uint64_t count = known && events > scan.events ? events - scan.events : 0;
        if (chunk.state == ChunkState::cut) {
          if (!known || count != 0) lose(scan.last_ticks, until, count, cut_off_text);
        } else if (incomplete) {
          lose(scan.last_ticks, until, count, damaged_text);
        }
      } else {
        scan.events = events;
      }
      kept_events += scan.events;
      recorded = chunk.before + (known ? events : scan.events) + scan.lost;
      last = known ? until : scan.last_ticks;
      kept.push_back(chunk);
    }
    const ReadChunk* final = thread.chunks.empty() ? nullptr : &thread.chunks.back();
    // Of a file in progress the next chunk may be newer than what was read.
    if (final != nullptr && final->sealed && !final->last && (gone || check.closed)) {
      // Chunks of a ring differ in size where it was recorded whole before, or where a thread had
      // none: the oldest that is large enough is used again, which may be a thread's last.
      thread.end_overwritten = ring && !gone;
      if (!thread.end_overwritten) lose(last, 0, 0, gone_text);
    } else if (final == nullptr && full && gone) {
      lose(thread.start_ticks, 0, 0, gone_text);
    } else if (final == nullptr && ring) {
      // A thread is known by its first event: others took all its chunks.
      thread.overwritten = true;
      thread.overwritten_to = thread.start_ticks;
    }
    thread.chunks = std::move(kept);
  }
  if (check.closed && full && (gone || damaged_chunks != 0 || !losses.rows.empty())) {
    const std::uint64_t known = kept_events + losses.count();
    const std::uint64_t recorded = process.header.events;
    losses.add_rest(recorded > known ? recorded - known : 0, gone_text);
  }
  // Of one that was cut while it was written add_cut_loss() says how many are missing in all.
  if ((process.header.flags & record::file_cut) != 0) return;
  for (const ReadChunk& chunk : loading.lost_stats) {
    const auto found = loading.threads.find(chunk.thread);
    ++damaged_chunks;
    losses.add(found->second, process.time(chunk.base_ticks),
               chunk.last_ticks == 0 ? process.end : process.time(chunk.last_ticks), chunk.events,
               chunk.state == ChunkState::cut ? cut_off_text : damaged_text);
  }
  const std::uint64_t missing_events = losses.count();
  losses_.insert(losses_.end(), losses.rows.begin(), losses.rows.end());

  const auto add = [&](const std::string& text) { add_problem(process.path + ": " + text); };
  if (check.missing_bytes != 0) {
    add("cut off: " + grouped(loading.bytes) + " of " + grouped(check.expected) +
        " bytes are left");
  }
  if (check.damaged_bytes != 0) {
    add(several(check.damaged_bytes, "byte") + " are damaged and hold no readable chunk");
  }
  if (damaged_chunks != 0) {
    add(several(damaged_chunks, "chunk") +
        (damaged_chunks == 1 ? " does not match its checksum and is left out"
                             : " do not match their checksums and are left out"));
  }
  if (check.missing_chunks != 0) {
    add(grouped(check.missing_chunks) + " of " + several(process.header.chunks, "chunk") +
        " are missing");
  }
  if (check.header_damaged) {
    add("the header is damaged: times, clock, command and rank may be wrong");
  }
  if (check.surplus_bytes != 0)
    add(several(check.surplus_bytes, "byte") + " follow the end of the recording");
  if (loading.damaged_definitions != 0) {
    add(several(loading.damaged_definitions, "byte") +
        " of definitions (names, domains, schemas) " + "are damaged");
  }
  if (unknown_events != 0 || (!ran_out && (incomplete_string != 0 || incomplete_site != 0))) {
    add("definitions are missing: " + several(unknown_events, "event") +
        " are shown without name and domain");
  }
  if (check.closed && !ran_out && process.header.threads > defined_threads) {
    add(grouped(process.header.threads - defined_threads) + " of " +
        several(process.header.threads, "thread") + " are missing");
  }
  if (missing_events != 0) {
    add(several(missing_events, "recorded event") + (missing_events == 1 ? " is" : " are") +
        " missing");
  } else if (!losses.rows.empty()) {
    add("events are missing; their number is unknown");
  }
  if (process.samples.missing != 0) {
    add(several(process.samples.missing, "sample") + " of where its threads were" +
        (process.samples.missing == 1 ? " is" : " are") + " missing");
  } else if (process.samples.has_gap) {
    add("samples of where its threads were are missing; their number is unknown");
  }
}

}  // namespace nvspan::reader
