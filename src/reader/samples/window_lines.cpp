// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/window_lines.hpp"

#include "core/memory/path_table.hpp"
#include "core/statistics/student_t.hpp"
#include "reader/samples/share_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::size_t share_blocks = 40;  // of time, as samples that follow one another are alike

// The windows, cut so that each lies in one block of time, which is its set.
std::vector<SampleWindow> in_blocks(const std::vector<SampleWindow>& windows, std::int64_t begin,
                                    std::int64_t block) {
  std::vector<SampleWindow> cut;
  for (SampleWindow window : windows) {
    while (window.start < window.end) {
      const std::int64_t number = (window.start - begin) / block;
      const std::int64_t end = std::min(window.end, begin + (number + 1) * block);
      cut.push_back(SampleWindow{window.start, end, static_cast<std::uint32_t>(number)});
      window.start = end;
    }
  }
  return cut;
}

// The sums of a place over the steps of both sets.
struct GainSums {
  std::array<SampleTime, 2> time;
  std::array<double, 2> squares = {};  // of the time in each step
};

// The variance of the mean of a place in a step: as steps differ, and at least as a number of
// independent samples would.
double variance(const SampleTime& time, double squares, double steps) {
  const double mean = static_cast<double>(time.all()) / steps;
  const double of_samples = time.samples == 0 ? 0 : mean * mean / static_cast<double>(time.samples);
  if (steps < 2) return of_samples;
  return std::max(of_samples, std::max(0.0, squares / steps - mean * mean) / (steps - 1));
}

double degrees(const std::array<double, 2>& variances, const std::array<double, 2>& steps) {
  const double sum = variances[0] + variances[1];
  double parts = 0;
  for (std::size_t set = 0; set < 2; ++set) {
    if (steps[set] > 1) parts += variances[set] * variances[set] / (steps[set] - 1);
  }
  return parts > 0 ? std::max(1.0, sum * sum / parts) : std::numeric_limits<double>::infinity();
}

}  // namespace

LineShares line_shares(const Recording& recording, const std::vector<WindowedThread>& threads,
                       const WindowedLines& lines) {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const WindowedThread& thread : threads) {
    for (const SampleWindow& window : *thread.windows) {
      begin = std::min(begin, window.start);
      end = std::max(end, window.end);
    }
  }
  if (begin >= end) return {};
  const std::int64_t block = (end - begin) / static_cast<std::int64_t>(share_blocks) + 1;
  std::map<const std::vector<SampleWindow>*, std::vector<SampleWindow>> cut;
  std::vector<WindowedThread> cut_threads = threads;
  for (WindowedThread& thread : cut_threads) {
    const auto [found, is_new] = cut.try_emplace(thread.windows);
    if (is_new) found->second = in_blocks(*thread.windows, begin, block);
    thread.windows = &found->second;
  }

  LineShares found;
  std::vector<LinePlace> places;
  std::map<std::uint32_t, SampleTime> sums;
  std::array<std::map<std::uint32_t, double>, share_blocks> of_blocks;
  std::array<double, share_blocks> all_of_blocks = {};
  scan_windows(recording, cut_threads, lines, places,
               [&](const WindowedThread&, const SampleWindow& window, const auto& times) {
                 const std::size_t number = window.set;
                 for (const PlaceTime& one : times) {
                   const auto ns = static_cast<double>(one.time.all());
                   sums[one.place] += one.time;
                   found.all += one.time;
                   of_blocks[number][one.place] += ns;
                   all_of_blocks[number] += ns;
                 }
               });
  std::map<std::uint32_t, std::pair<double, double>> moments;  // squares, products with all
  double yy = 0;
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < share_blocks; ++i) {
    blocks += all_of_blocks[i] > 0 ? 1 : 0;
    yy += all_of_blocks[i] * all_of_blocks[i];
    for (const auto& [place, ns] : of_blocks[i]) {
      moments[place].first += ns * ns;
      moments[place].second += ns * all_of_blocks[i];
    }
  }
  const auto y = static_cast<double>(found.all.all());
  for (const auto& [place, time] : sums) {
    const auto x = static_cast<double>(time.all());
    const auto& [xx, xy] = moments[place];
    found.rows.push_back({places[place], time, y > 0 ? x / y : 0,
                          share_margin(x, y, xx, xy, yy, blocks, found.all.samples)});
  }
  std::stable_sort(
      found.rows.begin(), found.rows.end(),
      [](const LineShare& a, const LineShare& b) { return a.time.all() > b.time.all(); });
  return found;
}

