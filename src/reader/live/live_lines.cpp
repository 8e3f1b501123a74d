// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_lines.hpp"

#include "reader/chunks/sample_records.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace nvspan::reader {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 20;  // of all chunks
constexpr std::uint64_t read_at_once = 4096;
// Threads that the newest one does not speak of yet are in the one before.
constexpr std::uint64_t recent_chunks = 2;

// The line of each stack: that of the innermost frame that is shown.
class ShownFrames {
 public:
  ShownFrames(const SampledCode& code, const std::vector<bool>& hidden)
      : code_(code), hidden_(hidden), shown_(code.stacks(), unknown) {}

  std::uint32_t shown(std::uint32_t stack) {
    const std::uint32_t found = innermost(stack);
    return found == 0 ? stack : found;
  }
  std::uint64_t line(std::uint32_t stack) {
    const record::FrameDefinition frame = code_.frame(shown(stack));
    return std::uint64_t{code_.file(frame.code)} << 32 | frame.line;
  }

 private:
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};

  bool is_hidden(std::uint32_t stack) const {
    const std::uint32_t number = code_.frame(stack).code;
    return number < hidden_.size() && hidden_[number];
  }
  // 0: all of them are hidden.
  std::uint32_t innermost(std::uint32_t stack) {
    std::uint32_t at = stack;
    while (at != 0 && shown_[at] == unknown && is_hidden(at)) at = code_.caller(at);
    const std::uint32_t found = at != 0 && shown_[at] != unknown ? shown_[at] : at;
    for (std::uint32_t each = stack; each != at; each = code_.caller(each)) shown_[each] = found;
    if (at != 0) shown_[at] = found;
    return found;
  }

  const SampledCode& code_;
  const std::vector<bool>& hidden_;
  std::vector<std::uint32_t> shown_;
};

// Follows the samples of each thread back from its newest one, chunk by chunk.
class LineWalk {
 public:
  LineWalk(const SampledCode& code, const std::vector<bool>& hidden)
      : code_(code),
        shown_(code, hidden),
        reader_(std::max<std::size_t>(code.threads(), 1), code.stacks()) {}

  // The chunk before the one that was read last. In a `recent` one further threads are found.
  void read(const std::vector<std::uint8_t>& records, std::uint64_t base_ticks, bool recent) {
    runs_.clear();
    const std::uint64_t last = read_runs(records, base_ticks);
    if (looked_ == 0) looked_ = last;
    for (auto& [thread, place] : found_) {
      const auto run = runs_.find(thread);
      if (!place.open) continue;
      place.open = false;
      if (run == runs_.end()) continue;
      place.at_least = run->second.line == place.line && !run->second.moved;
      if (run->second.line != place.line) continue;
      place.since = run->second.since;
      place.open = !run->second.moved;
    }
    for (const auto& [thread, run] : runs_) {
      if (!recent || found_.count(thread) != 0) continue;
      found_[thread] = Place{run.line,   run.since, run.stack, run.state, !run.ended && !run.moved,
                             !run.moved, run.ended};
    }
  }
  bool is_done() const {
    return std::none_of(found_.begin(), found_.end(),
                        [](const auto& each) { return each.second.open; });
  }

  LiveLines take() {
    LiveLines lines;
    lines.looked = looked_;
    std::unordered_map<std::uint32_t, std::uint32_t> newest;  // of threads that had one number
    for (const auto& [thread, place] : found_) {
      std::uint32_t& number = newest[code_.tid(thread)];
      if (!place.ended) number = std::max(number, thread);
    }
    for (const auto& [tid, thread] : newest) {
      if (thread == 0) continue;
      const Place& place = found_[thread];
      lines.threads.push_back(LiveLine{tid, place.stack, shown_.shown(place.stack), place.state,
                                       place.since, place.at_least});
    }
    std::sort(lines.threads.begin(), lines.threads.end(),
              [](const LiveLine& a, const LiveLine& b) { return a.tid < b.tid; });
    return lines;
  }

