// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Schemas and enumerations as programs register them, and what an event's payload says of the event
// itself.

#pragma once

#include "inject/decode/call.hpp"
#include "inject/decode/nvtx_types.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::inject {

// `fields` is a schema's "entries" as the trace shows them, of the same length.
void keep_schema(Call& call, const DomainView& domain, const trace::PayloadSchema& schema,
                 const nvtxPayloadSchemaEntry_t* entries, const trace::Field* fields,
                 std::size_t count);

// The first semantics of a chain that says it.
std::uint64_t time_domain_of(const nvtxSemanticsHeader_t* semantics);
trace::CounterUnit counter_unit_of(Call& call, const nvtxSemanticsHeader_t* semantics);

// The message, category and color in an extended payload: they count for more than the attributes.
void take_attributes(Call& call, const DomainView& domain, trace::Event& event);

}  // namespace nvspan::inject
