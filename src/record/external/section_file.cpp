// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/external/section_file.hpp"

#include "record/external/spill_file.hpp"
#include "record/file/checksum.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::size_t usual_chunk = std::size_t{1} << 20;  // bytes
constexpr std::size_t header_words = sizeof(ChunkHeader) / word;

constexpr std::size_t in_words(std::size_t bytes) { return (bytes + word - 1) / word; }

}  // namespace

void SectionFile::start_chunk(ChunkType type, std::uint64_t ticks, std::size_t words) {
  const std::size_t size = std::max(usual_chunk / word, header_words + words);
  if (buffer_.size() < size) buffer_.resize(size);
  header_ = ChunkHeader{};
  header_.magic = chunk_magic;
  header_.type = static_cast<std::uint32_t>(type);
  header_.thread = thread_;
  header_.tid = tid_;
  header_.place = static_cast<std::uint32_t>(next_ / chunk_alignment);
  header_.sequence = ++chunks_;
  header_.base_ticks = base_ = ticks;
  header_.before = before_;
  at_ = buffer_.data() + header_words;
  limit_ = buffer_.data() + buffer_.size();
  events_ = 0;
}

void SectionFile::write_chunk(bool last) {
  if (at_ == nullptr) return;
  const std::size_t used = static_cast<std::size_t>(at_ - buffer_.data()) * word;
  const std::size_t size = (used + chunk_alignment - 1) / chunk_alignment * chunk_alignment;
  if (buffer_.size() * word < size) buffer_.resize(size / word);
  header_.size = static_cast<std::uint32_t>(size);
  header_.header_sum = crc32c(&header_, header_sum_offset);
  header_.last_ticks = last_ticks_;
  header_.events = static_cast<std::uint32_t>(events_);
  header_.body_sum = crc32c(buffer_.data() + header_words, used - sizeof header_);
  header_.used = static_cast<std::uint32_t>(used) | (last ? last_of_thread : 0);
  header_.seal_sum = crc32c(&header_, seal_sum_offset);
  std::memcpy(buffer_.data(), &header_, sizeof header_);
  std::memset(reinterpret_cast<char*>(buffer_.data()) + used, 0, size - used);
  write_all(fd_, buffer_.data(), size, begin_ + next_);
  next_ += size;
  before_ += events_;
  total_ += events_;
  events_ = 0;
  at_ = limit_ = nullptr;
}

void SectionFile::define(DefinitionType type, const void* data, std::size_t bytes,
                         std::string_view text) {
  const std::size_t body = in_words(bytes + text.size());
  if (static_cast<std::size_t>(limit_ - at_) < 1 + body) {
    write_chunk(false);
    start_chunk(ChunkType::definitions, 0, 1 + body);
  }
  if (body != 0) at_[body] = 0;  // what pads it
  std::memcpy(at_ + 1, data, bytes);
  if (!text.empty()) {
    std::memcpy(reinterpret_cast<char*>(at_ + 1) + bytes, text.data(), text.size());
  }
  *at_ = definition_word(type, bytes + text.size(), header_.sequence,
                         static_cast<std::size_t>(at_ - buffer_.data()) * word, at_ + 1, body);
  at_ += 1 + body;
}

void SectionFile::end_definitions() { write_chunk(false); }

void SectionFile::begin_thread(std::uint32_t thread, std::uint32_t tid) {
  thread_ = thread;
  tid_ = tid;
  number_ = before_ = last_ticks_ = 0;
  ++threads_;
}

void SectionFile::make_room(std::uint64_t ticks, std::size_t words) {
  if (static_cast<std::size_t>(limit_ - at_) < words + base_words) {
    write_chunk(false);
    start_chunk(ChunkType::events, ticks, words + base_words);
    header_.number = ++number_;
    return;
  }
  at_[0] = make_entry(EntryKind::base, 0, 0);
  at_[1] = base_ = ticks;
  at_ += base_words;
}

void SectionFile::end_thread() { write_chunk(true); }

std::uint64_t SectionFile::finish(FileHeader& header) {
  write_chunk(true);
  header.magic = file_magic;
  header.version = format_version;
  header.header_bytes = file_header_bytes;
  header.flags = file_closed;
  header.mode = static_cast<std::uint32_t>(RecordMode::full);
  header.threads = threads_;
  header.chunks = chunks_;
  header.allocated = header.file_bytes = next_;
  header.events = total_;
  header.fixed_sum = fixed_sum(header);
  header.closing_sum = closing_sum(header);
  std::vector<std::uint64_t> page(file_header_bytes / word, 0);
  std::memcpy(page.data(), static_cast<const void*>(&header), sizeof header);
  write_all(fd_, page.data(), file_header_bytes, begin_);
  return begin_ + next_;
}

}  // namespace nvspan::record
