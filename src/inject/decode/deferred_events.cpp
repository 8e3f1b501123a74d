// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/decode/deferred_events.hpp"

#include "inject/decode/attributes.hpp"
#include "inject/decode/extension_data.hpp"
#include "trace/payload/payload_numbers.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::inject {
namespace {

constexpr std::size_t most_slice = 256 * 1024;

bool is_text(std::uint64_t type) {
  return type == nvtx::entry_type::cstring || type == nvtx::entry_type::cstring_utf8;
}

template <typename T>
bool read(std::string_view bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

void read_text(Call& call, const DomainView& domain, const trace::PayloadEntry& entry,
               std::uint64_t place, std::string_view bytes, trace::Event& event) {
  const bool ends =
      (entry.flags & nvtx::entry_flag::array_mask) == nvtx::entry_flag::zero_terminated;
  if (is_text(entry.type) && (entry.detail != 0 || ends)) {
    if (place >= bytes.size()) return;
    const std::string_view field = bytes.substr(place, ends ? bytes.size() : entry.detail);
    event.message = field.substr(0, field.find('\0'));
    event.message_type = trace::MessageType::ascii;
    return;
  }
  std::uint64_t bits = 0;
  if (!read(bytes, place, bits)) return;
  if (is_text(entry.type)) {
    event.message = kept_text(call, reinterpret_cast<const char*>(bits));
    event.message_type = trace::MessageType::ascii;
  } else if (entry.type == nvtx::entry_type::registered_string) {
    nvtxMessageValue_t value = {};
    value.registered = reinterpret_cast<nvtxStringHandle_t>(bits);
    read_message(call, domain, NVTX_MESSAGE_TYPE_REGISTERED, value, event);
  }
}

void read_clocks(Call& call) {
  if (call.session.records()) call.session.recorder().deferred().read_clocks();
}

// Ticks of the recording's clock. False: another clock, of which nothing is known.
bool read_time(Call& call, const trace::PayloadEntry& entry, std::uint64_t place,
               std::string_view bytes, std::uint64_t& ticks) {
  std::int64_t stamp = 0;
  const std::uint64_t type = call.session.time_domains().type(entry.time_domain);
  return read(bytes, place, stamp) &&
         call.session.recorder().deferred().to_ticks(type, stamp, ticks);
}

// The stamp that each row of a counter group has.
const trace::PayloadEntry* stamp_of(const trace::PayloadSchema* group) {
  for (std::size_t i = 0; group != nullptr && i < group->count; ++i) {
    const trace::PayloadEntry& entry = group->entries[i];
    if ((entry.flags & nvtx::entry_flag::purpose_mask) == nvtx::entry_flag::timestamp)
      return &entry;
  }
  return nullptr;
}

// Of a number as it is kept.
bool sample_bits(std::uint64_t type, std::string_view bytes, std::uint64_t& bits, bool& real) {
  trace::PayloadValue value;
  trace::read_number(type, bytes, value);
  real = value.kind == trace::PayloadValue::Kind::real;
  std::memcpy(&bits, &value.count, sizeof bits);
  return value.kind != trace::PayloadValue::Kind::bytes;
}

// Where the fields of an event lie that has no fixed layout: each entry is reported once.
class EntryPlaces final : public trace::PayloadVisitor {
 public:
  EntryPlaces(const trace::PayloadSchema& schema, std::uint64_t* places)
      : schema_(schema), places_(places) {
    for (std::size_t i = 0; i < schema.count; ++i) places[i] = ~std::uint64_t{0};
  }

  bool value(std::string_view, const trace::PayloadValue& value) override {
    if (depth_ == 0 && next_ < schema_.count) places_[next_++] = value.offset;
    return true;
  }
  bool begin(std::string_view, bool) override {
    ++depth_;
    return true;
  }
  bool end(bool) override {
    if (--depth_ == 0) ++next_;
    return true;
  }
  bool takes_hidden() const override { return true; }
  const std::uint64_t* places() const { return places_; }

 private:
  const trace::PayloadSchema& schema_;
  std::uint64_t* places_;
  std::size_t next_ = 0;
  unsigned depth_ = 0;
};

// The first event in `bytes`; `used` is how many of them are its own.
bool record_first(Call& call, const DomainView& domain, std::uint64_t schema,
                  std::string_view bytes, std::uint64_t& used) {
  const trace::PayloadSchema* layout = call.session.schemas().schema(domain.handle, schema);
  if (!domain.shown || layout == nullptr || !call.session.records()) return false;
  const std::uint64_t kind = layout->flags & nvtx::schema_flag::event_mask;
  const bool mark = kind == nvtx::schema_flag::mark;
  if (!mark && kind != nvtx::schema_flag::pushpop && kind != nvtx::schema_flag::startend) {
    return false;
  }
  const std::uint64_t* places = nullptr;
  used = layout->size;
  if (layout->size == 0) {
    EntryPlaces visitor(*layout, call.scratch.arena.array<std::uint64_t>(layout->count));
    const trace::PayloadReading reading{domain.handle, call.session.names(), visitor};
    if (call.session.decoder().decode_first(reading, schema, bytes, used) !=
        trace::PayloadResult::whole) {
      return false;
    }
    places = visitor.places();
    bytes = bytes.substr(0, static_cast<std::size_t>(used));
  }
  trace::Event event = call.event(trace::EventKind::event_submit, domain);
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool has_begin = false;
  bool has_end = false;
  for (std::size_t i = 0; i < layout->count; ++i) {
    const trace::PayloadEntry& entry = layout->entries[i];
    const std::uint64_t place = places == nullptr ? entry.place : places[i];
    const std::uint64_t role = entry.flags & nvtx::entry_flag::role_mask;
    const std::uint64_t purpose = entry.flags & nvtx::entry_flag::purpose_mask;
    std::uint32_t number = 0;
    if (purpose == nvtx::entry_flag::message) {
      read_text(call, domain, entry, place, bytes, event);
    } else if (role == nvtx::entry_flag::range_end) {
      has_end = read_time(call, entry, place, bytes, end);
    } else if (role == nvtx::entry_flag::range_begin || role == nvtx::entry_flag::mark ||
               (mark && purpose == nvtx::entry_flag::timestamp)) {
      has_begin = read_time(call, entry, place, bytes, begin);
    } else if (entry.type == nvtx::entry_type::category && read(bytes, place, number)) {
      event.category = number;
      event.category_name = call.registry.category_name(domain.handle, number);
    } else if (entry.type == nvtx::entry_type::color && read(bytes, place, number)) {
      event.color = number;
      event.has_color = true;
    }
  }
  if (!has_begin || (!mark && !has_end)) return false;
  trace::PayloadBlob blob;
  blob.schema_id = schema;
  blob.size = bytes.size();
  blob.data = bytes;
  event.payload_type = trace::PayloadType::ext;
  event.blobs = &blob;
  event.blob_count = 1;
  record::DeferredLane& lane = call.session.recorder().deferred();
  if (mark) {
    lane.mark(domain.handle, event, begin);
  } else {
    lane.range(domain.handle, event, begin, end);
  }
  return true;
}

}  // namespace

bool record_deferred(Call& call, const DomainView& domain, std::uint64_t schema,
                     std::string_view bytes) {
  std::uint64_t used = 0;
  read_clocks(call);
  return record_first(call, domain, schema, bytes, used);
}

bool record_deferred_batch(Call& call, const DomainView& domain, std::uint64_t schema,
                           std::string_view bytes) {
  const trace::PayloadSchema* layout = call.session.schemas().schema(domain.handle, schema);
  if (layout == nullptr || bytes.empty()) return false;
  read_clocks(call);
  std::uint64_t used = 0;
  if (layout->size == 0) {
    while (!bytes.empty()) {
      if (!record_first(call, domain, schema, bytes, used)) return false;
      bytes.remove_prefix(static_cast<std::size_t>(std::min<std::uint64_t>(used, bytes.size())));
    }
    return true;
  }
  const std::uint64_t size = layout->size;
  bool whole = bytes.size() % size == 0;
  for (std::size_t at = 0; bytes.size() - at >= size; at += size) {
    if (!record_first(call, domain, schema, bytes.substr(at, size), used)) whole = false;
  }
  return whole;
}

void record_counter_batch(Call& call, const DomainView& domain, const CounterBatch& batch) {
  const auto& [counter, flags, samples, times, time_count] = batch;
  const trace::PayloadCounter* known = call.session.schemas().counter(domain.handle, counter);
  if (!domain.shown || known == nullptr || !call.session.records()) return;
  const trace::PayloadSchema* group = call.session.schemas().schema(domain.handle, known->schema);
  const trace::PayloadEntry* stamp_entry = stamp_of(group);
  const auto size =
      static_cast<std::size_t>(call.session.schemas().layout(domain.handle, known->schema).size);
  if (size == 0 || samples.size() % size != 0 || (times == nullptr && stamp_entry == nullptr)) {
    return;
  }
  const std::size_t count = samples.size() / size;
  const bool from_begin = (flags & nvtx::batch_flag::interval_from_begin) != 0;
  const bool from_end = (flags & nvtx::batch_flag::interval_from_end) != 0;
  if (times != nullptr && (from_begin || from_end ? time_count < 2 : time_count < count)) return;
  const std::string_view name = call.registry.counter_name(domain.handle, counter);
  record::DeferredLane& lane = call.session.recorder().deferred();
  lane.read_clocks();
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
    if (!lane.to_ticks(call.session.time_domains().type(time_domain), stamp, ticks)) return;
    if (group != nullptr) {
      trace::Event event = call.event(trace::EventKind::counter_sample, domain);
      event.rows = row;
      event.row_schema = known->schema;
      lane.samples(event, counter, name, ticks);
      continue;
    }
    record::LaneSample sample = {domain.handle, domain.name, counter, name, false, 0};
    if (!sample_bits(known->schema, row, sample.bits, sample.real)) return;
    lane.sample(sample, ticks);
  }
}

