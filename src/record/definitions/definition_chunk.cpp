// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/definitions/definition_chunk.hpp"

#include "record/chunks/chunk_header.hpp"
#include "record/file/checksum.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::size_t smallest_chunk = 4 * 1024;
constexpr std::size_t largest_chunk = 1024 * 1024;

std::size_t in_words(std::size_t bytes) { return (bytes + word - 1) / word * word; }

}  // namespace

std::size_t DefinitionChunk::bytes_of(std::size_t bytes) noexcept { return word + in_words(bytes); }

void DefinitionChunk::forget() noexcept {
  chunk_ = nullptr;
  next_ = nullptr;
  left_ = 0;
}

void DefinitionChunk::seal() noexcept {
  if (chunk_ != nullptr) seal_chunk(chunk_, next_, 0, false);
}

bool DefinitionChunk::start_chunk(std::size_t needed) {
  if (!file_.takes_more()) return false;
  const std::size_t usual =
      std::min(smallest_chunk << std::min<std::uint64_t>(chunks_.places() / 4, 8), largest_chunk);
  const std::size_t bytes = std::max(usual, needed + sizeof(ChunkHeader) + word);
  char* space = chunks_.allocate(bytes);
  if (space == nullptr) return false;
  auto* chunk = reinterpret_cast<ChunkHeader*>(space);
  LiveSection& live = file_.live();
  const ChunkKey key{ChunkType::definitions, 0, 0, 0, live.definitions.load()};
  chunks_.start(chunk, key, round_to_chunk(bytes));
  live.definitions.store(file_.segment().offset_of(chunk), std::memory_order_release);
  seal();
  chunk_ = chunk;
  next_ = space + sizeof(ChunkHeader);
  left_ = bytes - sizeof(ChunkHeader);
  return true;
}

bool DefinitionChunk::add_bytes(DefinitionType type, const void* data, std::size_t bytes,
                                std::string_view text) {
  const std::size_t size = bytes + text.size();
  const std::size_t needed = bytes_of(size);
  if (needed + word > left_ && !start_chunk(needed)) {
    has_failed_ = true;
    return false;
  }
  if (chunk_->used != 0) chunks_.unseal(chunk_);
  char* body = next_ + word;
  std::memcpy(body, data, bytes);
  if (!text.empty()) std::memcpy(body + bytes, text.data(), text.size());
  const auto offset = static_cast<std::size_t>(next_ - reinterpret_cast<char*>(chunk_));
  atomic_word(*reinterpret_cast<std::uint64_t*>(next_))
      .store(definition_word(type, size, chunk_->sequence, offset, body, in_words(size) / word),
             std::memory_order_release);
  next_ += needed;
  left_ -= needed;
  return true;
}

}  // namespace nvspan::record
