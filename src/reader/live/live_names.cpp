// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_names.hpp"

#include "record/file/checksum.hpp"
#include "record/file/live_format.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace nvspan::reader {
namespace {

using record::word;

constexpr std::string_view unknown = "<unknown>";
constexpr std::size_t most_chunks = 1 << 20;
constexpr std::uint32_t most_ids = 1 << 28;

std::uint64_t load(const char* at) {
  return reinterpret_cast<const std::atomic<std::uint64_t>*>(at)->load(std::memory_order_acquire);
}

bool is_kept(record::DefinitionType type) {
  return type == record::DefinitionType::string || type == record::DefinitionType::domain ||
         type == record::DefinitionType::site || type == record::DefinitionType::cited_string;
}

template <typename T>
bool take(std::string_view body, T& out) {
  if (body.size() < sizeof(T)) return false;
  body.copy(reinterpret_cast<char*>(&out), sizeof(T));
  return true;
}

}  // namespace

void LiveNames::read(const char* file, std::size_t bytes, std::uint64_t newest) {
  std::vector<Chunk> found;
  std::uint64_t offset = newest;
  while (offset != 0 && offset % record::chunk_alignment == 0 &&
         offset + sizeof(record::ChunkHeader) <= bytes && found.size() < most_chunks) {
    if (!chunks_.empty() && chunks_.back().offset == offset) break;
    record::ChunkHeader header = {};
    std::memcpy(&header, file + offset, sizeof header);
    if (header.magic != record::chunk_magic || header.before >= offset) break;
    found.push_back(Chunk{offset, sizeof header});
    offset = header.before;
  }
  if (!chunks_.empty()) read_chunk(file, bytes, chunks_.back());
  for (std::size_t i = found.size(); i-- > 0;) {
    chunks_.push_back(found[i]);
    read_chunk(file, bytes, chunks_.back());
  }
}

void LiveNames::read_chunk(const char* file, std::size_t bytes, Chunk& chunk) {
  record::ChunkHeader header = {};
  std::memcpy(&header, file + chunk.offset, sizeof header);
  const std::size_t end = std::min<std::size_t>(header.size, bytes - chunk.offset);
  while (chunk.read + word <= end) {
    const char* at = file + chunk.offset + chunk.read;
    const std::uint64_t head = load(at);
    if (head == 0) return;
    const auto size = static_cast<std::size_t>(head >> 32);
    const std::size_t words = (size + word - 1) / word;
    if (words > (end - chunk.read) / word - 1) return;
    const auto type = static_cast<record::DefinitionType>(head & 0xFF);
    if (is_kept(type)) {
      const auto* body = reinterpret_cast<const std::uint64_t*>(at + word);
      if (head == record::definition_word(type, size, header.sequence, chunk.read, body, words)) {
        add(type, std::string_view(at + word, size));
      }
    }
    chunk.read += (1 + words) * word;
  }
}

void LiveNames::add(record::DefinitionType type, std::string_view body) {
  if (type == record::DefinitionType::string) {
    record::StringDefinition read = {};
    if (!take(body, read) || read.id > most_ids) return;
    if (read.id >= texts_.size()) texts_.resize(std::size_t{read.id} + 1);
    std::string& kept = kept_[read.id];
    kept.assign(body.substr(sizeof read));
    texts_[read.id] = &kept;
  } else if (type == record::DefinitionType::domain) {
    record::DomainDefinition read = {};
    if (!take(body, read) || read.id > most_ids) return;
    if (read.id >= domains_.size()) domains_.resize(std::size_t{read.id} + 1, record::no_string);
    domains_[read.id] = read.name;
  } else if (type == record::DefinitionType::site) {
    record::SiteDefinition read = {};
    if (!take(body, read) || read.id > most_ids) return;
    record::SiteDefinition none = {};
    none.id = record::no_site;
    if (read.id >= sites_.size()) sites_.resize(std::size_t{read.id} + 1, none);
    sites_[read.id] = read;
  } else {
    record::CitedString read = {};
    if (take(body, read)) handles_[read.handle] = read.text;
  }
}

std::string_view LiveNames::text(std::uint32_t id) const {
  if (id == record::no_string) return {};
  return id < texts_.size() && texts_[id] != nullptr ? std::string_view(*texts_[id]) : unknown;
}

const record::SiteDefinition* LiveNames::site(std::uint32_t number) const {
  return number < sites_.size() && sites_[number].id == number ? &sites_[number] : nullptr;
}

LiveNames::Name LiveNames::name(std::uint64_t entry) const {
  const auto number = static_cast<std::uint32_t>(entry);
  if (entry >> record::live_kind_shift == static_cast<std::uint64_t>(record::LiveName::site)) {
    if (number >= sites_.size() || sites_[number].id != number) return Name{unknown, unknown};
    const record::SiteDefinition& site = sites_[number];
    const std::uint32_t domain =
        site.domain < domains_.size() ? domains_[site.domain] : record::no_string;
    return Name{text(domain), text(site.message)};
  }
  const auto of = [&](std::uint64_t handle) {
    const auto found = handles_.find(handle);
    return found == handles_.end() ? unknown : text(found->second);
  };
  const std::uint64_t bits = entry >> record::live_domain_shift & record::live_domain_mask;
  return Name{bits == 0 ? std::string_view() : of(record::live_domain_handles | bits),
              of(record::live_string_handles | number)};
}

}  // namespace nvspan::reader