bool record_large_batch(Call& call, const DomainView& domain, const nvtxEventBatch_t& batch) {
  const trace::PayloadSchema* layout =
      call.session.schemas().schema(domain.handle, batch.eventSchemaId);
  if (layout == nullptr || layout->size == 0 || layout->size > most_slice) return false;
  const auto row = static_cast<std::size_t>(layout->size);
  const std::size_t slice = most_slice / row * row;
  char* copy = call.scratch.arena.bytes(slice);
  const auto* at = static_cast<const char*>(batch.events);
  for (std::size_t done = 0; done < batch.size; done += slice) {
    const std::size_t size = std::min(slice, batch.size - done);
    if (!read_memory(at + done, copy, size)) return false;
    const std::string_view rows(copy, size);
    if (!record_deferred_batch(call, domain, batch.eventSchemaId, rows)) return false;
  }
  return true;
}

bool record_large_counters(Call& call, const DomainView& domain, const nvtxCounterBatch_t& batch) {
  const trace::PayloadCounter* known =
      call.session.schemas().counter(domain.handle, batch.counterId);
  if (known == nullptr) return false;
  const trace::TypeLayout layout = call.session.schemas().layout(domain.handle, known->schema);
  const auto row = static_cast<std::size_t>(layout.size);
  constexpr std::uint64_t pairs =
      nvtx::batch_flag::interval_from_begin | nvtx::batch_flag::interval_from_end;
  if (row == 0 || row > most_slice || (batch.flags & pairs) != 0) return false;
  const std::size_t count = batch.countersSize / row;
  const bool has_times = batch.timestamps != nullptr;
  if (batch.countersSize % row != 0 ||
      (has_times && batch.timestampsSize / sizeof(std::int64_t) < count)) {
    return false;
  }
  const std::size_t slice = most_slice / std::max(row, sizeof(std::int64_t));
  char* copy = call.scratch.arena.bytes(slice * row);
  auto* times = call.scratch.arena.array<std::int64_t>(has_times ? slice : 0);
  const auto* at = static_cast<const char*>(batch.counters);
  for (std::size_t done = 0; done < count; done += slice) {
    const std::size_t samples = std::min(slice, count - done);
    if (!read_memory(at + done * row, copy, samples * row)) return false;
    if (has_times && !read_memory(batch.timestamps + done, times, samples * sizeof *times)) {
      return false;
    }
    record_counter_batch(call, domain,
                         {batch.counterId, batch.flags, std::string_view(copy, samples * row),
                          has_times ? times : nullptr, samples});
  }
  return true;
}

}  // namespace nvspan::inject
