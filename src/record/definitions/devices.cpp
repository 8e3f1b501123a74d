// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/definitions/devices.hpp"

#include "record/file/device_schema.hpp"
#include "record/file/ticks.hpp"
#include "trace/event/event.hpp"

#include <cstddef>

namespace nvspan::record {
namespace {

// NVTX_RESOURCE_MAKE_TYPE of the classes CUDA (4) and CUDART (5), device and stream.
bool names_device(std::uint64_t type, DeviceNameKind& kind) {
  constexpr std::uint64_t cu_device = 4u << 16 | 1, cu_stream = 4u << 16 | 3;
  constexpr std::uint64_t cuda_device = 5u << 16 | 0, cuda_stream = 5u << 16 | 1;
  kind = type == cu_device || type == cuda_device ? DeviceNameKind::device : DeviceNameKind::stream;
  return type == cu_device || type == cu_stream || type == cuda_device || type == cuda_stream;
}

}  // namespace

void DeviceDefinitions::schema(const trace::Event& event) {
  const trace::Field* name = trace::find_field(event, "name");
  const trace::Field* entries = trace::find_field(event, "entries");
  const trace::Field* id = trace::find_field(event, "id");
  if (name == nullptr || entries == nullptr || id == nullptr ||
      name->text != nvtx::device_range_schema_name) {
    return;
  }
  DeviceLayoutDefinition layout = {};
  layout.schema = id->unsigned_integer;
  layout.domain = names_.domain(event.domain_handle, event.domain);
  for (std::uint32_t& offset : layout.offsets) offset = no_string;
  auto payload = trace::PayloadType::none;
  for (std::size_t i = 0; i < entries->child_count; ++i) {
    const trace::Field& entry = entries->children[i];
    const trace::Field* entry_name = trace::find_member(entry, "name");
    const std::uint64_t offset = trace::number_of(trace::find_member(entry, "offset"));
    if (entry_name == nullptr || offset > most_device_bytes) continue;
    for (std::size_t k = 0; k < device_fields; ++k) {
      if (entry_name->text != nvtx::device_field_names[k]) continue;
      layout.offsets[k] = static_cast<std::uint32_t>(offset);
      if (k != static_cast<std::size_t>(DeviceField::payload)) continue;
      payload = device_payload_type(trace::number_of(trace::find_member(entry, "type")));
    }
  }
  schemas_[trace::DomainKey{event.domain_handle, layout.schema}] = payload;
  chunk_.add(DefinitionType::device_layout, layout);
}

std::uint8_t DeviceDefinitions::device_of(const trace::Event& event) const {
  if (event.payload_type != trace::PayloadType::ext || event.blob_count != 1 || schemas_.empty()) {
    return 0;
  }
  const auto found = schemas_.find(trace::DomainKey{event.domain_handle, event.blobs[0].schema_id});
  return found == schemas_.end()
             ? std::uint8_t{0}
             : static_cast<std::uint8_t>(1 + static_cast<unsigned>(found->second));
}

void DeviceDefinitions::name(const trace::Event& event) {
  DeviceNameDefinition definition = {};
  if (event.kind == trace::EventKind::name_cuda) {
    const trace::Field* what = trace::find_field(event, "what");
    if (what == nullptr) return;
    const bool device = what->text == "cu_device" || what->text == "cuda_device";
    if (!device && what->text != "cu_stream" && what->text != "cuda_stream") return;
    definition.kind =
        static_cast<std::uint32_t>(device ? DeviceNameKind::device : DeviceNameKind::stream);
    definition.handle = trace::number_of(trace::find_field(event, "handle"));
  } else {
    auto kind = DeviceNameKind::device;
    if (!names_device(trace::number_of(trace::find_field(event, "type")), kind)) return;
    definition.kind = static_cast<std::uint32_t>(kind);
    definition.handle = trace::number_of(trace::find_field(event, "identifier"));
  }
  const trace::Field* name = trace::find_field(event, "name");
  if (name == nullptr || name->text.data() == nullptr) return;
  definition.name = names_.string(name->text).id;
  if (definition.name == no_string) return;
  definition.ticks = ticks_now();
  chunk_.add(DefinitionType::device_name, definition);
}

}  // namespace nvspan::record
