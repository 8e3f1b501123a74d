// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/modules/module_work.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace nvspan::ranks {
namespace {

void sort_spans(std::vector<ModuleSpan>& spans) {
  std::sort(spans.begin(), spans.end(), [](const ModuleSpan& a, const ModuleSpan& b) {
    return std::make_tuple(a.thread, a.start, -a.end) < std::make_tuple(b.thread, b.start, -b.end);
  });
  std::vector<std::int32_t> open;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i != 0 && spans[i].thread != spans[i - 1].thread) open.clear();
    while (!open.empty() && spans[static_cast<std::size_t>(open.back())].end < spans[i].start) {
      open.pop_back();
    }
    spans[i].around = open.empty() ? -1 : open.back();
    open.push_back(static_cast<std::int32_t>(i));
  }
}

void add(ModuleSpan& span, const ModuleKernel& kernel) {
  if (span.until == 0) {
    span.first = kernel.start;
    span.until = kernel.start;
  }
  span.busy += std::max<std::int64_t>(kernel.end - std::max(kernel.start, span.until), 0);
  span.until = std::max(span.until, kernel.end);
}

// The numbers of those that a kernel counts for: open on its thread when it was launched, since
// `began` or later.
void find_open(const std::vector<ModuleSpan>& spans, const ModuleKernel& kernel, std::int64_t began,
               std::vector<std::size_t>& open) {
  const auto after = std::upper_bound(
      spans.begin(), spans.end(), kernel, [](const ModuleKernel& of, const ModuleSpan& span) {
        return std::tie(of.thread, of.launched) < std::tie(span.thread, span.start);
      });
  open.clear();
  auto at = static_cast<std::int32_t>(after - spans.begin()) - 1;
  if (at >= 0 && spans[static_cast<std::size_t>(at)].thread != kernel.thread) at = -1;
  for (; at >= 0; at = spans[static_cast<std::size_t>(at)].around) {
    const ModuleSpan& span = spans[static_cast<std::size_t>(at)];
    if (span.end >= kernel.launched && span.start >= began) {
      open.push_back(static_cast<std::size_t>(at));
    }
  }
  const auto is_same = [&](std::size_t a, std::size_t b) {
    return spans[a].place == spans[b].place && spans[a].backward == spans[b].backward;
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const bool nests = std::any_of(open.begin() + static_cast<std::ptrdiff_t>(i) + 1, open.end(),
                                   [&](std::size_t outer) { return is_same(outer, open[i]); });
    if (!nests) open[kept++] = open[i];
  }
  open.resize(kept);
}

}  // namespace

void share_work(std::vector<ModuleSpan>& spans, std::vector<ModuleKernel>& kernels) {
  sort_spans(spans);
  std::sort(kernels.begin(), kernels.end(),
            [](const ModuleKernel& a, const ModuleKernel& b) { return a.start < b.start; });
  std::vector<std::size_t> open;
  for (const ModuleKernel& kernel : kernels) {
    find_open(spans, kernel, std::numeric_limits<std::int64_t>::min(), open);
    for (const std::size_t at : open) add(spans[at], kernel);
  }
}

std::vector<ModuleSpan> replay_spans(std::vector<ModuleSpan>& spans,
                                     const std::vector<ModuleKernel>& kernels,
                                     std::vector<CapturedKernel>& captured) {
  sort_spans(spans);
  std::sort(captured.begin(), captured.end(),
            [&](const CapturedKernel& a, const CapturedKernel& b) {
              return kernels[a.kernel].start < kernels[b.kernel].start;
            });
  std::map<std::pair<std::uint64_t, std::size_t>, ModuleSpan> replays;
  std::vector<std::size_t> open, around;
  for (const CapturedKernel& one : captured) {
    const ModuleKernel& kernel = kernels[one.kernel];
    find_open(spans, ModuleKernel{one.thread, one.time, 0, 0}, one.began, open);
    find_open(spans, kernel, std::numeric_limits<std::int64_t>::min(), around);
    for (const std::size_t at : open) {
      const ModuleSpan& span = spans[at];
      const bool is_around = std::any_of(around.begin(), around.end(), [&](std::size_t outer) {
        return spans[outer].place == span.place && spans[outer].backward == span.backward;
      });
      if (is_around || span.end > kernel.launched) continue;
      ModuleSpan& replay = replays[{one.launch, at}];
      replay.place = span.place;
      replay.backward = span.backward;
      add(replay, kernel);
    }
  }
  std::vector<ModuleSpan> found;
  for (const auto& [key, span] : replays) found.push_back(span);
  return found;
}

}  // namespace nvspan::ranks
