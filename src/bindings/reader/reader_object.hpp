// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A recording, or a part of one, as nvspan._reader shows it.

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/column.hpp"
#include "reader/export/csv_export.hpp"
#include "reader/scan/selection.hpp"
#include "reader/tables/arrow.hpp"
#include "reader/tables/columns.hpp"

namespace nvspan::bindings {

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& paths);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // A part of this part. `pairs` is a set of pairs of numbers, of domains and names; `threads` one
  // of numbers; None: all.
  std::unique_ptr<Reader> filtered(const pybind11::object& pairs, const pybind11::object& threads,
                                   std::int64_t from, std::int64_t to, std::int64_t shortest);
  // The pairs that there are: (domain, name), -1 for no name.
  pybind11::set pairs() const;

  pybind11::list strings() const;
  std::size_t string_count() const { return recording_->strings().size(); }
  pybind11::object text(std::int32_t index) const;
  pybind11::list domains() const;
  pybind11::list problems() const;
  std::size_t unreadable() const noexcept { return unreadable_; }  // paths
  pybind11::list file_losses() const { return list_losses(recording_->losses()); }
  pybind11::list processes() const;
  pybind11::list events() const;
  bool has_device_ranges() const;  // in the files, not the part

  pybind11::list names(const std::string& table);
  std::size_t rows(const std::string& table);
  ColumnView column(const std::string& table, const pybind11::str& asked);
  pybind11::list calls(std::size_t thread) const;
  // (domain, message, message type, color or None, category, its name, payload type)
  pybind11::tuple site(std::size_t index) const;
  pybind11::bytes payload_bytes(std::uint64_t offset, std::uint64_t size);
  // The fields of a payload as JSON; None where its schema is not known, or it does not fit.
  pybind11::object payload_json(std::uint32_t process, std::uint32_t site,
                                const std::string& bytes);
  // Likewise of a row of "ranges" or "marks".
  pybind11::object row_json(const std::string& table, std::size_t row);
  std::uint64_t orphan_ends() { return tables().orphan_ends; }
  RecordingHandle handle() const { return RecordingHandle{recording_, selection_}; }

  pybind11::tuple arrow_array(const std::string& table);
  pybind11::object arrow_schema(const std::string& table);
  pybind11::object arrow_stream(const std::string& table);

  pybind11::list launch_shapes() const;
  pybind11::list gpu_gaps() const;
  pybind11::list gpus() const;

  pybind11::object stats(const pybind11::str& asked);
  // The ranges with work of the GPU, columns and sums; `unclosed_end` is an int or None,
  // `as_nsys`: with the medians of Nsight Systems, and as ProjectionOptions has it.
  pybind11::object projection(const std::string& call_domain, const std::string& work_domain,
                              const std::string& kernel_category,
                              const std::vector<std::string>& without,
                              const pybind11::object& unclosed_end, bool as_nsys);

  // `words` name the numbers of columns; `progress` is called with the rows done.
  void write_csv(const std::string& table, const std::string& path,
                 const reader::ColumnWords& words, const pybind11::object& progress,
                 bool escape_formulas);

 private:
  Reader(const Reader& of, reader::Selection part);

  // Another thread may be making them, or this one is the first to ask.
  const reader::Tables& tables();

  reader::ColumnList all(const std::string& table);

  static constexpr std::size_t most_decoders = 16;  // that are kept; room for them is reserved
  struct Decoder;
  class LentDecoder;

  std::shared_ptr<reader::Recording> recording_;
  std::size_t unreadable_ = 0;
  std::mutex decoders_mutex_;
  std::vector<std::unique_ptr<Decoder>> decoders_;
  std::shared_ptr<reader::Columns> whole_;
  std::shared_ptr<reader::Columns> columns_;
  reader::Selection selection_;
};

}  // namespace nvspan::bindings
