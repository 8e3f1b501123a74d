// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/collect/collector.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "annotate/payload/deferred_batch.hpp"
#include "cuda/context/range_pool.hpp"
#include "cuda/model/outcome_counts.hpp"

namespace nvspan::cuda {

namespace {

using Batches = std::map<std::tuple<annotate::Domain*, uint64_t, annotate::DeferredPayload>,
                         std::vector<annotate::DeferredRange>>;

// Fills in the names and schema that the current tool registered. 0: it takes no such range.
uint64_t attributes_of(DeviceRange& range, nvtxEventAttributes_t& attributes) noexcept {
  if (!range.captured) {
    attributes = range.attributes;
    return range.epoch;
  }
  const annotate::ToolTable* tool = annotate::listening_tool();
  annotate::Outgoing out;
  if (!tool || !annotate::prepare(range.event, *tool, out)) return 0;
  if (!annotate::takes_deferred(*tool, *range.domain)) {
    outcome_counts().add(Outcome::not_taken);
    return 0;
  }
  attributes = out.attributes;
  return out.epoch;
}

}  // namespace

void submit_waiting(DeviceContext& context) noexcept {
  Batches batches;
  for (const ReadRange& read : context.waiting) {
    DeviceRange& range = *read.range;
    if (range.captured) {
      if (range.timed) {
        range.elapsed_ms.store(static_cast<double>(read.end - read.begin) / 1e6);
        outcome_counts().add(Outcome::timed);
      }
      range.phase.apply(PhaseEvent::finish);
    }
    nvtxEventAttributes_t attributes{};
    const uint64_t epoch = attributes_of(range, attributes);
    if (epoch != 0) {
      annotate::DeferredRange deferred{};
      deferred.begin = context.clock.to_time_stamp(read.begin, deferred.uncertainty);
      deferred.end = context.clock.to_time_stamp(read.end, deferred.uncertainty);
      if (attributes.messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
        deferred.message = reinterpret_cast<uintptr_t>(attributes.message.registered);
      }
      deferred.payload = attributes.payload.ullValue;
      deferred.color = attributes.color | 0xFF000000u;
      deferred.category = attributes.category;
      deferred.origin = range.origin;
      const annotate::DeferredPayload payload =
          range.of_rank ? annotate::DeferredPayload::of_rank
                        : annotate::deferred_payload_of(attributes.payloadType);
      batches[{range.domain, epoch, payload}].push_back(deferred);
    }
    release(read.range);
  }
  context.waiting.clear();
  for (auto& [key, ranges] : batches) {
    std::sort(ranges.begin(), ranges.end(),
              [](const annotate::DeferredRange& a, const annotate::DeferredRange& b) {
                return a.begin < b.begin;
              });
    const auto& [domain, epoch, payload] = key;
    const bool sent =
        annotate::submit_deferred(*domain, epoch, payload, ranges.data(), ranges.size());
    outcome_counts().add(sent ? Outcome::sent_exact : Outcome::tool_gone, ranges.size());
  }
}

}  // namespace nvspan::cuda
