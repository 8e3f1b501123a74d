// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Attributes of events, and a check that ends the program.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                    \
  do {                                                                      \
    if (!(condition)) {                                                     \
      std::fprintf(stderr, "line %d: %s is false\n", __LINE__, #condition); \
      std::exit(1);                                                         \
    }                                                                       \
  } while (0)

inline nvtxEventAttributes_t attributes() {
  nvtxEventAttributes_t made = {};
  made.version = NVTX_VERSION;
  made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return made;
}

inline nvtxEventAttributes_t named(const char* message) {
  nvtxEventAttributes_t made = attributes();
  made.messageType = NVTX_MESSAGE_TYPE_ASCII;
  made.message.ascii = message;
  return made;
}

inline nvtxEventAttributes_t named(nvtxStringHandle_t message) {
  nvtxEventAttributes_t made = attributes();
  made.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  made.message.registered = message;
  return made;
}

inline nvtxEventAttributes_t numbered(const char* message, unsigned long long number) {
  nvtxEventAttributes_t made = named(message);
  made.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  made.payload.ullValue = number;
  return made;
}
