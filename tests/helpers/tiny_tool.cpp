// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// A minimal NVTX tool, compiled by the tests in variants, to prove what nvspan does under tools
// other than its own. It needs no NVTX header. It appends one line per call to $TINY_TOOL_LOG.
//
//   TINY_EXTENSION=1         exports the extension entry point, which returns 1
//   TINY_EXTENSION_FAILS     that entry point returns 0
//   TINY_REFUSES="name"      answers 0 for this domain when asked whether it is enabled
//   TINY_ONLY_PUSH_POP       fills in the push and pop slots and nothing else
//   TINY_FILLS_NOTHING       connects and fills in no slot

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Attributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  union {
    uint64_t bits;
    double real;
  } payload;
  int32_t message_type;
  union {
    const char* ascii;
    const std::string* registered;
  } message;
};

struct Callbacks {
  size_t size;
  int (*table)(int module, void**** out_table, unsigned* out_size);
};

struct Segment {
  size_t id;
  size_t slots;
  intptr_t* functions;
};

struct Module {
  uint16_t version;
  uint16_t size;
  uint16_t id;
  uint16_t compatibility;
  size_t segment_count;
  Segment* segments;
  void* get_export;
  const void* info;
};

using Domain = const std::string*;

void log(const std::string& line) {
  const char* path = std::getenv("TINY_TOOL_LOG");
  if (path == nullptr) {
    return;
  }
  if (std::FILE* file = std::fopen(path, "a")) {
    std::fprintf(file, "%s\n", line.c_str());
    std::fclose(file);
  }
}

std::string text(Domain domain, const Attributes* attributes) {
  std::string line = domain ? "[" + *domain + "] " : "[] ";
  switch (attributes->message_type) {
    case 0:
      line += "-";
      break;
    case 1:
      line += std::string("ascii:") + attributes->message.ascii;
      break;
    case 3:
      line += attributes->message.registered ? *attributes->message.registered : "NULL";
      break;
    default:
      line += "?";
  }
  if (attributes->payload_type == 1 || attributes->payload_type == 2) {
    line += " payload=" + std::to_string(attributes->payload.bits);
  } else if (attributes->payload_type != 0) {
    line += " payload_type=" + std::to_string(attributes->payload_type);
  }
  return line;
}

void mark(Domain domain, const Attributes* a) { log("mark " + text(domain, a)); }
int push(Domain domain, const Attributes* a) { return log("push " + text(domain, a)), 0; }
int pop(Domain domain) { return log(domain ? "pop [" + *domain + "]" : "pop []"), 0; }
uint64_t start(Domain domain, const Attributes* a) { return log("start " + text(domain, a)), 41; }
void end(Domain domain, uint64_t id) {
  log("end " + std::string(domain ? "[" + *domain + "] " : "[] ") + std::to_string(id));
}
Domain create(const char* name) {
  log(std::string("create ") + name);
  return new std::string(name);
}
void destroy(Domain domain) { log(domain ? "destroy " + *domain : "destroy default"); }
const std::string* register_string(Domain, const char* string) { return new std::string(string); }
void name_category(Domain domain, uint32_t id, const char* name) {
  log("category " + (domain ? *domain : std::string()) + " " + std::to_string(id) + " " + name);
}

template <typename Function>
void set(void*** table, unsigned slot, Function function) {
  *table[slot] = reinterpret_cast<void*>(function);
}

#ifdef TINY_REFUSES
uint8_t is_enabled(Domain domain) { return domain == nullptr || *domain != TINY_REFUSES; }
#endif

}  // namespace

extern "C" int InitializeInjectionNvtx2(const void* (*get_export_table)(uint32_t)) {
  const auto* callbacks = static_cast<const Callbacks*>(get_export_table(1));
  void*** table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->table(5, &table, &size) == 0) {
    return 0;
  }
  log("connect");
#ifndef TINY_FILLS_NOTHING
  set(table, 4, push);
  set(table, 5, pop);
#ifndef TINY_ONLY_PUSH_POP
  set(table, 1, mark);
  set(table, 2, start);
  set(table, 3, end);
  set(table, 8, name_category);
  set(table, 10, register_string);
  set(table, 12, create);
  set(table, 14, destroy);
#endif
#endif
  return 1;
}

#ifdef TINY_EXTENSION
extern "C" int InitializeInjectionNvtxExtension(Module* module) {
#ifdef TINY_EXTENSION_FAILS
  (void)module;
  return 0;
#else
#ifdef TINY_REFUSES
  if (module->id == 2 && module->segment_count >= 1 && module->segments->slots > 7) {
    module->segments->functions[7] = reinterpret_cast<intptr_t>(is_enabled);
  }
#else
  (void)module;
#endif
  return 1;
#endif
}
#endif
