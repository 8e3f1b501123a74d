// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/definitions/definition_writer.hpp"

#include "trace/event/event.hpp"

#include <cstdint>

namespace nvspan::record {

bool CallLines::Line::write(const char* data, std::size_t size) noexcept {
  if (size != 0 && data[size - 1] == '\n') --size;
  if (within_budget_ && !budget_.take(DefinitionChunk::bytes_of(size))) {
    was_refused_ = true;
    return true;
  }
  if (!chunk_.add_bytes(DefinitionType::event, data, size)) {
    file_.lose_call(LossReason::no_space);
  }
  return true;
}

bool CallLines::add_name(const trace::Event& event) {
  line_.set_within_budget(true);
  sink_.write(event);
  if (!line_.was_refused()) return true;
  file_.lose_call(LossReason::name_budget);
  return false;
}

void DefinitionWriter::forget() noexcept {
  names.forget();
  payloads.forget();
  devices.forget();
  chunk.forget();
}

void DefinitionWriter::write(const trace::Event& event) {
  switch (event.kind) {
    case trace::EventKind::register_string:
      calls.add_name(event);
      return;
    case trace::EventKind::name_category:
      if (!calls.add_name(event)) return;
      if (const trace::Field* category = trace::find_field(event, "category")) {
        names.category(names.domain(event.domain_handle, event.domain),
                       static_cast<std::uint32_t>(category->unsigned_integer),
                       trace::text_of(trace::find_field(event, "name")));
      }
      return;
    case trace::EventKind::name_thread:
      if (const trace::Field* thread = trace::find_field(event, "thread")) {
        names.thread_name(static_cast<std::uint32_t>(thread->unsigned_integer),
                          trace::text_of(trace::find_field(event, "name")));
      }
      break;
    case trace::EventKind::scope_register:
      if (const trace::Field* id = trace::find_field(event, "id")) {
        payloads.scope(event, id->unsigned_integer);
      }
      break;
    case trace::EventKind::schema_register:
      devices.schema(event);
      break;
    case trace::EventKind::name_cuda:
    case trace::EventKind::resource_create:
      devices.name(event);
      break;
    default:
      break;
  }
  calls.add(event);
}

}  // namespace nvspan::record
