// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/window_scan.hpp"

#include "core/memory/path_table.hpp"
#include "reader/samples/sample_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace nvspan::reader {
namespace {

// Of one process.
class WindowJoin {
 public:
  WindowJoin(const ReadProcess& read, const std::vector<std::uint32_t>& places,
             const std::unordered_map<std::uint32_t, const WindowedThread*>& of_tids,
             const WindowUse& use)
      : read_(read), places_(places), use_(use), threads_(read.samples.threads.size()), slots_(1) {
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      const auto found = of_tids.find(read.samples.threads[i].tid);
      if (found != of_tids.end()) threads_[i].key = found->second;
    }
  }

  void run() {
    SampleScan<WindowJoin>(read_, *this).run();
    for (Thread& thread : threads_) flush(thread, no_window);
  }

  void reach(std::int64_t) {}
  void ended(std::uint32_t, std::int64_t) {}
  void parted(std::uint32_t) {}
  std::uint32_t sampled(std::uint32_t number, std::uint32_t stack, std::int64_t time) {
    Thread& of = threads_[number];
    if (of.key == nullptr) return 0;
    of.before = of.now;
    flush(of, of.before);
    const std::vector<SampleWindow>& windows = *of.key->windows;
    while (of.now < windows.size() && windows[of.now].end <= time) ++of.now;
    of.time = time;
    of.slot = slot_of(number, places_[stack]);
    return of.slot;
  }
  void count(std::uint32_t number, std::uint64_t samples) {
    if (number == 0) return;
    Thread& of = threads_[slots_[number].thread];
    if (is_in(of, of.now, of.time)) {
      entry(of, of.now, slots_[number].place).samples += static_cast<double>(samples);
    }
  }
  void credit(std::uint32_t number, TimeKind kind, std::int64_t from, std::int64_t ns) {
    if (number == 0) return;
    Thread& of = threads_[slots_[number].thread];
    const bool is_now = number == of.slot;
    const std::int64_t time = is_now ? of.time : from;
    std::size_t at = is_now ? of.now : of.before;
    while (at < of.key->windows->size() && (*of.key->windows)[at].end <= time) ++at;
    if (!is_in(of, at, time)) return;
    entry(of, at, slots_[number].place).ns[static_cast<std::size_t>(kind)] +=
        static_cast<std::uint64_t>(ns);
  }
  void stood(std::uint32_t number, TimeKind kind, std::int64_t from, std::int64_t ns,
             std::uint64_t looks) {
    if (number == 0 || ns <= 0) return;
    Thread& of = threads_[slots_[number].thread];
    const std::vector<SampleWindow>& windows = *of.key->windows;
    const std::int64_t until = from + ns;
    for (std::size_t at = of.now; at < windows.size() && windows[at].start < until; ++at) {
      const std::int64_t here =
          std::min(until, windows[at].end) - std::max(from, windows[at].start);
      if (here <= 0) continue;
      Entry& of_place = entry(of, at, slots_[number].place);
      of_place.ns[static_cast<std::size_t>(kind)] += static_cast<std::uint64_t>(here);
      of_place.samples +=
          static_cast<double>(looks) * static_cast<double>(here) / static_cast<double>(ns);
    }
  }

 private:
  static constexpr std::size_t no_window = ~std::size_t{0};
  static constexpr std::size_t few_entries = 4096;

  struct Entry {
    std::size_t window;
    std::uint32_t place;
    double samples;
    std::array<std::uint64_t, time_kinds> ns;
  };
  struct Thread {
    const WindowedThread* key = nullptr;
    std::int64_t time = 0;           // of the latest sample
    std::uint32_t slot = 0;          // likewise
    std::size_t now = 0;             // its window, or the next one
    std::size_t before = 0;          // that of the sample before
    std::size_t first = no_window;   // of `entries`
    std::size_t most = few_entries;  // entries, before those of one place and window are merged
    std::vector<Entry> entries;
  };
  struct Slot {
    std::uint32_t thread = 0, place = 0;
  };

