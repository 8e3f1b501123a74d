// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges, marks and counter samples that a program submits with their times, for a recording.
// Whatever cannot be understood stays what it is, a raw event.

#pragma once

#include "inject/decode/call.hpp"
#include "inject/decode/nvtx_types.hpp"
#include "trace/event/event.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::inject {

// One event in `bytes`, which `schema` describes. False: it is no event that a recording has.
bool record_deferred(Call& call, const DomainView& domain, std::uint64_t schema,
                     std::string_view bytes);
// Events one after another. True: all of `bytes` is in the recording.
bool record_deferred_batch(Call& call, const DomainView& domain, std::uint64_t schema,
                           std::string_view bytes);

// Samples of one counter; `times` are one for each sample, or a pair, as `flags` say. Null: the
// samples have them.
struct CounterBatch {
  std::uint64_t counter;
  std::uint64_t flags;
  std::string_view samples;
  const std::int64_t* times;
  std::size_t time_count;
};
void record_counter_batch(Call& call, const DomainView& domain, const CounterBatch& batch);

// Batches that are too large to be shown, a part at a time. False: not, or not all.
bool record_large_batch(Call& call, const DomainView& domain, const nvtxEventBatch_t& batch);
bool record_large_counters(Call& call, const DomainView& domain, const nvtxCounterBatch_t& batch);

}  // namespace nvspan::inject
