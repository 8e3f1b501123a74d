// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Binary data on its way with an event.

#include <cstddef>

#include "annotate/event/event.hpp"
#include "annotate/payload/schema.hpp"

namespace nvspan::annotate {

// `data` has to live until the event's call has returned, and no longer.
struct PayloadView {
  const Schema* schema = nullptr;
  const void* data = nullptr;
  size_t size = 0;
};

// What an Outgoing event points to: has to live as long as that.
class AttachedPayload {
 public:
  // Leaves the event as it is for a tool that does not take the data.
  void attach(Outgoing& event, const ToolTable& tool, const PayloadView& view) noexcept {
#if NVSPAN_HAVE_NVTX
    if (!view.schema || view.size == 0) return;
    const uint64_t id = view.schema->id(*event.source->domain, event.domain, tool, event.epoch);
    if (id == 0) return;
    data_.schemaId = id;
    data_.size = view.size;
    data_.payload = view.data;
    event.attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.attributes.reserved0 = 1;
    event.attributes.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data_);
#else
    (void)event, (void)tool, (void)view;
#endif
  }

 private:
#if NVSPAN_HAVE_NVTX
  nvtxPayloadData_t data_;
#endif
};

}  // namespace nvspan::annotate