LineGains line_gains(const Recording& recording, const std::vector<WindowedThread>& threads,
                     const WindowedLines& lines, const ComparedSteps& compared) {
  constexpr double outside = 0.025;  // on each side
  const auto set_of = [&](const SampleWindow& window) {
    return std::size_t{window.set < compared.firsts ? 0u : 1u};
  };
  const std::array<double, 2> steps = {static_cast<double>(compared.firsts),
                                       static_cast<double>(compared.steps - compared.firsts)};
  double length = 0, sampled = 0;  // of the first ones
  for (const WindowedThread& thread : threads) {
    for (const SampleWindow& window : *thread.windows) {
      if (set_of(window) == 0) length += static_cast<double>(window.end - window.start);
    }
  }
  LineGains found;
  if (steps[0] == 0 || steps[1] == 0 || length == 0) return found;
  std::vector<LinePlace> places;
  std::map<std::uint32_t, GainSums> sums;
  core::PathTable numbers;
  std::vector<double> of_steps;  // the time of a place in a step
  scan_windows(recording, threads, lines, places,
               [&](const WindowedThread&, const SampleWindow& window, const auto& times) {
                 const std::size_t set = set_of(window);
                 for (const PlaceTime& one : times) {
                   const auto ns = static_cast<double>(one.time.all());
                   std::uint64_t& number = numbers[{window.set, one.place}];
                   if (number == core::PathTable::none) {
                     number = of_steps.size();
                     of_steps.push_back(0);
                   }
                   double& before = of_steps[number];
                   GainSums& of = sums[one.place];
                   of.time[set] += one.time;
                   of.squares[set] += (before + ns) * (before + ns) - before * before;
                   before += ns;
                   if (set == 0) sampled += ns;
                 }
               });
  found.covered = sampled / length;
  std::vector<std::pair<LineGain, const GainSums*>> gains;
  for (const auto& [place, of] : sums) {
    LineGain row{places[place], of.time[0], 0, 0, {}};
    for (std::size_t kind = 0; kind < time_kinds; ++kind) {
      row.parts[kind] = static_cast<double>(of.time[0].ns[kind]) / steps[0] -
                        static_cast<double>(of.time[1].ns[kind]) / steps[1];
      row.gain += row.parts[kind];
    }
    if (row.gain > 0) gains.emplace_back(row, &of);
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const auto& a, const auto& b) { return a.first.gain > b.first.gain; });
  if (gains.size() > LineGains::most) gains.resize(LineGains::most);
  for (auto& [row, of] : gains) {
    const std::array<double, 2> variances = {variance(of->time[0], of->squares[0], steps[0]),
                                             variance(of->time[1], of->squares[1], steps[1])};
    row.margin = core::t_quantile(outside, degrees(variances, steps)) *
                 std::sqrt(variances[0] + variances[1]);
    found.rows.push_back(row);
  }
  return found;
}

std::vector<ThreadTime> thread_times(const Recording& recording,
                                     const std::vector<SampleWindow>& windows,
                                     std::uint32_t process, std::uint32_t tid) {
  std::vector<WindowedThread> threads;
  std::map<std::pair<std::uint32_t, std::uint32_t>, SampleTime> sums;
  for (std::uint32_t i = 0; i < recording.processes().size(); ++i) {
    for (const SampledThread& thread : recording.processes()[i].samples.threads) {
      if (thread.tid == 0 || (i == process && thread.tid == tid)) continue;
      if (sums.try_emplace({i, thread.tid}).second) threads.push_back({i, thread.tid, &windows});
    }
  }
  std::vector<LinePlace> places;
  scan_windows(recording, threads, {}, places,
               [&](const WindowedThread& thread, const SampleWindow&, const auto& times) {
                 SampleTime& sum = sums[{thread.process, thread.tid}];
                 for (const PlaceTime& one : times) sum += one.time;
               });
  std::vector<ThreadTime> found;
  for (const auto& [key, time] : sums) {
    if (!time.empty()) found.push_back({key.first, key.second, time});
  }
  return found;
}

}  // namespace nvspan::reader