 private:
  // The newest samples of a thread in one chunk that are at one line.
  struct Run {
    std::uint64_t line = 0;
    std::uint64_t since = 0;
    std::uint32_t stack = 0;
    record::SampleState state = record::SampleState::waiting;
    bool moved = false;  // before, it was at another one
    bool ended = false;
  };
  struct Place {
    std::uint64_t line = 0;
    std::uint64_t since = 0;
    std::uint32_t stack = 0;
    record::SampleState state = record::SampleState::waiting;
    bool open = false;  // it may have begun in the chunk before
    bool at_least = true;
    bool ended = false;
  };

  // The ticks of the last record; 0: there is none.
  std::uint64_t read_runs(const std::vector<std::uint8_t>& records, std::uint64_t base_ticks) {
    reader_.start(records.data(), records.data() + records.size(), base_ticks);
    std::uint64_t last = 0;
    SampleRecord record;
    for (SampleStep step; (step = reader_.next(record)) <= SampleStep::note;) {
      last = record.ticks;
      if (step == SampleStep::sample && record.thread != 0) {
        sample(record);
      } else if (step == SampleStep::note && record.note == record::SampleNote::ended) {
        const auto run = runs_.find(static_cast<std::uint32_t>(record.numbers[0]));
        if (run != runs_.end()) {
          run->second.ended = true;
        } else if (record.numbers[0] != 0 && record.numbers[0] < code_.threads()) {
          runs_[static_cast<std::uint32_t>(record.numbers[0])].ended = true;
        }
      }
    }
    return last;
  }

  void sample(const SampleRecord& record) {
    const auto [found, is_first] = runs_.try_emplace(record.thread);
    Run& run = found->second;
    if (!is_first && run.stack == record.stack) {
      run.state = record.state;
      return;
    }
    const std::uint64_t line = shown_.line(record.stack);
    if (is_first || run.line != line) {
      run.moved = !is_first;
      run.since = record.ticks;
      run.line = line;
    }
    run.stack = record.stack;
    run.state = record.state;
  }

  const SampledCode& code_;
  ShownFrames shown_;
  SampleReader reader_;
  std::uint64_t looked_ = 0;
  std::unordered_map<std::uint32_t, Run> runs_;  // of the chunk
  std::unordered_map<std::uint32_t, Place> found_;
};

}  // namespace

LineFinder::LineFinder(const record::LiveSection& live, ByteSource& file)
    : file_(file), newest_(live.samples.load(std::memory_order_acquire)), left_(most_bytes) {
  for (std::size_t i = 0; i < record::live_sample_chunks; ++i) {
    offsets_[i] = live.sample_chunks[i].load(std::memory_order_acquire);
  }
  copied_ = newest_ != 0 && copy(newest_);
}

LiveLines LineFinder::find(const SampledCode& code, const std::vector<bool>& hidden) {
  LineWalk walk(code, hidden);
  const std::uint64_t most = std::min<std::uint64_t>(newest_, record::live_sample_chunks);
  for (std::uint64_t back = 0; back < most; ++back) {
    if (back != 0) copied_ = copied_ && copy(newest_ - back);
    if (!copied_) break;
    walk.read(records_, base_ticks_, back < recent_chunks);
    if (back + 1 >= recent_chunks && walk.is_done()) break;
  }
  return walk.take();
}

// The records of a chunk, up to the first zero. False: it is not there any more, or too long.
bool LineFinder::copy(std::uint64_t number) {
  const std::uint64_t offset = offsets_[number % record::live_sample_chunks];
  record::ChunkHeader header = {};
  const auto is_it = [&] {
    return file_.chunk_at(offset, header) && header.number == number &&
           header.type == static_cast<std::uint32_t>(record::ChunkType::samples);
  };
  records_.clear();
  if (!is_it()) return false;
  base_ticks_ = header.base_ticks;
  const std::uint64_t end = header.size;
  for (std::uint64_t at = sizeof header; at < end;) {
    const FileSpan span = file_.bytes(offset + at, std::min(end - at, read_at_once));
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(span.data());
    const std::uint8_t* const stop = std::find(begin, begin + span.size(), 0);
    if (static_cast<std::size_t>(stop - begin) > left_) return false;
    left_ -= static_cast<std::size_t>(stop - begin);
    records_.insert(records_.end(), begin, stop);
    if (stop == begin + span.size() && span.size() != 0) {
      at += span.size();
      continue;
    }
    break;
  }
  return is_it();
}

}  // namespace nvspan::reader
