// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/file/format.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace nvspan::inject {

// Empty where it is not set.
inline std::string_view environment(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// What is recorded of GPUs.
struct CudaChoice {
  bool kernels = false;  // and copies, sets, and graphs as one piece of work each
  bool graphs = false;   // each kernel of a graph
  bool api = false;      // all calls of the runtime and the driver
  bool memory = false;   // allocations and frees
};

enum class Format : std::uint8_t { text, jsonl, record };

// What NVSPAN_TRACE or nvspan_inject_open asks for: "key=value" pairs, separated by ';'.
struct Config {
  explicit Config(core::PagePool& pool) : file(pool), domains(pool) {}

  Format format = Format::text;
  core::PoolString file;                       // empty: standard error
  bool all_domains = true;                     // else only those in `domains`
  core::PoolVector<core::PoolString> domains;  // "NVTX" stands for the default domain as well
  std::uint64_t origin = 0;  // the CLOCK_MONOTONIC ns shown as zero; 0: when tracing begins
  // Of a recording:
  record::RecordMode mode = record::RecordMode::full;
  std::uint64_t ring_bytes = 0;
  std::uint64_t min_duration = 0;  // ns
  std::uint64_t name_bytes = 0;    // for names; 0: not said
  std::uint64_t run = 0;
  std::uint64_t annotate_cost = 0;  // ns of one annotation, recorded; 0: not measured
  bool has_cuda = false;            // `cuda` is said
  CudaChoice cuda;
};

// False: `text` is no number of megabytes above 0, such as "16" or "0.5".
bool parse_megabytes(std::string_view text, std::uint64_t& bytes);

// What "off", "auto", "kernels", "api", "memory", "graphs" and "all" stand for, all but the first
// also together. Null, or what is wrong with `text`.
const char* parse_cuda(std::string_view text, CudaChoice& choice);

// Fills `config` and returns null, or returns what is wrong with `text`. Unknown keys are ignored,
// so that an older library understands a newer launcher.
const char* parse_config(std::string_view text, Config& config);

}  // namespace nvspan::inject
