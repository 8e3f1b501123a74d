// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a recording needs to tell ranges of a device from those of the CPU: the schema by which the
// program describes them, and the names of devices and streams.

#include "record/writer/recorder.hpp"

#include "record/file/device_schema.hpp"

namespace nvspan::record {
namespace {

const trace::Field* member(const trace::Field& object, std::string_view key) {
  for (std::size_t i = 0; i < object.child_count; ++i) {
    if (object.children[i].key != nullptr && key == object.children[i].key) {
      return object.children + i;
    }
  }
  return nullptr;
}

const trace::Field* field_of(const trace::Event& event, std::string_view key) {
  for (std::size_t i = 0; i < event.field_count; ++i) {
    if (key == event.fields[i].key) return event.fields + i;
  }
  return nullptr;
}

std::uint64_t number_of(const trace::Field* field) {
  return field == nullptr ? 0 : field->unsigned_integer;
}

// NVTX_RESOURCE_MAKE_TYPE of the classes CUDA (4) and CUDART (5), device and stream.
bool names_what(std::uint64_t type, DeviceNameKind& what) {
  constexpr std::uint64_t cu_device = 4u << 16 | 1, cu_stream = 4u << 16 | 3;
  constexpr std::uint64_t cuda_device = 5u << 16 | 0, cuda_stream = 5u << 16 | 1;
  what = type == cu_device || type == cuda_device ? DeviceNameKind::device : DeviceNameKind::stream;
  return type == cu_device || type == cu_stream || type == cuda_device || type == cuda_stream;
}

}  // namespace

void Recorder::keep_device_schema(const trace::Event& event) {
  const trace::Field* name = field_of(event, "name");
  const trace::Field* entries = field_of(event, "entries");
  const trace::Field* id = field_of(event, "id");
  if (name == nullptr || entries == nullptr || id == nullptr ||
      name->text != nvtx::device_range_schema_name) {
    return;
  }
  DeviceLayoutDefinition made = {};
  made.schema = id->unsigned_integer;
  made.domain = domain(event.domain_handle, event.domain);
  for (std::uint32_t& offset : made.offsets) offset = no_string;
  auto payload = trace::PayloadType::none;
  for (std::size_t i = 0; i < entries->child_count; ++i) {
    const trace::Field& entry = entries->children[i];
    const trace::Field* entry_name = member(entry, "name");
    const std::uint64_t offset = number_of(member(entry, "offset"));
    if (entry_name == nullptr || offset > most_device_bytes) continue;
    for (std::size_t k = 0; k < device_fields; ++k) {
      if (entry_name->text != nvtx::device_field_names[k]) continue;
      made.offsets[k] = static_cast<std::uint32_t>(offset);
      if (k != static_cast<std::size_t>(DeviceField::payload)) continue;
      payload = device_payload_type(number_of(member(entry, "type")));
    }
  }
  device_schemas_[trace::DomainKey{event.domain_handle, made.schema}] = payload;
  define(DefinitionType::device_layout, &made, sizeof made);
}

// As SiteDefinition::device has it.
std::uint8_t Recorder::device_site(const trace::Event& event) const {
  if (event.payload_type != trace::PayloadType::ext || event.blob_count != 1 ||
      device_schemas_.empty()) {
    return 0;
  }
  const auto found =
      device_schemas_.find(trace::DomainKey{event.domain_handle, event.blobs[0].schema_id});
  return found == device_schemas_.end()
             ? std::uint8_t{0}
             : static_cast<std::uint8_t>(1 + static_cast<unsigned>(found->second));
}

// Of nvtxNameCuStream and its like, and of resources that stand for a device or a stream.
void Recorder::keep_device_name(const trace::Event& event) {
  DeviceNameDefinition made = {};
  if (event.kind == trace::EventKind::name_cuda) {
    const trace::Field* what = field_of(event, "what");
    if (what == nullptr) return;
    const bool device = what->text == "cu_device" || what->text == "cuda_device";
    if (!device && what->text != "cu_stream" && what->text != "cuda_stream") return;
    made.what =
        static_cast<std::uint32_t>(device ? DeviceNameKind::device : DeviceNameKind::stream);
    made.handle = number_of(field_of(event, "handle"));
  } else {
    auto what = DeviceNameKind::device;
    if (!names_what(number_of(field_of(event, "type")), what)) return;
    made.what = static_cast<std::uint32_t>(what);
    made.handle = number_of(field_of(event, "identifier"));
  }
  const trace::Field* name = field_of(event, "name");
  if (name == nullptr || name->text.data() == nullptr) return;
  made.name = string(name->text).id;
  if (made.name == no_string) return;
  made.ticks = ticks_now();
  define(DefinitionType::device_name, &made, sizeof made);
}

}  // namespace nvspan::record
