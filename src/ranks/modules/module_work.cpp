// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/modules/module_work.hpp"

#include <algorithm>
#include <tuple>

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

}  // namespace

void share_work(std::vector<ModuleSpan>& spans, std::vector<ModuleKernel>& kernels) {
  sort_spans(spans);
  std::sort(kernels.begin(), kernels.end(),
            [](const ModuleKernel& a, const ModuleKernel& b) { return a.start < b.start; });
  std::vector<ModuleSpan*> open;
  for (const ModuleKernel& kernel : kernels) {
    const auto after = std::upper_bound(
        spans.begin(), spans.end(), kernel, [](const ModuleKernel& of, const ModuleSpan& span) {
          return std::tie(of.thread, of.launched) < std::tie(span.thread, span.start);
        });
    open.clear();
    auto at = static_cast<std::int32_t>(after - spans.begin()) - 1;
    if (at >= 0 && spans[static_cast<std::size_t>(at)].thread != kernel.thread) at = -1;
    for (; at >= 0; at = spans[static_cast<std::size_t>(at)].around) {
      ModuleSpan& span = spans[static_cast<std::size_t>(at)];
      if (span.end >= kernel.launched) open.push_back(&span);
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      const bool nests =
          std::any_of(open.begin() + static_cast<std::ptrdiff_t>(i) + 1, open.end(),
                      [&](const ModuleSpan* one) {
                        return one->place == open[i]->place && one->backward == open[i]->backward;
                      });
      if (!nests) add(*open[i], kernel);
    }
  }
}

}  // namespace nvspan::ranks
