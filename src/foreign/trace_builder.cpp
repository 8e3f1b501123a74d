// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "foreign/trace_builder.hpp"

#include "nvtx/numbers.hpp"
#include "trace/payload/payload.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nvspan::foreign {
namespace {

constexpr std::uint8_t plain_message = 1;  // SiteDefinition::message_type
constexpr std::size_t piece_words = 4;     // bytes of all, schema, size as given, size kept

void put(std::uint64_t* to, std::uint64_t schema, std::size_t bytes, const std::uint64_t* data) {
  const std::size_t words = (bytes + 7) / 8;
  to[0] = (piece_words - 1 + words) * 8;
  to[1] = schema;
  to[2] = to[3] = bytes;
  std::copy(data, data + words, to + piece_words);
}

}  // namespace

std::uint32_t TraceBuilder::number_for(std::int64_t key) {
  return key >= 0 && key <= 0xFFFFFFFF ? static_cast<std::uint32_t>(key) : next_number_++;
}

std::uint32_t TraceBuilder::process(std::int64_t key) {
  const auto found = processes_.find(key);
  if (found != processes_.end()) return found->second;
  record::ExternalWriter::About about;
  about.pid = number_for(key);
  const std::uint32_t handle = writer_.add_process(about);
  processes_.emplace(key, handle);
  process_keys_.push_back(key);
  return handle;
}

std::uint32_t TraceBuilder::thread(std::int64_t process_key, std::int64_t thread_key) {
  const auto key = std::make_pair(process_key, thread_key);
  if (last_thread_ != record::no_thread && key == last_thread_key_) return last_thread_;
  auto found = threads_.find(key);
  if (found == threads_.end()) {
    const std::uint32_t tid = number_for(thread_key);
    const std::uint32_t handle = writer_.add_thread(process(process_key), tid, record::no_string);
    found = threads_.emplace(key, handle).first;
    if (tids_.size() <= handle) tids_.resize(handle + 1);
    tids_[handle] = tid;
  }
  last_thread_key_ = key;
  return last_thread_ = found->second;
}

std::uint32_t TraceBuilder::domain_of(std::uint32_t process, std::string_view name) {
  const std::uint32_t text = name.empty() ? record::no_string : writer_.text(name);
  const auto entry = domains_.emplace(std::make_pair(process, text), 0);
  if (entry.second) entry.first->second = writer_.domain(process, text);
  return entry.first->second;
}

std::uint64_t TraceBuilder::schema(std::uint32_t domain, std::uint32_t form) {
  const auto entry = schemas_.emplace(std::uint64_t{domain} << 32 | form, 0);
  if (!entry.second) return entry.first->second;
  const auto type_of = [](ArgType type) {
    return type == ArgType::text    ? nvtx::entry_type::cstring_utf8
           : type == ArgType::small ? nvtx::entry_type::int32
           : type == ArgType::real  ? nvtx::entry_type::float64
                                    : nvtx::entry_type::int64;
  };
  std::vector<record::SchemaField> fields;
  std::uint64_t size = 0;
  bool is_fixed = true;
  for (const ArgField& field : args_->fields(form)) {
    const bool text = field.type == ArgType::text;
    is_fixed = is_fixed && !text;
    fields.push_back({writer_.text(field.name), type_of(field.type),
                      text ? nvtx::entry_flag::zero_terminated : 0, 0, text ? 0 : size,
                      record::no_string});
    size += text ? 0 : field.type == ArgType::small ? 4 : 8;
  }
  if (!is_fixed) {
    for (record::SchemaField& field : fields) field.offset = 0;
  }
  return entry.first->second = writer_.schema(domain, {record::no_string, is_fixed ? size : 0,
                                                       is_fixed ? nvtx::schema_type::fixed_schema
                                                                : nvtx::schema_type::dynamic_schema,
                                                       std::move(fields)});
}

TraceBuilder::Payload TraceBuilder::payload(std::uint32_t domain, EventArgs* args) {
  Payload made;
  if (args == nullptr || args->is_empty()) return made;
  args_ = args;
  const std::uint32_t form = args->form();
  if (form == EventArgs::no_form) {
    leave_out("arguments of one form too many");
    return made;
  }
  data_.resize(args->words());
  args->copy(data_.data());
  made.schema = schema(domain, form);
  made.bytes = args->bytes();
  made.words = piece_words + data_.size();
  made.data = data_.data();
  return made;
}

std::uint32_t TraceBuilder::site(std::uint32_t domain, std::string_view name,
                                 const Payload& payload) {
  const auto place = writer_.domain_place(domain);
  record::SiteDefinition site = {};
  site.domain = place.number;
  site.message = writer_.text(name);
  site.message_type = plain_message;
  if (payload.words != 0) site.payload_type = static_cast<std::uint8_t>(trace::PayloadType::ext);
  return writer_.process(place.process).site(site);
}

