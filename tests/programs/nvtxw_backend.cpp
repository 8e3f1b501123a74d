// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A library with NVTX's writer interface (NVTXW), version 2, that writes each call as a line of
// text into the file of its session's option "file", by what it means: schemas by their entries,
// handles by their texts. With "fail=CALL" that call fails with the code 7.

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

struct SessionAttributes {
  std::size_t size;
  const char* name;
  const char* config;
};
struct DomainAttributes {
  std::size_t size;
  const char* name;
};
struct StreamAttributes {
  std::size_t size;
  const char* name;
  nvtxDomainHandle_t domain;
  std::uint64_t scope, time_domain;
  std::int16_t interleaving, ordering;
  std::int32_t skid;
  std::int64_t skid_amount;
};
struct Entry {
  std::uint64_t flags, type, detail, offset;
  std::string semantics;
};
struct Schema {
  std::uint64_t type, flags, size;
  std::vector<Entry> entries;
};
struct Domain {
  std::string name;
  std::map<std::uint64_t, Schema> schemas;
};
struct Session {
  std::FILE* file;
  std::string fail;
  std::map<std::string, Domain*> domains;
};
struct Stream {
  Session* session;
  Domain* domain;
};

Session* current = nullptr;
bool silent = false;
std::uint64_t next_id = std::uint64_t{1} << 33;
std::uint64_t finalized = 0;

bool fails(const char* call) { return current != nullptr && current->fail == call; }

std::string text(const char* given) {
  return given == nullptr ? "-" : "'" + std::string(given) + "'";
}

template <typename... Values>
void line(const char* format, Values... values) {
  if (silent) return;
  std::fprintf(current->file, format, values...);
  std::fputc('\n', current->file);
}

std::string hex(const void* data, std::size_t size) {
  std::string out;
  char two[3];
  for (std::size_t i = 0; i < size; ++i) {
    std::snprintf(two, sizeof two, "%02x", static_cast<const unsigned char*>(data)[i]);
    out += two;
  }
  return out;
}

std::string semantics_text(const nvtxSemanticsHeader_t* header) {
  std::string out;
  for (; header != nullptr; header = header->next) {
    if (header->semanticId != NVTX_SEMANTIC_ID_COUNTERS_V1) continue;
    const auto* counter = reinterpret_cast<const nvtxSemanticsCounter_t*>(header);
    out += "{v" + std::to_string(header->version) + " flags=" + std::to_string(counter->flags) +
           " unit=" + text(counter->unit) +
           " scale=" + std::to_string(counter->unitScaleNumerator) + "/" +
           std::to_string(counter->unitScaleDenominator) +
           " limits=" + std::to_string(counter->limitType);
    if (counter->flags & NVTX_COUNTER_FLAG_LIMIT_MIN)
      out += " min=" + std::to_string(counter->min.u64);
    if (counter->flags & NVTX_COUNTER_FLAG_LIMIT_MAX)
      out += " max=" + std::to_string(counter->max.u64);
    out += "}";
  }
  return out;
}

std::string schema_text(const Domain& domain, std::uint64_t id);

std::string type_text(const Domain& domain, std::uint64_t type) {
  return domain.schemas.count(type) != 0 ? schema_text(domain, type) : std::to_string(type);
}

std::string schema_text(const Domain& domain, std::uint64_t id) {
  const auto found = domain.schemas.find(id);
  if (found == domain.schemas.end()) return std::to_string(id);
  const Schema& schema = found->second;
  std::string out = "(" + std::to_string(schema.type) + ":" + std::to_string(schema.flags) + ":" +
                    std::to_string(schema.size);
  for (const Entry& entry : schema.entries) {
    out += " " + std::to_string(entry.flags) + "/" + type_text(domain, entry.type) + "/" +
           std::to_string(entry.detail) + "@" + std::to_string(entry.offset) + entry.semantics;
  }
  return out + ")";
}

