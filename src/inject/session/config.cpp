// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/config.hpp"

#include <algorithm>

namespace nvspan::inject {
namespace {

int hex_digit(char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return -1;
}

bool decode_percent(std::string_view text, core::PoolString& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return false;
    out.push_back(static_cast<char>(high << 4 | low));
    i += 2;
  }
  return true;
}

// Cuts the part before the first `separator` off the front of `text`.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view front = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return front;
}

const char* parse_format(std::string_view value, Config& config) {
  if (value == "text") {
    config.format = Format::text;
  } else if (value == "jsonl") {
    config.format = Format::jsonl;
  } else if (value == "record") {
    config.format = Format::record;
  } else {
    return "format must be text, jsonl or record";
  }
  return nullptr;
}

bool parse_number(std::string_view value, std::uint64_t& number) {
  number = 0;
  for (const char byte : value) {
    if (byte < '0' || byte > '9') return false;
    number = number * 10 + static_cast<std::uint64_t>(byte - '0');
  }
  return !value.empty();
}

const char* parse_mode(std::string_view value, Config& config) {
  const std::string_view name = cut(value, ':');
  if (name == "full") {
    config.mode = record::RecordMode::full;
  } else if (name == "stats") {
    config.mode = record::RecordMode::stats;
  } else if (name == "armed") {
    config.mode = record::RecordMode::armed;
  } else if (name == "ring" && parse_number(value, config.ring_bytes) && config.ring_bytes != 0) {
    config.mode = record::RecordMode::ring;
  } else {
    return "mode must be full, stats, armed or ring:BYTES";
  }
  return nullptr;
}

const char* parse_domains(std::string_view value, Config& config) {
  config.all_domains = false;
  while (!value.empty()) {
    core::PoolString name(config.file.get_allocator());
    if (!decode_percent(cut(value, ','), name)) return "bad percent encoding in domains";
    config.domains.push_back(name);
  }
  return nullptr;
}

}  // namespace

bool parse_megabytes(std::string_view text, std::uint64_t& bytes) {
  constexpr std::uint64_t most = 1'000'000'000;  // megabytes
  std::uint64_t unit = 1'000'000;
  bytes = 0;
  bool fraction = false;
  bool any = false;
  for (const char byte : text) {
    if (byte == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (byte < '0' || byte > '9' || bytes >= most * 1'000'000) return false;
    const auto digit = static_cast<std::uint64_t>(byte - '0');
    any = true;
    if (fraction) {
      unit /= 10;
      bytes += digit * unit;
    } else {
      bytes = 10 * bytes + digit * unit;
    }
  }
  return any && bytes != 0;
}

const char* parse_cuda(std::string_view text, CudaChoice& choice) {
  choice = CudaChoice{};
  if (text == "off") return nullptr;
  while (!text.empty()) {
    const std::string_view part = cut(text, ',');
    const bool all = part == "all";
    const bool known = all || part == "auto" || part == "kernels" || part == "api" ||
                       part == "memory" || part == "graphs";
    if (!known) {
      choice = CudaChoice{};
      return "cuda must be auto, kernels, api, memory, graphs, all or off";
    }
    choice.kernels = true;
    choice.graphs |= all || part == "graphs";
    choice.api |= all || part == "api";
    choice.memory |= all || part == "memory";
  }
  return nullptr;
}

const char* parse_config(std::string_view text, Config& config) {
  while (!text.empty()) {
    std::string_view value = cut(text, ';');
    if (value.empty()) continue;
    if (value.find('=') == std::string_view::npos) return "each part must have an '='";
    const std::string_view key = cut(value, '=');
    const char* problem = nullptr;
    if (key == "format") {
      problem = parse_format(value, config);
    } else if (key == "file") {
      if (!decode_percent(value, config.file)) problem = "bad percent encoding in file";
      if (config.file.find('\0') != core::PoolString::npos) problem = "file contains a null byte";
    } else if (key == "domains") {
      problem = parse_domains(value, config);
    } else if (key == "origin") {
      if (!parse_number(value, config.origin)) problem = "origin must be a number";
    } else if (key == "mode") {
      problem = parse_mode(value, config);
    } else if (key == "min_duration") {
      if (!parse_number(value, config.min_duration)) problem = "min_duration must be a number";
    } else if (key == "names") {
      if (!parse_number(value, config.name_bytes)) problem = "names must be a number";
    } else if (key == "cuda") {
      config.has_cuda = true;
      problem = parse_cuda(value, config.cuda);
    } else if (key == "run") {
      if (!parse_number(value, config.run)) problem = "run must be a number";
    } else if (key == "annotate_cost") {
      if (!parse_number(value, config.annotate_cost)) problem = "annotate_cost must be a number";
    }
    if (problem != nullptr) return problem;
  }
  return nullptr;
}

}  // namespace nvspan::inject
