// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/stack_names.hpp"
#include "record/file/sample_format.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nvspan::lines {

// Where the records of samples go. The sampler's thread alone calls it.
class SampleSink {
 public:
  struct Place {
    bool taken = false;            // else the records cannot be kept, and the definitions are not
    bool is_new = false;           // a chunk begins, which presumes nothing
    std::uint64_t base_ticks = 0;  // of the chunk
  };
  // Defines what follows, and makes room for records of so many bytes. After a place that is taken
  // comes close(), and until then nobody else writes.
  virtual Place open(const NewNames& names,
                     const std::vector<record::SampledThreadDefinition>& threads,
                     std::size_t bytes) = 0;
  virtual void close(std::string_view records, std::uint32_t samples) = 0;
  // Tells whether it `samples`. What is asked of it, once: the ns from a look to the next, 0 for
  // what it costs, -1 to stop.
  virtual std::optional<std::int64_t> asked(bool samples) = 0;

 protected:
  ~SampleSink() = default;
};

}  // namespace nvspan::lines
