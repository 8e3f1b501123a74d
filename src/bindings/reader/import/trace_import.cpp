// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The class nvspan._reader.TraceImport: a Chrome trace, fed in pieces.

#include "bindings/support/py.hpp"

#include "bindings/reader/import/trace_import.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"

#include "foreign/chrome_import.hpp"

#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

class TraceImport {
 public:
  TraceImport(const std::string& path, std::uint64_t memory)
      : path_(path), writer_(path, memory), trace_(writer_) {}

  void feed(const py::buffer& given) {
    const py::buffer_info bytes = given.request();
    if (bytes.itemsize != 1 || bytes.ndim != 1 || bytes.strides[0] != 1) {
      throw py::type_error("data must be bytes");
    }
    work([&] {
      trace_.feed(static_cast<const char*>(bytes.ptr), static_cast<std::size_t>(bytes.size));
    });
  }
  py::object finish(bool partial) {
    work([&] {
      trace_.finish(partial);
      writer_.close();
    });
    const foreign::ImportCounts& counts = trace_.counts();
    py::dict left_out;
    for (const auto& [what, count] : counts.left_out) left_out[py::str(what)] = count;
    NewResult out("ImportCounts");
    out["ranges"] = counts.ranges;
    out["device_ranges"] = counts.device_ranges;
    out["marks"] = counts.marks;
    out["samples"] = counts.samples;
    out["overlapping"] = writer_.overlapping();
    out["left_out"] = left_out;
    return out.done();
  }
  void abort() {
    const released_gil released;
    const std::lock_guard<std::mutex> lock(mutex_);
    writer_.abort();
  }

 private:
  template <typename Use>
  void work(Use&& use) {
    try {
      const released_gil released;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!writer_.is_open()) throw py::value_error("the import is closed");
      use();
    } catch (const std::system_error& error) {
      errno = error.code().value();
      PyErr_SetFromErrnoWithFilename(PyExc_OSError, path_.c_str());
      throw py::error_already_set();
    } catch (const foreign::ForeignError& error) {
      throw py::value_error("byte " + std::to_string(error.byte()) + ": " + error.what());
    }
  }

  std::string path_;
  std::mutex mutex_;
  record::ExternalWriter writer_;
  foreign::ChromeImport trace_;
};

}  // namespace

void bind_trace_import(py::module_& module) {
  Methods(py::class_<TraceImport>(module, "TraceImport")
              .def(py::init<const std::string&, std::uint64_t>(), py::arg("path"),
                   py::arg("memory") = 256'000'000))
      .def("feed", &TraceImport::feed, py::arg("data"))
      .def("finish", &TraceImport::finish, py::arg("partial"))
      .def("abort", &TraceImport::abort);
}

}  // namespace nvspan::bindings