std::uint32_t TraceBuilder::counter(std::uint32_t process, std::uint32_t domain,
                                    std::string_view name) {
  const std::uint32_t text = writer_.text(name);
  const auto entry = counters_.emplace(std::make_tuple(process, domain, text), 0);
  if (entry.second) entry.first->second = writer_.counter(process, domain, text, {});
  return writer_.counter_place(entry.first->second).number;
}

void TraceBuilder::add(const ThreadEvent& event) {
  using record::LaneEvent;
  const auto place = writer_.thread(event.thread);
  record::ProcessPart& part = writer_.process(place.process);
  const bool is_loose = event.kind == LaneEvent::push || event.kind == LaneEvent::pop;
  record::EventLane& lane = is_loose ? part.loose(place.number) : part.lane(place.number);
  const std::uint32_t domain = domain_of(place.process, event.domain);
  Payload given;
  std::uint32_t subject = 0;
  switch (event.kind) {
    case LaneEvent::pop:
    case LaneEvent::end:
      subject = writer_.domain_place(domain).number;
      break;
    case LaneEvent::sample_i64:
    case LaneEvent::sample_f64:
      subject = counter(place.process, domain, event.name);
      ++counts_.samples;
      break;
    default:
      given = payload(domain, event.args);
      subject = site(domain, event.name, given);
      ++(event.kind == LaneEvent::mark ? counts_.marks : counts_.ranges);
  }
  const std::uint64_t before = lane.bytes();
  std::uint64_t* to =
      lane.add(record::ticks_of(event.time), event.value, event.kind, subject, given.words);
  if (given.words != 0) put(to, given.schema, given.bytes, given.data);
  if (lane.bytes() != before) writer_.added(lane, before);
}

void TraceBuilder::launch(std::uint32_t thread, std::uint64_t correlation, std::int64_t time) {
  launches_[correlation] = Launch{time, thread};
}

void TraceBuilder::add(const DeviceEvent& event) {
  KeptDeviceEvent kept{event.start,
                       event.end,
                       event.domain.empty() ? record::no_string : writer_.text(event.domain),
                       writer_.text(event.name),
                       event.device,
                       event.stream,
                       event.correlation,
                       EventArgs::no_form,
                       0,
                       device_data_.size()};
  if (event.args != nullptr && !event.args->is_empty()) {
    args_ = event.args;
    kept.form = event.args->form();
    if (kept.form == EventArgs::no_form) {
      leave_out("arguments of one form too many");
    } else {
      kept.bytes = static_cast<std::uint32_t>(args_->bytes());
      device_data_.resize(device_data_.size() + args_->words());
      event.args->copy(device_data_.data() + kept.data_at);
    }
  }
  device_events_.push_back(kept);
  ++counts_.device_ranges;
}

void TraceBuilder::finish() {
  for (const KeptDeviceEvent& event : device_events_) {
    const auto found = launches_.find(event.correlation);
    const bool known = event.correlation != 0 && found != launches_.end();
    // A launch says whose work it is; else it is the first process's.
    std::uint32_t process = 0;
    if (known)
      process = writer_.thread(found->second.thread).process;
    else if (process_keys_.empty())
      this->process(0);
    record::GivenDeviceRange range;
    range.start = event.start;
    range.end = event.end;
    range.name = event.name;
    range.device = event.device;
    range.stream = event.stream;
    range.correlation = event.correlation;
    if (known) {
      range.launched = found->second.time;
      range.tid = tids_[found->second.thread];
    }
    const auto entry = domains_.emplace(std::make_pair(process, event.domain), 0);
    if (entry.second) entry.first->second = writer_.domain(process, event.domain);
    if (event.form != EventArgs::no_form) {
      range.schema = schema(entry.first->second, event.form);
      range.data = device_data_.data() + event.data_at;
      range.bytes = event.bytes;
    }
    writer_.add_device_range(entry.first->second, range);
  }
  device_events_.clear();
  device_data_.clear();
  for (const std::int64_t key : process_keys_) {
    record::ProcessPart& part = writer_.process(processes_[key]);
    const auto name = process_names_.find(key);
    if (name != process_names_.end()) part.set_command(name->second);
    part.set_unix_offset(unix_offset_);
    part.set_rank(rank_, world_size_);
    for (const auto& [device, text] : device_names_) {
      part.device_name(record::DeviceNameKind::device, static_cast<std::uint64_t>(device),
                       writer_.text(text));
    }
  }
  for (const auto& [key, handle] : threads_) {
    const auto name = thread_names_.find(key);
    const bool is_text = key.second >= text_keys;
    if (name == thread_names_.end() && !is_text) continue;
    const auto place = writer_.thread(handle);
    const std::uint32_t text = name != thread_names_.end()
                                   ? writer_.text(name->second)
                                   : static_cast<std::uint32_t>(key.second - text_keys);
    writer_.process(place.process).name_thread(place.number, text);
  }
}

}  // namespace nvspan::foreign
