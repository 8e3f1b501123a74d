// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meaning of values and times as NVTX's structures tell a tool. Included by the .cpp files that
// register schemas and counters.

#include "annotate/payload/schema.hpp"
#include "nvtx/abi.hpp"

#if NVSPAN_HAVE_NVTX
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

namespace nvspan::annotate {

// A chain of semantics for one entry or counter. Read by the tool during the registration only; the
// texts are the description's.
struct EntrySemantics {
  nvtxSemanticsTime_t time{};
  nvtxSemanticsCounter_t counter{};

  const nvtxSemanticsHeader_t* fill(const CounterMeaning* meaning, uint64_t time_domain,
                                    bool with_time) noexcept {
    const nvtxSemanticsHeader_t* next = nullptr;
    if (meaning) {
      counter.header.structSize = sizeof counter;
      counter.header.semanticId = NVTX_SEMANTIC_ID_COUNTERS_V1;
      counter.header.version = NVTX_COUNTER_SEMANTIC_VERSION;
      counter.flags = meaning->flags;
      counter.unit = meaning->unit ? meaning->unit->c_str() : nullptr;
      counter.unitScaleNumerator = meaning->scale_numerator;
      counter.unitScaleDenominator = meaning->scale_denominator;
      counter.limitType = meaning->limit_type;
      counter.min.u64 = meaning->min_bits;
      counter.max.u64 = meaning->max_bits;
      next = &counter.header;
    }
    if (!with_time) return next;
    time.header.structSize = sizeof time;
    time.header.semanticId = NVTX_SEMANTIC_ID_TIME_V1;
    time.header.version = NVTX_TIME_SEMANTIC_VERSION;
    time.header.next = next;
    time.timeDomainId = time_domain;
    return &time.header;
  }
};

}  // namespace nvspan::annotate
#endif
