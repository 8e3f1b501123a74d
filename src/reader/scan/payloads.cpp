// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/scan/payloads.hpp"

#include "reader/file/schemas.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::reader {
namespace {

constexpr std::size_t head = 3;  // schema, size as given, size kept

// Calls `use` with each piece: its schema, the size it had, its bytes. As far as they go.
template <typename Use>
void for_each_piece(const void* bytes, std::size_t size, Use&& use) {
  const auto* at = static_cast<const char*>(bytes);
  while (size >= head * word) {
    std::uint64_t words[head];
    std::memcpy(words, at, sizeof words);
    at += sizeof words;
    size -= sizeof words;
    const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(words[2], size));
    use(words[0], words[1], std::string_view(at, kept));
    const std::size_t padded = std::min((kept + word - 1) / word * word, size);
    at += padded;
    size -= padded;
  }
}

}  // namespace

trace::PayloadResult RecordedPayloads::read(std::uint32_t process, std::uint32_t local_domain,
                                            const void* bytes, std::size_t size,
                                            trace::PayloadVisitor& visitor) {
  const auto& schemas = recording_.processes()[process].schemas;
  if (schemas == nullptr) return trace::PayloadResult::unknown;
  if (decoders_.size() <= process) decoders_.resize(process + 1);
  auto& decoder = decoders_[process];
  if (decoder == nullptr) decoder = std::make_unique<trace::PayloadDecoder>(schemas->table, pool_);
  constexpr std::size_t most_pieces = 256;
  trace::PayloadPiece pieces[most_pieces];
  std::size_t count = 0;
  for_each_piece(bytes, size, [&](std::uint64_t schema, std::uint64_t, std::string_view data) {
    if (count < most_pieces) pieces[count++] = trace::PayloadPiece{schema, data};
  });
  return decoder->decode({local_domain, *schemas, visitor, true}, pieces, count);
}

std::uint64_t payloads_not_kept(const EntryPayload& payload) {
  if (!payload.present || payload.bytes == nullptr) return 0;
  std::uint64_t count = 0;
  for_each_piece(payload.bytes, payload.bits,
                 [&](std::uint64_t, std::uint64_t given, std::string_view data) {
                   if (data.size() < given) ++count;
                 });
  return count;
}

}  // namespace nvspan::reader
