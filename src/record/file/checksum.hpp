// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

// CRC32C (Castagnoli, as in iSCSI) of bytes that follow those of which `before` is the CRC. Uses
// the processor's instruction where there is one.
std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0) noexcept;

// The same by tables, for tests and processors without the instruction.
std::uint32_t crc32c_by_table(const void* data, std::size_t bytes,
                              std::uint32_t before = 0) noexcept;

std::uint32_t fixed_sum(const FileHeader& header) noexcept;
std::uint32_t closing_sum(const FileHeader& header) noexcept;
std::uint32_t sample_sum(const ClockSample& sample, std::uint64_t number) noexcept;

// The word that a definition record begins with; `body` is its bytes, padded with zeros to `words`.
std::uint64_t definition_word(DefinitionType type, std::size_t bytes, std::uint64_t sequence,
                              std::size_t offset, const void* body, std::size_t words) noexcept;

}  // namespace nvspan::record
