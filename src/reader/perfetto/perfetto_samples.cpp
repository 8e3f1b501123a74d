// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/perfetto/perfetto_samples.hpp"

#include "reader/samples/shown_stacks.hpp"
#include "reader/samples/stack_functions.hpp"
#include "reader/samples/stretches.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace nvspan::reader {
namespace {

using namespace perfetto;

std::string_view without_folders(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// Functions and lines as slices are called: even numbers are functions, odd ones lines.
class SliceNames {
 public:
  SliceNames(const Recording& recording, const std::vector<LinePlace>& functions,
             const std::vector<LinePlace>& lines)
      : recording_(recording), functions_(functions), lines_(lines) {}

  struct Slice {
    std::string begin;  // the fields of a TrackEvent
    ProtoBytes names;
  };
  const Slice& of(std::uint32_t number) {
    if (number >= slices_.size()) slices_.resize(number + 1);
    std::unique_ptr<Slice>& slice = slices_[number];
    if (slice == nullptr) slice = std::make_unique<Slice>(make(number));
    return *slice;
  }

 private:
  Slice make(std::uint32_t number) const {
    const bool is_line = number % 2 != 0;
    const LinePlace& place = (is_line ? lines_ : functions_)[number / 2];
    const std::string file(place.file < 0 ? "?" : recording_.text(place.file));
    const std::uint32_t line = is_line ? place.line : place.first_line;
    const std::string where = line == 0 ? "" : ":" + std::to_string(line);
    const std::string function(place.function < 0 ? "?" : recording_.text(place.function));
    Slice slice;
    const auto intern = [&](unsigned field, std::string_view text) {
      ProtoBytes entry;
      entry.number(interned::iid, number + std::uint64_t{1});
      entry.text(interned::name, text);
      slice.names.message(field, entry);
    };
    intern(interned_data::event_names,
           is_line ? std::string(without_folders(file)) + where : function);
    intern(interned_data::debug_annotation_string_values, file + where);
    ProtoBytes fields;
    fields.number(track_event::name_iid, number + std::uint64_t{1});
    ProtoBytes source;
    source.number(debug_annotation::name_iid, static_cast<std::uint64_t>(ArgumentName::source));
    source.number(debug_annotation::string_value_iid, number + std::uint64_t{1});
    fields.message(track_event::debug_annotations, source);
    slice.begin = slice_begin;
    slice.begin += fields.view();
    return slice;
  }

  const Recording& recording_;
  const std::vector<LinePlace>& functions_;
  const std::vector<LinePlace>& lines_;
  std::vector<std::unique_ptr<Slice>> slices_;
};

// The lanes of one process.
class ProcessSamples {
 public:
  ProcessSamples(TraceFile& file, const Recording& recording, const Selection& selection,
                 std::uint32_t process, SliceNames& names, SampleLanes& lanes)
      : file_(file),
        recording_(recording),
        selection_(selection),
        process_(process),
        names_(names),
        lanes_(lanes),
        threads_(recording.processes()[process].samples.threads.size()) {}

  void run(const ShownStacks& functions, const ShownStacks& lines) {
    const ReadProcess& process = recording_.processes()[process_];
    StackFunctions functions_of(process.samples, functions);
    const auto write = [&](Thread& thread, const Stretch& stretch) {
      const StackFunctions::Functions now = functions_of.of(stretch.stack);
      slices_.clear();
      for (std::size_t i = 0; i < now.count; ++i) slices_.push_back(2 * now.first[i]);
      slices_.push_back(2 * lines.self[stretch.stack] + 1);
      change(thread, stretch.from, stretch.to);
    };
    const std::vector<bool> wanted = wanted_threads(recording_, process_, selection_);
    const auto take = [&](std::uint32_t number, std::uint32_t stack, std::int64_t from,
                          std::int64_t to) {
      Thread& thread = threads_[number];
      if (!selection_.takes_time(from) || !wanted[number]) return;
      const Stretch stretch{stack, from, to};
      if (thread.lane == nullptr) {
        if (!has_track(number) && (!thread.first || thread.first->stack == stack)) {
          if (!thread.first) thread.first = stretch;
          thread.first->to = to;
          return;
        }
        begin(thread, number);
        if (thread.first) write(thread, *thread.first);
      }
      write(thread, stretch);
    };
    SampleStretches<decltype(take)>(process, take).run();
    for (Thread& thread : threads_) {
      if (thread.lane != nullptr) close(thread, 0);
    }
  }

 private:
  struct Stretch {
    std::uint32_t stack;
    std::int64_t from, to;
  };
  struct Thread {
    std::unique_ptr<Lane> lane;
    std::optional<Stretch> first;     // where nothing is written yet
    std::vector<std::uint32_t> open;  // slices
    std::int64_t end = 0;
  };

  std::pair<std::uint32_t, std::uint32_t> key_of(std::uint32_t number) const {
    return {process_, recording_.processes()[process_].samples.threads[number].tid};
  }
  bool has_track(std::uint32_t number) const {
    return key_of(number).second == recording_.processes()[process_].header.pid ||
           lanes_.threads.count(key_of(number)) != 0;
  }
  void begin(Thread& thread, std::uint32_t number) {
    const auto key = key_of(number);
    std::uint64_t& parent = lanes_.threads[key];
    if (parent == 0) {
      Track track;
      track.uuid = parent = lanes_.next_track++;
      track.kind = TrackKind::thread;
      track.pid = lanes_.pids[process_];
      track.tid = key.second;
      write_track(file_, track);
    }
    const std::string& name = lanes_.names[key];
    Track lane;
    lane.uuid = lanes_.next_track++;
    lane.parent = parent;
    lane.name = name.empty() ? "samples" : name + " · samples";
    write_track(file_, lane);
    thread.lane = std::make_unique<Lane>(lanes_.next_sequence++, lane.uuid);
  }
  void change(Thread& thread, std::int64_t from, std::int64_t to) {
    std::size_t same = 0;
    if (from == thread.end) {
      const std::size_t most = std::min(slices_.size(), thread.open.size());
      while (same < most && thread.open[same] == slices_[same]) ++same;
    }
    close(thread, same);
    for (std::size_t i = same; i < slices_.size(); ++i) {
      const SliceNames::Slice& slice = names_.of(slices_[i]);
      if (!thread.lane->knows(slices_[i])) {
        thread.lane->define(file_, slices_[i], from, slice.names);
      }
      thread.lane->event(file_, from, slice.begin, {});
      thread.open.push_back(slices_[i]);
    }
    thread.end = to;
  }
  void close(Thread& thread, std::size_t level) {
    for (; thread.open.size() > level; thread.open.pop_back()) {
      thread.lane->event(file_, thread.end, slice_end, {});
    }
  }

  TraceFile& file_;
  const Recording& recording_;
  const Selection& selection_;
  const std::uint32_t process_;
  SliceNames& names_;
  SampleLanes& lanes_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> slices_;  // of the stack that is taken
};

}  // namespace

void write_samples(TraceFile& file, const Recording& recording, const Selection& selection,
                   const std::vector<bool>& hidden, SampleLanes& lanes) {
  if (!selection.sites.empty()) return;
  LineOptions options;
  options.key = LineKey::function;
  options.hidden = hidden;
  std::vector<LinePlace> functions, lines;
  LinePlaces of_functions(recording, LineKey::function, functions);
  LinePlaces of_lines(recording, LineKey::line, lines);
  SliceNames names(recording, functions, lines);
  for (std::uint32_t i = 0; i < recording.processes().size(); ++i) {
    const SampleTables& tables = recording.processes()[i].samples;
    if (tables.chunks.empty()) continue;
    const std::vector<bool> codes = hidden_codes(recording, tables, options.key, options.hidden);
    const ShownStacks shown_functions(tables, of_functions, codes);
    const ShownStacks shown_lines(tables, of_lines, codes);
    ProcessSamples(file, recording, selection, i, names, lanes).run(shown_functions, shown_lines);
  }
}

}  // namespace nvspan::reader
