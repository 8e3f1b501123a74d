// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_names.hpp"

#include "reader/chunks/definition_records.hpp"
#include "record/file/live_format.hpp"

namespace nvspan::reader {
namespace {

constexpr std::string_view unknown = "<unknown>";

// The place of number `id`; those before it that were not there are `none`.
template <typename T>
T& place(std::vector<T>& list, std::uint32_t id, const T& none) {
  if (id >= list.size()) list.resize(std::size_t{id} + 1, none);
  return list[id];
}

}  // namespace

// What is kept of the definitions.
struct LiveNames::Adding {
  LiveNames& names;
  std::uint64_t numbers;

  void operator()(const record::StringDefinition& read, std::string_view text) const {
    if (read.id >= numbers) return;
    std::string& kept = names.kept_[read.id];
    kept.assign(text);
    place<std::string*>(names.texts_, read.id, nullptr) = &kept;
  }
  void operator()(const record::DomainDefinition& read, std::string_view) const {
    if (read.id < numbers) place(names.domains_, read.id, record::no_string) = read.name;
  }
  void operator()(const record::SiteDefinition& read, std::string_view) const {
    record::SiteDefinition none = {};
    none.id = record::no_site;
    if (read.id < numbers) place(names.sites_, read.id, none) = read;
  }
  void operator()(const record::CitedString& read, std::string_view) const {
    names.handles_[read.handle] = read.text;
  }
  void operator()(const record::CodeDefinition& read, std::string_view) const { sampled(read); }
  void operator()(const record::FrameDefinition& read, std::string_view) const { sampled(read); }
  void operator()(const record::StackDefinition& read, std::string_view) const { sampled(read); }
  void operator()(const record::SampledThreadDefinition& read, std::string_view) const {
    sampled(read);
  }
  template <typename Sampled>
  void sampled(const Sampled& read) const {
    if (read.id < numbers) names.code_.add(read);
  }
  template <typename Other>
  void operator()(const Other&, std::string_view) const {}
};

void LiveNames::read(std::uint64_t newest, ByteSource& file) {
  std::vector<Chunk> found;
  file.each_chunk(newest, [&](std::uint64_t offset, const record::ChunkHeader&) {
    if (!chunks_.empty() && chunks_.back().offset == offset) return false;
    found.push_back(Chunk{offset, sizeof(record::ChunkHeader)});
    return true;
  });
  if (!chunks_.empty()) read_chunk(chunks_.back(), file);
  for (auto chunk = found.rbegin(); chunk != found.rend(); ++chunk) {
    chunks_.push_back(*chunk);
    read_chunk(chunks_.back(), file);
  }
}

void LiveNames::read_chunk(Chunk& chunk, ByteSource& file) {
  record::ChunkHeader header = {};
  if (!file.chunk_at(chunk.offset, header) || header.size < chunk.read) return;
  const FileSpan rest = file.bytes(chunk.offset + chunk.read, header.size - chunk.read);
  // Each number has a record of its own, so none is larger than the file has words.
  const std::uint64_t numbers = file.size() / record::word;
  DefinitionReader reader(rest, DefinitionTrust::followed, header.sequence, chunk.read);
  for (DefinitionRecord found; reader.next(found);) {
    Definitions::read(found, Adding{*this, numbers});
  }
  chunk.read = reader.offset();
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
