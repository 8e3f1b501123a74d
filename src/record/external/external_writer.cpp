// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/external/external_writer.hpp"

#include "nvtx/device_range_schema.hpp"
#include "nvtx/numbers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <random>
#include <system_error>
#include <utility>

namespace nvspan::record {
namespace {

constexpr std::string_view device_thread_name = "deferred events";  // as the recorder calls it

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

template <std::size_t size>
void copy_text(std::string_view from, char (&to)[size]) {
  from.copy(to, size - 1);
}

// Where a device's range has what: DeviceField's order.
struct DevicePlace {
  nvtx::DeviceField field;
  std::uint32_t offset;
  std::uint64_t type;
};
constexpr DevicePlace device_places[] = {
    {nvtx::DeviceField::device, 0, nvtx::entry_type::int32},
    {nvtx::DeviceField::thread, 4, nvtx::entry_type::uint32},
    {nvtx::DeviceField::stream, 8, nvtx::entry_type::uint64},
    {nvtx::DeviceField::launch, 16, nvtx::entry_type::uint64},
    {nvtx::DeviceField::launched, 24, nvtx::entry_type::uint64},
    {nvtx::DeviceField::payload, 32, nvtx::entry_type::uint64},
};

}  // namespace

ExternalWriter::ExternalWriter(std::string path, std::uint64_t memory)
    : path_(std::move(path)),
      memory_(memory),
      spill_(directory_of(path_)),
      next_schema_(nvtx::entry_type::first_custom) {
  std::random_device random;
  run_ = std::uint64_t{random()} << 32 | random() | 1;
}

ExternalWriter::~ExternalWriter() { abort(); }

std::uint32_t ExternalWriter::add_process(const About& about) {
  FileHeader header = {};
  header.pid = about.pid;
  header.parent_pid = about.parent_pid;
  header.run = run_;
  header.rank = about.rank;
  header.local_rank = about.local_rank;
  header.world_size = about.world_size;
  copy_text(about.host, header.host);
  copy_text(about.boot_id, header.boot_id);
  std::size_t used = 0;
  for (const std::string& argument : about.command) {
    if (used + argument.size() + 1 > sizeof header.command) break;
    std::memcpy(header.command + used, argument.data(), argument.size());
    used += argument.size() + 1;
  }
  header.command_bytes = static_cast<std::uint32_t>(used);
  processes_.push_back(std::make_unique<ProcessPart>(header, about.unix_offset));
  return static_cast<std::uint32_t>(processes_.size() - 1);
}

std::uint32_t ExternalWriter::add_thread(std::uint32_t process, std::uint32_t tid,
                                         std::uint32_t name) {
  threads_.push_back(Place{process, processes_[process]->add_thread(tid, name)});
  return static_cast<std::uint32_t>(threads_.size() - 1);
}

std::uint32_t ExternalWriter::domain(std::uint32_t process, std::uint32_t name) {
  const auto entry = domain_handles_.emplace(std::make_pair(process, name),
                                             static_cast<std::uint32_t>(domains_.size()));
  if (entry.second) domains_.push_back(Place{process, processes_[process]->domain(name)});
  return entry.first->second;
}

void ExternalWriter::name_domain(std::uint32_t domain, std::uint32_t name) {
  const Place place = domains_[domain];
  for (auto entry = domain_handles_.begin(); entry != domain_handles_.end();) {
    entry = entry->second == domain ? domain_handles_.erase(entry) : std::next(entry);
  }
  domain_handles_.emplace(std::make_pair(place.process, name), domain);
  processes_[place.process]->name_domain(place.number, name);
}

void ExternalWriter::name_thread(std::uint32_t thread, std::uint32_t name) {
  const Place place = threads_[thread];
  processes_[place.process]->name_thread(place.number, name);
}

std::uint32_t ExternalWriter::counter(std::uint32_t process, std::uint32_t domain,
                                      std::uint32_t name, const GivenMeaning& meaning) {
  counters_.push_back(
      Place{process, processes_[process]->add_counter(domains_[domain].number, name, meaning)});
  return static_cast<std::uint32_t>(counters_.size() - 1);
}

std::uint64_t ExternalWriter::schema(std::uint32_t domain, SchemaLayout layout) {
  const Place place = domains_[domain];
  processes_[place.process]->schema(place.number, next_schema_, std::move(layout));
  return next_schema_++;
}

// Where each field of a device's range lies, for readers. When it was launched is left out: that is
// by another clock.
DeviceLayoutDefinition ExternalWriter::device_layout(std::uint32_t domain,
                                                     const std::vector<SchemaField>& fields) {
  DeviceLayoutDefinition layout = {};
  for (std::size_t i = 0; i < nvtx::device_field_count; ++i) {
    layout.offsets[i] = no_string;
    const auto number = static_cast<nvtx::DeviceField>(i);
    if (number == nvtx::DeviceField::launched) continue;
    for (const SchemaField& field : fields) {
      if (field.name == no_string || texts_[field.name] != nvtx::device_field_names[i]) continue;
      layout.offsets[i] = static_cast<std::uint32_t>(field.offset);
      if (number != nvtx::DeviceField::payload) continue;
      const trace::PayloadType payload =
          field.type == nvtx::entry_type::uint64  ? trace::PayloadType::u64
          : field.type == nvtx::entry_type::int64 ? trace::PayloadType::i64
                                                  : trace::PayloadType::f64;
      const auto known = known_payloads_.emplace(domain, payload).first;
      if (known->second != payload) known->second = trace::PayloadType::none;
    }
  }
  return layout;
}

void ExternalWriter::known_schema(std::uint32_t domain, std::uint64_t id, SchemaLayout layout) {
  const Place place = domains_[domain];
  ProcessPart& part = *processes_[place.process];
  if (texts_[layout.name] == nvtx::device_range_schema_name) {
    DeviceLayoutDefinition of_device = device_layout(domain, layout.fields);
    of_device.schema = id;
    of_device.domain = place.number;
    part.device_layout(of_device);
  }
  part.schema(place.number, id, std::move(layout));
  constexpr std::uint64_t far = std::uint64_t{1} << 62;
  if (id < far) next_schema_ = std::max(next_schema_, id + 1);
}

std::uint8_t ExternalWriter::device_site(std::uint32_t domain) const {
  const auto known = known_payloads_.find(domain);
  const auto payload = known == known_payloads_.end() ? trace::PayloadType::none : known->second;
  return 1 + static_cast<std::uint8_t>(payload);
}

std::uint64_t ExternalWriter::device_schema(std::uint32_t domain, trace::PayloadType payload) {
  const auto key = std::make_pair(domain, static_cast<std::uint8_t>(payload));
  const auto found = device_schemas_.find(key);
  if (found != device_schemas_.end()) return found->second;
  const bool has_payload = payload != trace::PayloadType::none;
  DeviceLayoutDefinition layout = {};
  for (std::uint32_t& offset : layout.offsets) offset = no_string;
  std::vector<SchemaField> fields;
  for (const DevicePlace& place : device_places) {
    std::uint64_t type = place.type;
    if (place.field == nvtx::DeviceField::payload) {
      if (!has_payload) continue;
      type = payload == trace::PayloadType::f64   ? nvtx::entry_type::c_double
             : payload == trace::PayloadType::i64 ? nvtx::entry_type::int64
                                                  : type;
    }
    layout.offsets[static_cast<std::size_t>(place.field)] = place.offset;
    fields.push_back(
        SchemaField{text(nvtx::name_of(place.field)), type, 0, 0, place.offset, no_string});
  }
  // A stream has no handle here: its id stands for it.
  layout.offsets[static_cast<std::size_t>(nvtx::DeviceField::stream_handle)] =
      layout.offsets[static_cast<std::size_t>(nvtx::DeviceField::stream)];
  layout.schema = schema(domain, {text(nvtx::device_range_schema_name), has_payload ? 40u : 32u,
                                  nvtx::schema_type::fixed_schema, std::move(fields)});
  layout.domain = domains_[domain].number;
  processes_[domains_[domain].process]->device_layout(layout);
  return device_schemas_[key] = layout.schema;
}

std::uint32_t ExternalWriter::device_thread(std::uint32_t process) {
  const auto found = device_threads_.find(process);
  if (found != device_threads_.end()) return found->second;
  return device_threads_[process] = add_thread(process, 0, text(device_thread_name));
}

void ExternalWriter::add_device_range(std::uint32_t domain, const GivenDeviceRange& range) {
  constexpr std::uint64_t size = 32;  // bytes, without a payload of its own
  constexpr std::uint64_t head = 3;   // words: schema, size as given, size kept
  const std::uint64_t schema = device_schema(domain, trace::PayloadType::none);
  const Place place = domains_[domain];
  SiteDefinition site = {};
  site.domain = place.number;
  site.message = range.name;
  site.message_type = range.name == no_string ? 0 : 1;
  site.payload_type = static_cast<std::uint8_t>(trace::PayloadType::ext);
  const bool has_payload = range.schema != 0;
  const std::size_t own_words = has_payload ? head + (range.bytes + 7) / 8 : 0;
  site.device = 1 + static_cast<std::uint8_t>(has_payload ? trace::PayloadType::ext
                                                          : trace::PayloadType::none);
  ProcessPart& part = *processes_[place.process];
  EventLane& lane = part.lane(threads_[device_thread(place.process)].number);
  const std::uint64_t before = lane.bytes();
  std::uint64_t* to = lane.add(ticks_of(range.start), ticks_of(range.end), LaneEvent::start_end,
                               part.site(site), 1 + head + size / 8 + own_words);
  to[0] = (head + own_words) * 8 + size;
  to[1] = schema;
  to[2] = to[3] = size;
  to[4] = static_cast<std::uint32_t>(range.device) | std::uint64_t{range.tid} << 32;
  to[5] = range.stream;
  to[6] = range.correlation;
  to[7] = range.launched == 0 ? 0 : ticks_of(range.launched);
  if (has_payload) {
    to[8] = range.schema;
    to[9] = to[10] = range.bytes;
    std::copy(range.data, range.data + (range.bytes + 7) / 8, to + 11);
  }
  added(lane, before);
}

void ExternalWriter::spill() {
  for (const auto& process : processes_) {
    for (std::uint32_t i = 0; i < process->threads(); ++i) {
      process->lane(i).spill(spill_);
      process->loose(i).spill(spill_);
    }
  }
  held_ = 0;
}

void ExternalWriter::write(int fd) {
  const ProcessPart::Output output{fd, texts_, spill_, next_id_, overlapping_};
  std::uint64_t end = 0;
  for (const auto& process : processes_) {
    process->pair_loose(spill_, next_id_);
    end = process->write(output, end);
  }
  if (processes_.empty()) {
    ProcessPart nobody(FileHeader{}, 0);
    nobody.write(output, end);
  }
}

void ExternalWriter::close() {
  if (!open_) return;
  const std::string temporary = path_ + '.' + std::to_string(run_) + ".tmp";
  constexpr mode_t everybody = 0666;  // which the umask narrows
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, everybody);
  if (fd < 0) {
    const int error = errno;
    abort();
    throw std::system_error(error, std::generic_category(), "create");
  }
  try {
    write(fd);
    // A network's file system may have kept its errors for now.
    if (::close(std::exchange(fd, -1)) != 0 || ::rename(temporary.c_str(), path_.c_str()) != 0) {
      throw std::system_error(errno, std::generic_category(), "write");
    }
  } catch (...) {
    if (fd >= 0) ::close(fd);
    ::unlink(temporary.c_str());
    abort();
    throw;
  }
  abort();
}

void ExternalWriter::abort() noexcept {
  open_ = false;
  processes_.clear();
  spill_.clear();
  held_ = 0;
}

}  // namespace nvspan::record
