// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/external_ranges.hpp"

#include <algorithm>

#include "annotate/names/thread_names.hpp"
#include "annotate/payload/deferred_batch.hpp"
#include "core/os/clock.hpp"
#include "cuda/collect/poller.hpp"
#include "cuda/context/range_pool.hpp"
#include "cuda/model/outcome_counts.hpp"

namespace nvspan::cuda {

DeviceContext* context_of_caller() noexcept {
  const Driver* api = driver();
  ContextHandle current = nullptr;
  if (!api || !accepting() || api->cuCtxGetCurrent(&current) != success || !current) return nullptr;
  return current_context(*api, current);
}

DeviceRange* begin_external(annotate::ReadyEvent& event, uint64_t payload, DeviceContext& context,
                            uint64_t stream, const annotate::GroupPlace& of) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool || !accepting() || context.lost.load()) return nullptr;
  annotate::Outgoing out;
  if (!annotate::prepare(event, *tool, out)) return nullptr;
  if (annotate::tool_replays_ranges() || out.attributes.messageType == NVTX_MESSAGE_TYPE_ASCII ||
      !annotate::takes_deferred(*tool, *event.domain)) {
    outcome_counts().add(Outcome::not_taken);
    return nullptr;
  }
  thread_local const uint32_t thread = annotate::native_thread_id();
  DeviceRange* range = new_range();
  range->backend = Backend::exact;
  range->epoch = out.epoch;
  range->domain = event.domain;
  range->attributes = out.attributes;
  range->attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  range->attributes.payload.ullValue = payload;
  range->origin.device = context.device;
  range->origin.stream = stream;
  range->of_rank = of.ranks != 0;
  if (range->of_rank) range->origin.of_rank = {of.rank, of.ranks};
  range->origin.launch = next_launch();
  range->origin.launched = static_cast<int64_t>(core::time_stamp());
  range->origin.thread = thread;
  const std::string& domain = event.domain->name();
  range->told.store(annotate::open_device(*tool,
                                          event.domain->is_default() ? nullptr : domain.c_str(),
                                          event.text, context.device, stream, thread, of));
  tell(*range, annotate::DeviceState::launched);
  outcome_counts().add(Outcome::begun);
  return range;
}

void external_began(DeviceRange* range) noexcept { tell_begun(*range); }

void end_external(DeviceRange* range, DeviceContext& context, int64_t begin, int64_t end) noexcept {
  tell(*range, annotate::DeviceState::ended);
  if (context.lost.load() || !accepting()) {
    outcome_counts().add(context.lost.load() ? Outcome::context_lost : Outcome::at_exit);
    release(range);
    return;
  }
  if (!context.given.put({range, begin, std::max(begin, end)})) {
    outcome_counts().add(Outcome::full);
    release(range);
    return;
  }
  wake_poller();
}

void drop_external(DeviceRange* range) noexcept {
  outcome_counts().add(Outcome::unpaired);
  release(range);
}

}  // namespace nvspan::cuda