  static bool is_in(const Thread& of, std::size_t window, std::int64_t time) {
    const std::vector<SampleWindow>& windows = *of.key->windows;
    return window < windows.size() && windows[window].start <= time && time < windows[window].end;
  }
  std::uint32_t slot_of(std::uint32_t thread, std::uint32_t place) {
    std::uint64_t& number = numbers_[{thread, place}];
    if (number == core::PathTable::none) {
      number = slots_.size();
      slots_.push_back({thread, place});
    }
    return static_cast<std::uint32_t>(number);
  }
  static Entry& entry(Thread& of, std::size_t window, std::uint32_t place) {
    if (!of.entries.empty()) {
      Entry& last = of.entries.back();
      if (last.window == window && last.place == place) return last;
    }
    if (of.entries.size() >= of.most) {
      merge(of.entries);
      of.most = std::max(few_entries, 2 * of.entries.size());
    }
    of.first = std::min(of.first, window);
    of.entries.push_back(Entry{window, place, 0, {}});
    return of.entries.back();
  }
  static void merge(std::vector<Entry>& entries) {
    const auto key = [](const Entry& one) { return std::make_pair(one.window, one.place); };
    std::sort(entries.begin(), entries.end(),
              [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
    std::size_t count = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (count != 0 && key(entries[count - 1]) == key(entries[i])) {
        entries[count - 1].samples += entries[i].samples;
        for (std::size_t kind = 0; kind < time_kinds; ++kind) {
          entries[count - 1].ns[kind] += entries[i].ns[kind];
        }
      } else {
        entries[count++] = entries[i];
      }
    }
    entries.resize(count);
  }
  // Gives away the windows before this one: nothing comes to them any more.
  void flush(Thread& of, std::size_t window) {
    if (of.first >= window) return;
    merge(of.entries);
    auto next = of.entries.begin();
    while (next != of.entries.end() && next->window < window) {
      const std::size_t at = next->window;
      times_.clear();
      for (; next != of.entries.end() && next->window == at; ++next) {
        PlaceTime one{next->place, {}};
        one.time.samples = static_cast<std::uint64_t>(std::llround(next->samples));
        one.time.ns = next->ns;
        times_.push_back(one);
      }
      use_(*of.key, (*of.key->windows)[at], times_);
    }
    of.entries.erase(of.entries.begin(), next);
    of.first = of.entries.empty() ? no_window : of.entries.front().window;
  }

  const ReadProcess& read_;
  const std::vector<std::uint32_t>& places_;  // of each stack
  const WindowUse& use_;
  std::vector<Thread> threads_;
  std::vector<Slot> slots_;  // 0: left out
  core::PathTable numbers_;
  std::vector<PlaceTime> times_;
};

}  // namespace

std::vector<SampleWindow> ordered_windows(std::vector<SampleWindow> windows) {
  std::sort(windows.begin(), windows.end(),
            [](const SampleWindow& a, const SampleWindow& b) { return a.start < b.start; });
  std::vector<SampleWindow> ordered;
  for (SampleWindow window : windows) {
    if (!ordered.empty()) {
      SampleWindow& last = ordered.back();
      if (window.set == last.set && window.start < last.end) {
        last.end = std::max(last.end, window.end);
        continue;
      }
      window.start = std::max(window.start, last.end);
    }
    if (window.start < window.end) ordered.push_back(window);
  }
  return ordered;
}

void scan_windows(const Recording& recording, const std::vector<WindowedThread>& threads,
                  const WindowedLines& lines, std::vector<LinePlace>& places,
                  const WindowUse& use) {
  LinePlaces numbers(recording, lines.key, places);
  for (std::uint32_t process = 0; process < recording.processes().size(); ++process) {
    const ReadProcess& read = recording.processes()[process];
    std::unordered_map<std::uint32_t, const WindowedThread*> of_tids;
    for (const WindowedThread& thread : threads) {
      if (thread.process == process) of_tids[thread.tid] = &thread;
    }
    if (of_tids.empty() || read.samples.chunks.empty()) continue;
    const ShownStacks shown(read.samples, numbers,
                            hidden_codes(recording, read.samples, lines.key, lines.hidden));
    WindowJoin(read, shown.self, of_tids, use).run();
  }
}

}  // namespace nvspan::reader
