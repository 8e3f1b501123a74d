// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/decode/attributes.hpp"

#include "core/text/utf8.hpp"
#include "inject/decode/extension_data.hpp"
#include "inject/decode/safe_memory.hpp"

#include <cstdio>
#include <cstring>

namespace nvspan::inject {
namespace {

constexpr std::size_t most_pieces = 256;
constexpr std::size_t most_bytes = 1024 * 1024;  // of all the pieces of one event
constexpr std::size_t size_for_tool_to_find = static_cast<std::size_t>(-1);

trace::PayloadType payload_type(std::int32_t type) {
  switch (type) {
    case NVTX_PAYLOAD_UNKNOWN:
      return trace::PayloadType::none;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return trace::PayloadType::u64;
    case NVTX_PAYLOAD_TYPE_INT64:
      return trace::PayloadType::i64;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return trace::PayloadType::f64;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return trace::PayloadType::u32;
    case NVTX_PAYLOAD_TYPE_INT32:
      return trace::PayloadType::i32;
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return trace::PayloadType::f32;
    default:
      return trace::PayloadType::unknown;
  }
}

void read_registered(Call& call, const DomainView& domain, std::uint64_t handle,
                     trace::Event& event) {
  event.message_type = trace::MessageType::registered;
  const RegisteredString* found = call.registry.string(handle);
  if (found == nullptr) {
    call.add(trace::Field::count("unknown_string", handle));
    return;
  }
  event.message = found->text;
  if (found->domain == domain.handle) return;
  call.add(trace::Field::string("string_of_domain", call.registry.domain(found->domain).name));
}

// The bytes of a string whose end the tool must find; 0 when it is none.
std::size_t find_string_size(std::uint64_t schema, const void* address, core::PoolString& scratch) {
  std::size_t unit = 1;
  if (schema == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16) unit = 2;
  if (schema == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32) unit = 4;
  if (schema < NVTX_PAYLOAD_ENTRY_TYPE_CSTRING || schema > NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32) {
    return 0;
  }
  if (unit == 1) {
    if (read_string(static_cast<const char*>(address), most_bytes, scratch) !=
        StringStatus::complete) {
      return 0;
    }
    return scratch.size() + 1;
  }
  const char zeros[4] = {};
  char value[4];
  const auto* at = static_cast<const char*>(address);
  for (std::size_t size = 0; size < most_bytes; size += unit) {
    if (!read_memory(at + size, value, unit)) return 0;
    if (std::memcmp(value, zeros, unit) == 0) return size + unit;
  }
  return 0;
}

void copy_piece(Call& call, const DomainView& domain, const nvtxPayloadData_t& piece,
                std::size_t room, trace::PayloadBlob& blob) {
  blob.schema_id = piece.schemaId;
  std::size_t size = piece.size;
  if (size == size_for_tool_to_find) {
    const std::uint64_t known = call.registry.schema_size(domain.handle, piece.schemaId);
    size = known != 0 ? static_cast<std::size_t>(known)
                      : find_string_size(piece.schemaId, piece.payload, call.scratch.text);
    if (size == 0) {
      blob.error = "size unknown";
      return;
    }
  }
  blob.size = size;
  if (size > room) {
    blob.error = "too large";
    return;
  }
  if (size != 0 && piece.payload == nullptr) {
    blob.error = "null";
    return;
  }
  char* copy = call.scratch.arena.bytes(size);
  if (read_memory(piece.payload, copy, size)) {
    blob.data = std::string_view(copy, size);
  } else {
    blob.error = "unreadable";
  }
}

}  // namespace

std::string_view to_text(Call& call, const wchar_t* text) {
  if (text == nullptr) return {};
  core::PoolString& out = call.scratch.text;
  out.clear();
  for (; *text != 0; ++text) {
    core::encode_utf8(static_cast<std::uint32_t>(*text), [&](char byte) { out.push_back(byte); });
  }
  return call.scratch.arena.copy(out);
}

void add_malformed(Call& call, const char* part, std::int64_t value) {
  char text[64];
  const int length =
      std::snprintf(text, sizeof text, "%s%s %lld", call.scratch.malformed.empty() ? "" : ", ",
                    part, static_cast<long long>(value));
  if (length > 0) call.scratch.malformed.append(text, static_cast<std::size_t>(length));
}

void add_malformed_field(Call& call) {
  if (call.scratch.malformed.empty()) return;
  call.add(trace::Field::string("malformed", call.scratch.malformed));
}

void read_message(Call& call, const DomainView& domain, std::int32_t type,
                  const nvtxMessageValue_t& value, trace::Event& event) {
  switch (type) {
    case NVTX_MESSAGE_UNKNOWN:
      break;
    case NVTX_MESSAGE_TYPE_ASCII:
      event.message_type = trace::MessageType::ascii;
      event.message = to_text(call, value.ascii);
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      event.message_type = trace::MessageType::unicode;
      event.message = to_text(call, value.unicode);
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      read_registered(call, domain, handle_bits(value.registered), event);
      break;
    default:
      add_malformed(call, "message type", type);
      break;
  }
}

void read_attributes(Call& call, const DomainView& domain, const nvtxEventAttributes_t* attributes,
                     trace::Event& event) {
  if (attributes == nullptr) return;
  const nvtxEventAttributes_t read = read_given(call, attributes);
  if (read.version > NVTX_VERSION || attributes->version == 0) {
    add_malformed(call, "version", attributes->version);
  }
  event.category = read.category;
  if (read.category != 0) {
    event.category_name = call.registry.category_name(domain.handle, read.category);
  }
  if (read.colorType == NVTX_COLOR_ARGB) {
    event.has_color = true;
    event.color = read.color;
  } else if (read.colorType != NVTX_COLOR_UNKNOWN) {
    add_malformed(call, "color type", read.colorType);
  }
  read_message(call, domain, read.messageType, read.message, event);
  if (read.payloadType == NVTX_PAYLOAD_TYPE_EXT) {
    const auto* pieces = handle_from<const nvtxPayloadData_t*>(read.payload.ullValue);
    if (read.reserved0 < 0) add_malformed(call, "payload count", read.reserved0);
    const std::size_t count = read.reserved0 < 0 ? 0 : static_cast<std::size_t>(read.reserved0);
    read_payloads(call, domain, pieces, count, event);
    take_attributes(call, domain, event);
  } else {
    event.payload_type = payload_type(read.payloadType);
    event.payload_bits = read.payload.ullValue;
    if (event.payload_type == trace::PayloadType::unknown) {
      add_malformed(call, "payload type", read.payloadType);
    }
  }
}

void read_payloads(Call& call, const DomainView& domain, const nvtxPayloadData_t* pieces,
                   std::size_t count, trace::Event& event) {
  core::PoolVector<trace::PayloadBlob>& blobs = call.scratch.blobs;
  event.payload_type = trace::PayloadType::ext;
  blobs.clear();
  if (count > most_pieces) {
    add_malformed(call, "payload count", static_cast<std::int64_t>(count));
    count = 0;
  }
  std::size_t room = most_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    nvtxPayloadData_t piece = {};
    if (!read_memory(pieces + i, &piece, sizeof piece)) {
      add_malformed(call, "unreadable payload", static_cast<std::int64_t>(i));
      break;
    }
    trace::PayloadBlob& blob = blobs.emplace_back();
    copy_piece(call, domain, piece, room, blob);
    room -= blob.data.size();
  }
  event.blobs = blobs.data();
  event.blob_count = blobs.size();
}

}  // namespace nvspan::inject
