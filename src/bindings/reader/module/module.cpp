// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The extension module nvspan._reader. It is loaded when a recording is read, and never with the
// annotations.
#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/reader/external_writer.hpp"
#include "bindings/reader/import/import_objects.hpp"
#include "bindings/reader/import/trace_import.hpp"
#include "bindings/reader/kernels.hpp"
#include "bindings/reader/lines.hpp"
#include "bindings/reader/live/live_files.hpp"
#include "bindings/reader/loop_steps.hpp"
#include "bindings/reader/loops.hpp"
#include "bindings/reader/ranks/rank_heat.hpp"
#include "bindings/reader/ranks/rank_job.hpp"
#include "bindings/reader/ranks/rank_summary.hpp"
#include "bindings/reader/reader_object.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"
#include "bindings/reader/watch/watch_object.hpp"
#include "core/statistics/student_t.hpp"
#include "reader/chunks/open_file.hpp"

namespace py = pybind11;

namespace {

// None: no recording.
py::object file_header(const std::string& path) {
  nvspan::record::FileHeader header = {};
  bool read = false;
  {
    const nvspan::bindings::released_gil released;
    read = nvspan::reader::read_file_header(path, header);
  }
  if (!read) return py::none();
  nvspan::bindings::NewResult fields("FileHeader");
  fields["version"] = header.version;
  fields["pid"] = header.pid;
  fields["run"] = header.run;
  fields["closed"] = (header.flags & nvspan::record::file_closed) != 0;
  return fields.done();
}

}  // namespace

PYBIND11_MODULE(_reader, m, py::mod_gil_not_used()) {
  using nvspan::bindings::Reader;
  nvspan::bindings::load_result_classes();
  nvspan::bindings::bind_column(m);
  nvspan::bindings::Methods(m)
      .def("file_header", &file_header)
      .def("t_two_sided", &nvspan::core::t_two_sided)
      .def("t_quantile", &nvspan::core::t_quantile);
  nvspan::bindings::Methods(
      py::class_<Reader>(m, "Reader").def(py::init<const std::vector<std::string>&>()))
      .def("filtered", &Reader::filtered)
      .def("pairs", &Reader::pairs)
      .def("strings", &Reader::strings)
      .def("string_count", &Reader::string_count)
      .def("text", &Reader::text)
      .def("domains", &Reader::domains)
      .def("problems", &Reader::problems)
      .def("unreadable", &Reader::unreadable)
      .def("file_losses", &Reader::file_losses)
      .def("processes", &Reader::processes)
      .def("launch_shapes", &Reader::launch_shapes)
      .def("gpu_gaps", &Reader::gpu_gaps)
      .def("gpus", &Reader::gpus)
      .def("events", &Reader::events)
      .def("names", &Reader::names)
      .def("rows", &Reader::rows)
      .def("column", &Reader::column)
      .def("calls", &Reader::calls)
      .def("site", &Reader::site)
      .def("payload_bytes", &Reader::payload_bytes)
      .def("payload_json", &Reader::payload_json)
      .def("row_json", &Reader::row_json)
      .def("has_device_ranges", &Reader::has_device_ranges)
      .def("orphan_ends", &Reader::orphan_ends)
      .def("arrow_array", &Reader::arrow_array)
      .def("arrow_schema", &Reader::arrow_schema)
      .def("arrow_stream", &Reader::arrow_stream)
      .def("stats", &Reader::stats)
      .def("projection", &Reader::projection)
      .def("write_csv", &Reader::write_csv)
      .def("handle", &Reader::handle);
  nvspan::bindings::bind_reports(m);
  nvspan::bindings::bind_loop_steps(m);
  nvspan::bindings::bind_loops(m);
  nvspan::bindings::bind_variation(m);
  nvspan::bindings::bind_external_writer(m);
  nvspan::bindings::bind_import(m);
  nvspan::bindings::bind_kernels(m);
  nvspan::bindings::bind_lines(m);
  nvspan::bindings::bind_live(m);
  nvspan::bindings::bind_rank_job(m);
  nvspan::bindings::bind_rank_heat(m);
  nvspan::bindings::bind_rank_summary(m);
  nvspan::bindings::bind_trace_import(m);
  nvspan::bindings::bind_watch(m);
}