// The bytes, with the text of a registered string in place of its handle.
std::string data_text(const Domain& domain, std::uint64_t id, const void* data, std::size_t size) {
  std::string bytes(static_cast<const char*>(data), size);
  const auto found = domain.schemas.find(id);
  std::string messages;
  if (found != domain.schemas.end() && found->second.size != 0) {
    for (std::size_t row = 0; row + found->second.size <= size; row += found->second.size) {
      for (const Entry& entry : found->second.entries) {
        if (entry.type != NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE) continue;
        std::uint64_t handle = 0;
        std::memcpy(&handle, &bytes[row + entry.offset], sizeof handle);
        messages += handle == 0 ? " -" : " '" + *reinterpret_cast<std::string*>(handle) + "'";
        std::memset(&bytes[row + entry.offset], 0, sizeof handle);
      }
    }
  }
  return hex(bytes.data(), bytes.size()) + messages;
}

std::int32_t session_begin(const SessionAttributes* attributes, void** out) {
  auto* session = new Session{stderr, "", {}};
  std::string config = attributes->config == nullptr ? "" : attributes->config;
  for (std::size_t at = 0; at < config.size();) {
    const std::size_t end = std::min(config.find('\n', at), config.size());
    const std::string option = config.substr(at, end - at);
    at = end + 1;
    if (option.rfind("file=", 0) == 0) session->file = std::fopen(option.c_str() + 5, "a");
    if (option.rfind("fail=", 0) == 0) session->fail = option.substr(5);
    if (option == "silent=1") silent = true;
  }
  current = session;
  if (fails("SessionBegin")) return 7;
  line("session %s", text(attributes->name).c_str());
  *out = session;
  return 0;
}
std::int32_t session_end(void* session) {
  line("end");
  if (current->file != stderr) std::fclose(current->file);
  const bool failed = fails("SessionEnd");
  current = nullptr;
  delete static_cast<Session*>(session);
  return failed ? 7 : 0;
}
std::int32_t domain_register(void* given, const DomainAttributes* attributes, void** out) {
  if (fails("DomainRegister")) return 7;
  auto* session = static_cast<Session*>(given);
  const std::string name = attributes->name == nullptr ? "" : attributes->name;
  Domain*& domain = session->domains[name];
  if (domain == nullptr) domain = new Domain{name, {}};
  line("domain '%s'", name.c_str());
  *out = domain;
  return 0;
}
std::int32_t category(void* domain, std::uint32_t number, const char* name) {
  line("category [%s] %u %s", static_cast<Domain*>(domain)->name.c_str(), number,
       text(name).c_str());
  return 0;
}
std::int32_t string(void* domain, const char* given, void** out) {
  if (fails("StringRegister")) return 7;
  line("string [%s] %s", static_cast<Domain*>(domain)->name.c_str(), text(given).c_str());
  *out = new std::string(given);
  return 0;
}
std::int32_t resource(void*, const void*) { return 7; }
std::int32_t scope(void* domain, const nvtxScopeAttr_t* attributes, std::uint64_t* out) {
  if (fails("ScopeRegister")) return 7;
  static std::map<std::uint64_t, std::string> paths;
  const auto above = paths.find(attributes->parentScope);
  const std::string parent =
      above == paths.end() ? std::to_string(attributes->parentScope) : above->second;
  line("scope [%s] %s below %s", static_cast<Domain*>(domain)->name.c_str(),
       text(attributes->path).c_str(), parent.c_str());
  *out = ++next_id;
  paths[*out] = parent + "/" + (attributes->path == nullptr ? "" : attributes->path);
  return 0;
}
std::int32_t schema(void* given, const nvtxPayloadSchemaAttr_t* attributes, std::uint64_t* out) {
  if (fails("SchemaRegister")) return 7;
  Schema made{attributes->type, attributes->flags, 0, {}};
  if (attributes->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) {
    made.size = attributes->payloadStaticSize;
  }
  for (std::size_t i = 0; i < attributes->numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = attributes->entries[i];
    made.entries.push_back(Entry{entry.flags, entry.type, entry.arrayOrUnionDetail, entry.offset,
                                 semantics_text(entry.semantics)});
  }
  *out = ++next_id;
  static_cast<Domain*>(given)->schemas[*out] = made;
  return 0;
}
std::int32_t no_enum(void*, const void*, std::uint64_t*) { return 7; }
std::int32_t counter(void* given, const nvtxCounterAttr_t* attributes, std::uint64_t* out) {
  if (fails("CounterRegister")) return 7;
  auto* domain = static_cast<Domain*>(given);
  line("counter [%s] %s %s %s scope=%d%s", domain->name.c_str(), text(attributes->name).c_str(),
       text(attributes->description).c_str(), schema_text(*domain, attributes->schemaId).c_str(),
       attributes->scopeId > 0xFFFFFFFF ? -1 : static_cast<int>(attributes->scopeId),
       semantics_text(attributes->semantics).c_str());
  *out = ++next_id;
  return 0;
}
std::int32_t no_time_domain(void*, const void*, std::uint64_t*) { return 7; }
std::int32_t stream_open(void* session, const StreamAttributes* attributes, void** out) {
  if (fails("StreamOpen")) return 7;
  auto* domain = reinterpret_cast<Domain*>(attributes->domain);
  line("stream %s [%s] scope=%d time=%llu %d %d %d %lld", text(attributes->name).c_str(),
       domain->name.c_str(),
       attributes->scope > 0xFFFFFFFF ? -1 : static_cast<int>(attributes->scope),
       static_cast<unsigned long long>(attributes->time_domain), attributes->interleaving,
       attributes->ordering, attributes->skid, static_cast<long long>(attributes->skid_amount));
  *out = new Stream{static_cast<Session*>(session), domain};
  return 0;
}
std::int32_t stream_close(void* stream) {
  line("close");
  delete static_cast<Stream*>(stream);
  return fails("StreamClose") ? 7 : 0;
}
std::int32_t event(void* stream, const nvtxPayloadData_t* pieces, std::size_t count) {
  if (fails("EventWrite")) return 7;
  const Domain& domain = *static_cast<Stream*>(stream)->domain;
  std::string out = "event";
  for (std::size_t i = 0; i < count; ++i) {
    out += " " + schema_text(domain, pieces[i].schemaId) + " " +
           data_text(domain, pieces[i].schemaId, pieces[i].payload, pieces[i].size);
  }
  line("%s", out.c_str());
  return 0;
}
std::int32_t events(void* stream, const nvtxEventBatch_t* batch) {
  if (fails("EventBatchWrite")) return 7;
  if (silent) return 0;
  const Domain& domain = *static_cast<Stream*>(stream)->domain;
  line("events %s flags=%llu %s", schema_text(domain, batch->eventSchemaId).c_str(),
       static_cast<unsigned long long>(batch->flags),
       data_text(domain, batch->eventSchemaId, batch->events, batch->size).c_str());
  return 0;
}
std::int32_t sample(void*, std::int64_t time, std::uint64_t, const void* data, std::size_t size) {
  if (fails("CounterWrite")) return 7;
  line("sample %lld %s", static_cast<long long>(time), hex(data, size).c_str());
  return 0;
}
std::int32_t no_value(void*, std::int64_t time, std::uint64_t, std::uint8_t reason) {
  line("no value %lld %d", static_cast<long long>(time), reason);
  return 0;
}
std::int32_t samples(void*, const nvtxCounterBatch_t* batch) {
  if (fails("CounterBatchWrite")) return 7;
  if (silent) return 0;
  line("samples flags=%llu %s at %s", static_cast<unsigned long long>(batch->flags),
       hex(batch->counters, batch->countersSize).c_str(),
       hex(batch->timestamps, batch->timestampsSize).c_str());
  return 0;
}

const void* const interface[64] = {
    reinterpret_cast<const void*>(&session_begin),   reinterpret_cast<const void*>(&session_end),
    reinterpret_cast<const void*>(&domain_register), reinterpret_cast<const void*>(&category),
    reinterpret_cast<const void*>(&string),          reinterpret_cast<const void*>(&resource),
    reinterpret_cast<const void*>(&scope),           reinterpret_cast<const void*>(&schema),
    reinterpret_cast<const void*>(&no_enum),         reinterpret_cast<const void*>(&counter),
    reinterpret_cast<const void*>(&no_time_domain),  reinterpret_cast<const void*>(&stream_open),
    reinterpret_cast<const void*>(&stream_close),    reinterpret_cast<const void*>(&event),
    reinterpret_cast<const void*>(&events),          reinterpret_cast<const void*>(&sample),
    reinterpret_cast<const void*>(&no_value),        reinterpret_cast<const void*>(&samples)};

}  // namespace

extern "C" {

std::int32_t nvtxwGetInterface(std::int32_t version, const void** out) {
  if (version != 2) return 6;
  *out = interface;
  return 0;
}
void nvtxwFinalize(void) { ++finalized; }
std::uint64_t nvtxw_finalized(void) { return finalized; }
}
