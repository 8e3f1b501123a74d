// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/deferred_events.hpp"

#include "inject/attributes.hpp"
#include "inject/extension_data.hpp"

#include <nvtx3/nvToolsExtSemanticsTime.h>

#include <algorithm>
#include <cstring>

namespace nvspan {
namespace {

constexpr std::uint64_t most_semantics = 16;
constexpr std::uint64_t role_mask = 7u << 12;
constexpr std::uint64_t message_or_time_mask = 3u << 10;
constexpr std::uint64_t kind_mask = 15u << 3;

std::size_t size_of(std::uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
      return 1;
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
      return 2;
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
      return 4;
    default:
      return 8;
  }
}

bool is_text(std::uint64_t type) {
  return type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING || type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
}

template <typename T>
bool read(std::string_view bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

void read_text(Call& call, const DomainView& domain, const LayoutEntry& entry,
               std::string_view bytes, Event& event) {
  if (is_text(entry.type) && entry.detail != 0) {
    if (entry.offset >= bytes.size()) return;
    const std::string_view field = bytes.substr(entry.offset, entry.detail);
    event.message = field.substr(0, field.find('\0'));
    event.message_type = MessageType::ascii;
    return;
  }
  std::uint64_t bits = 0;
  if (!read(bytes, entry.offset, bits)) return;
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
bool read_time(Call& call, const LayoutEntry& entry, std::string_view bytes, std::uint64_t& ticks) {
  std::int64_t stamp = 0;
  const std::uint64_t type = call.session.layouts().timestamp_type(entry.time_domain);
  return read(bytes, entry.offset, stamp) && call.session.recorder().to_ticks(type, stamp, ticks);
}

bool sample_bits(std::uint64_t type, std::string_view bytes, std::uint64_t& bits, bool& real) {
  const std::size_t size = size_of(type);
  if (bytes.size() < size) return false;
  double number = 0;
  real = false;
  const auto take = [&](auto value) {
    bytes.copy(reinterpret_cast<char*>(&value), sizeof value);
    if (real) {
      number = static_cast<double>(value);
      std::memcpy(&bits, &number, sizeof bits);
    } else {
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    }
    return true;
  };
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
      return take(std::int64_t{});
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
      return take(std::uint64_t{});
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
      return take(std::int32_t{});
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
      return take(std::uint32_t{});
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
      real = true;
      return take(float{});
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
      real = true;
      return take(double{});
    default:
      return false;
  }
}

}  // namespace

std::uint64_t time_domain_of(const nvtxSemanticsHeader_t* semantics) {
  const auto* at = semantics;
  for (std::uint64_t i = 0; at != nullptr && i < most_semantics; ++i) {
    nvtxSemanticsHeader_t header = {};
    if (!read_memory(at, &header, sizeof header)) return 0;
    nvtxSemanticsTime_t time = {};
    if (header.semanticId == NVTX_SEMANTIC_ID_TIME_V1 && header.structSize >= sizeof time &&
        read_memory(reinterpret_cast<const nvtxSemanticsTime_t*>(at), &time, sizeof time)) {
      return time.timeDomainId;
    }
    at = header.next;
  }
  return 0;
}

void keep_schema(Call& call, const DomainView& domain, std::uint64_t schema,
                 const nvtxPayloadSchemaAttr_t& attributes, std::uint64_t bytes,
                 const nvtxPayloadSchemaEntry_t* entries, std::size_t count) {
  if ((attributes.fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS) == 0) return;
  PayloadLayout& layout = call.session.layouts().keep_payload(domain.handle, schema);
  layout.flags = attributes.flags;
  layout.size = bytes;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    LayoutEntry entry;
    entry.flags = entries[i].flags;
    entry.type = entries[i].type;
    entry.detail = entries[i].arrayOrUnionDetail;
    entry.time_domain = time_domain_of(entries[i].semantics);
    const bool embedded = is_text(entry.type) && entry.detail != 0;
    const std::uint64_t alignment = embedded ? 1 : size_of(entry.type);
    // Without an offset a field follows the one before it, aligned as in C.
    entry.offset = entries[i].offset != 0 || i == 0 ? entries[i].offset
                                                    : (end + alignment - 1) / alignment * alignment;
    end = entry.offset + (embedded ? entry.detail : size_of(entry.type));
    layout.entries.push_back(entry);
  }
}

bool record_deferred(Call& call, const DomainView& domain, std::uint64_t schema,
                     std::string_view bytes) {
  const PayloadLayout* layout = call.session.layouts().payload(domain.handle, schema);
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
  for (const LayoutEntry& entry : layout->entries) {
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
               read(bytes, entry.offset, number)) {
      event.category = number;
      event.category_name = call.registry.category_name(domain.handle, number);
    } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB &&
               read(bytes, entry.offset, number)) {
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
  const PayloadLayout* layout = call.session.layouts().payload(domain.handle, schema);
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
  const CounterLayout* layout = call.session.layouts().counter(domain.handle, counter);
  if (!domain.shown || layout == nullptr || times == nullptr || !call.session.records()) return;
  const std::size_t size = size_of(layout->type);
  const std::size_t count = samples.size() / size;
  const bool from_begin = (flags & NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR) != 0;
  const bool from_end = (flags & NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR) != 0;
  if (samples.size() % size != 0 ||
      (from_begin || from_end ? time_count < 2 : time_count < count)) {
    return;
  }
  const std::uint64_t type = call.session.layouts().timestamp_type(layout->time_domain);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t stamp = times[from_begin || from_end ? 0 : i];
    if (from_begin) stamp += static_cast<std::int64_t>(i) * times[1];
    if (from_end) stamp -= static_cast<std::int64_t>(count - 1 - i) * times[1];
    std::uint64_t bits = 0;
    std::uint64_t ticks = 0;
    bool real = false;
    if (!sample_bits(layout->type, samples.substr(i * size), bits, real)) return;
    if (!call.session.recorder().to_ticks(type, stamp, ticks)) return;
    call.session.recorder().deferred_sample(domain.handle, domain.name, counter,
                                            call.registry.counter_name(domain.handle, counter),
                                            real, bits, ticks);
  }
}

}  // namespace nvspan
