// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/chunks/definition_records.hpp"

#include "record/file/checksum.hpp"

namespace nvspan::reader {
namespace {

using record::word;

// Its process writes it last, after the record's body.
std::uint64_t first_word(const std::uint64_t* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }

}  // namespace

bool DefinitionReader::take(std::uint64_t at, DefinitionRecord& out) noexcept {
  const auto* const begin = bytes_.at<std::uint64_t>(at);
  const std::uint64_t head = first_word(begin);
  const std::uint64_t size = head >> 32;
  const std::uint64_t words = (size + word - 1) / word;
  const std::uint64_t type = head & 0xFF;
  if (head == 0 || !bytes_.has(at + word, words * word)) return false;
  if (trust_ != DefinitionTrust::whole) {
    const std::uint64_t most_summed = 8 * bytes_.size() + 8192;
    if (type < 1 || type > static_cast<std::uint64_t>(record::last_definition_type) ||
        summed_ + words * word > most_summed) {
      return false;
    }
    summed_ += words * word;
    if (head != record::definition_word(static_cast<record::DefinitionType>(type), size, sequence_,
                                        offset_ + at, begin + 1, words)) {
      return false;
    }
  }
  out.type = static_cast<record::DefinitionType>(type);
  out.body = std::string_view(reinterpret_cast<const char*>(begin + 1), size);
  at_ = at + word + words * word;
  return true;
}

bool DefinitionReader::next(DefinitionRecord& out) noexcept {
  const auto* const begin = bytes_.at<std::uint64_t>(at_);
  if (begin == nullptr) return false;
  if (take(at_, out)) return true;
  const bool empty = first_word(begin) == 0;
  if (trust_ == DefinitionTrust::whole) {
    incomplete_ = !empty;
    return false;
  }
  if (trust_ == DefinitionTrust::followed && empty) return false;
  const std::uint64_t from = at_;
  std::uint64_t found = from + word;
  while (bytes_.has(found, word) && !take(found, out)) found += word;
  const bool is_last = !bytes_.has(found, word);
  const std::uint64_t* last = bytes_.at<std::uint64_t>(found - word);
  while (last != begin && *last == 0) --last;
  // At the end of an open chunk lies nothing, or one record without its first word.
  const bool unfinished = is_last && empty && trust_ == DefinitionTrust::open;
  if (!unfinished && *last != 0) damaged_ += static_cast<std::uint64_t>(last + 1 - begin) * word;
  if (is_last && trust_ != DefinitionTrust::followed) at_ = found;
  return !is_last;
}

}  // namespace nvspan::reader
