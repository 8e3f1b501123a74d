// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/deferred_events.hpp"

#include "inject/attributes.hpp"
#include "inject/extension_data.hpp"
#include "inject/payload_reading.hpp"
#include "record/payload_numbers.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan {
namespace {

constexpr std::uint64_t role_mask = 7u << 12;
constexpr std::uint64_t message_or_time_mask = 3u << 10;
constexpr std::uint64_t kind_mask = 15u << 3;

bool is_text(std::uint64_t type) {
  return type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING || type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
}

template <typename T>
bool read(std::string_view bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

void read_text(Call& call, const DomainView& domain, const PayloadEntry& entry,
               std::string_view bytes, Event& event) {
  if (is_text(entry.type) && entry.detail != 0) {
    if (entry.place >= bytes.size()) return;
    const std::string_view field = bytes.substr(entry.place, entry.detail);
    event.message = field.substr(0, field.find('\0'));
    event.message_type = MessageType::ascii;
    return;
  }
  std::uint64_t bits = 0;
  if (!read(bytes, entry.place, bits)) return;
  if (is_text(entry.type)) {
    event.message = kept_text(call, reinterpret_cast<const char*>(bits));
    event.message_type = MessageType::ascii;
  } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE) {
    nvtxMessageValue_t value = {};
    value.registered = reinterpret_cast<nvtxStringHandle_t>(bits);
    read_message(call, domain, NVTX_MESSAGE_TYPE_REGISTERED, value, event);
  }
}

// Ticks of the recording's clock. False: another clock, of which nothing is known.
bool read_time(Call& call, const PayloadEntry& entry, std::string_view bytes, std::uint64_t& ticks) {
  std::int64_t stamp = 0;
  const std::uint64_t type = call.session.time_domains().type(entry.time_domain);
  return read(bytes, entry.place, stamp) && call.session.recorder().to_ticks(type, stamp, ticks);
}

// The stamp that each row of a counter group has.
const PayloadEntry* stamp_of(const PayloadSchema* group) {
  for (std::size_t i = 0; group != nullptr && i < group->count; ++i) {
    const PayloadEntry& entry = group->entries[i];
    if ((entry.flags & payload_entry::purpose_mask) == payload_entry::timestamp) return &entry;
  }
  return nullptr;
}

// Of a number as it is kept.
bool sample_bits(std::uint64_t type, std::string_view bytes, std::uint64_t& bits, bool& real) {
  PayloadValue value;
  read_number(type, bytes, value);
  real = value.kind == PayloadValue::Kind::real;
  std::memcpy(&bits, &value.count, sizeof bits);
  return value.kind != PayloadValue::Kind::bytes;
}

}  // namespace

bool record_deferred(Call& call, const DomainView& domain, std::uint64_t schema,
                     std::string_view bytes) {
  const PayloadSchema* layout = call.session.schemas().schema(domain.handle, schema);
  if (!domain.shown || layout == nullptr || !call.session.records()) return false;
  const std::uint64_t kind = layout->flags & kind_mask;
  const bool mark = kind == NVTX_PAYLOAD_SCHEMA_FLAG_MARK;
  if (!mark && kind != NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_PUSHPOP &&
      kind != NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND) {
    return false;
  }
  Event event = call.event(EventKind::event_submit, domain);
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool has_begin = false;
  bool has_end = false;
  for (std::size_t i = 0; i < layout->count; ++i) {
    const PayloadEntry& entry = layout->entries[i];
    const std::uint64_t role = entry.flags & role_mask;
    const std::uint64_t purpose = entry.flags & message_or_time_mask;
    std::uint32_t number = 0;
    if (purpose == NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE) {
      read_text(call, domain, entry, bytes, event);
    } else if (role == NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END) {
      has_end = read_time(call, entry, bytes, end);
    } else if (role == NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN ||
               role == NVTX_PAYLOAD_ENTRY_FLAG_MARK ||
               (mark && purpose == NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP)) {
      has_begin = read_time(call, entry, bytes, begin);
    } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY &&
               read(bytes, entry.place, number)) {
      event.category = number;
      event.category_name = call.registry.category_name(domain.handle, number);
    } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB &&
               read(bytes, entry.place, number)) {
      event.color = number;
      event.has_color = true;
    }
  }
  if (!has_begin || (!mark && !has_end)) return false;
  PayloadBlob blob;
  blob.schema_id = schema;
  blob.size = bytes.size();
  blob.data = bytes;
  event.payload_type = PayloadType::ext;
  event.blobs = &blob;
  event.blob_count = 1;
  call.session.recorder().deferred(domain.handle, event, begin, mark ? begin : end, mark);
  return true;
}

bool record_deferred_batch(Call& call, const DomainView& domain, std::uint64_t schema,
                           std::string_view bytes) {
  const PayloadSchema* layout = call.session.schemas().schema(domain.handle, schema);
  if (layout == nullptr || layout->size == 0 || bytes.empty()) return false;
  const std::uint64_t size = layout->size;
  bool whole = bytes.size() % size == 0;
  for (std::size_t at = 0; bytes.size() - at >= size; at += size) {
    if (!record_deferred(call, domain, schema, bytes.substr(at, size))) whole = false;
  }
  return whole;
}

void record_counter_batch(Call& call, const DomainView& domain, std::uint64_t counter,
                          std::uint64_t flags, std::string_view samples, const std::int64_t* times,
                          std::size_t time_count) {
  const PayloadCounter* known = call.session.schemas().counter(domain.handle, counter);
  if (!domain.shown || known == nullptr || !call.session.records()) return;
  const PayloadSchema* group = call.session.schemas().schema(domain.handle, known->schema);
  const PayloadEntry* stamp_entry = stamp_of(group);
  const auto size = static_cast<std::size_t>(
      call.session.schemas().layout(domain.handle, known->schema).size);
  if (size == 0 || samples.size() % size != 0 || (times == nullptr && stamp_entry == nullptr)) {
    return;
  }
  const std::size_t count = samples.size() / size;
  const bool from_begin = (flags & NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR) != 0;
  const bool from_end = (flags & NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR) != 0;
  if (times != nullptr && (from_begin || from_end ? time_count < 2 : time_count < count)) return;
  const std::string_view name = call.registry.counter_name(domain.handle, counter);
  Recorder& recorder = call.session.recorder();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view row = samples.substr(i * size, size);
    std::int64_t stamp = 0;
    std::uint64_t time_domain = known->time_domain;
    if (times == nullptr) {
      if (!read(row, stamp_entry->place, stamp)) return;
      if (stamp_entry->time_domain != 0) time_domain = stamp_entry->time_domain;
    } else {
      stamp = times[from_begin || from_end ? 0 : i];
      if (from_begin) stamp += static_cast<std::int64_t>(i) * times[1];
      if (from_end) stamp -= static_cast<std::int64_t>(count - 1 - i) * times[1];
    }
    std::uint64_t ticks = 0;
    if (!recorder.to_ticks(call.session.time_domains().type(time_domain), stamp, ticks)) return;
    if (group != nullptr) {
      Event event = call.event(EventKind::counter_sample, domain);
      event.rows = row;
      event.row_schema = known->schema;
      recorder.deferred_samples(event, counter, name, ticks);
      continue;
    }
    std::uint64_t bits = 0;
    bool real = false;
    if (!sample_bits(known->schema, row, bits, real)) return;
    recorder.deferred_sample(domain.handle, domain.name, counter, name, real, bits, ticks);
  }
}

}  // namespace nvspan
