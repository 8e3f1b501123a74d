// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/watch/watch_object.hpp"
#include "bindings/reader/values/methods.hpp"

#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reader/tail/recording_tail.hpp"
#include "reader/watch/watcher.hpp"

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using reader::Watcher;

py::bytes bytes_of(const std::string& text) { return py::bytes(text); }

// `rules`: (kind, range, value) with the number of TriggerKind.
std::unique_ptr<Watcher> make_watcher(const std::string& folder, std::uint64_t run,
                                      std::int64_t pid, const py::list& rules,
                                      const std::vector<int>& signals, double last, double every,
                                      std::size_t most, const std::string& environment, bool says) {
  reader::WatchOptions options;
  options.place.folder = folder;
  options.place.run = run;
  options.place.last = last;
  options.place.every = every;
  options.place.most = most;
  options.pid = pid;
  options.signals = signals;
  options.environment = environment;
  options.says = says;
  for (const py::handle rule : rules) {
    const auto parts = py::cast<py::tuple>(rule);
    options.rules.push_back(
        reader::TriggerRule{static_cast<reader::TriggerKind>(py::cast<int>(parts[0])),
                            py::cast<std::string>(parts[1]), py::cast<double>(parts[2])});
  }
  return std::make_unique<Watcher>(std::move(options));
}

py::bytes next_bundle(Watcher& watcher, double seconds) {
  std::string found;
  {
    const released_gil released;
    found = watcher.next_bundle(static_cast<std::uint64_t>(seconds * 1e9));
  }
  return bytes_of(found);
}

py::tuple trigger_now(Watcher& watcher, const std::string& kind, const std::string& why) {
  std::string problem;
  std::string bundle;
  {
    const released_gil released;
    bundle = watcher.trigger_now(kind, why, problem);
  }
  return py::make_tuple(bytes_of(bundle), bytes_of(problem));
}

bool trigger(Watcher& watcher, const std::string& kind, const std::string& why, double seconds) {
  const released_gil released;
  return watcher.trigger(kind, why, static_cast<std::uint64_t>(seconds * 1e9));
}

void stop(Watcher& watcher) {
  const released_gil released;
  watcher.stop();
}

py::list problems(Watcher& watcher) {
  py::list all;
  for (const std::string& problem : watcher.problems()) all.append(bytes_of(problem));
  return all;
}

// Empty: it was copied; else why not.
py::bytes freeze(const std::string& from, const std::string& to, std::uint64_t window) {
  std::string problem;
  {
    const released_gil released;
    reader::freeze_recording(from, to, window, problem);
  }
  return bytes_of(problem);
}

}  // namespace

void bind_watch(py::module_& module) {
  Methods(module).def("freeze", &freeze);
  const reader::BundlePlace place;
  Methods(py::class_<Watcher>(module, "Watcher")
              .def(py::init(&make_watcher), py::arg("folder"), py::arg("run") = place.run,
                   py::arg("pid") = 0, py::arg("rules") = py::list(),
                   py::arg("signals") = std::vector<int>(), py::arg("last") = place.last,
                   py::arg("every") = place.every, py::arg("most") = place.most,
                   py::arg("environment") = "", py::arg("says") = false))
      .def("start", &Watcher::start)
      .def("stop", &stop)
      .def("trigger", &trigger)
      .def("trigger_now", &trigger_now)
      .def("next_bundle", &next_bundle)
      .def("problems", &problems);
}

}  // namespace nvspan::bindings
