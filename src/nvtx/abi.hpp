// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// NVTX's types as the annotations speak them. With NVSPAN_HAVE_NVTX=0 the same names stand for
// local types that no tool ever sees, so that one code base serves both builds.

#include <cstddef>
#include <cstdint>

#if NVSPAN_HAVE_NVTX

#ifndef NVSPAN_NVTX_WITH_IMPLEMENTATION
#define NVTX_NO_IMPL
#endif
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#else

struct nvspan_no_domain;
struct nvspan_no_string;
using nvtxDomainHandle_t = nvspan_no_domain*;
using nvtxStringHandle_t = nvspan_no_string*;
using nvtxRangeId_t = uint64_t;

union nvtxMessageValue_t {
  const char* ascii;
  nvtxStringHandle_t registered;
};

struct nvtxEventAttributes_t {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType;
  int32_t reserved0;
  union payload_t {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
  } payload;
  int32_t messageType;
  nvtxMessageValue_t message;
};

enum {
  NVTX_VERSION = 3,
  NVTX_COLOR_UNKNOWN = 0,
  NVTX_COLOR_ARGB = 1,
  NVTX_PAYLOAD_UNKNOWN = 0,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64 = 2,
  NVTX_PAYLOAD_TYPE_DOUBLE = 3,
  NVTX_MESSAGE_UNKNOWN = 0,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_REGISTERED = 3,
};

#endif
