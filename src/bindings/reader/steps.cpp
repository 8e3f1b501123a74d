// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Steps as Python gets them.
#include "bindings/support/py.hpp"

#include <pybind11/stl.h>

#include "bindings/reader/steps.hpp"
#include "bindings/reader/values/column.hpp"
#include "bindings/reader/values/result.hpp"
#include "reader/steps/typical_step.hpp"

#include <string>
#include <utility>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using reader::Recording;

// `roles` is a dict from pairs of numbers, of a domain and a name, to roles.
std::vector<std::uint8_t> roles_of(const Recording& recording, const py::dict& roles) {
  std::vector<std::uint8_t> of_sites;
  of_sites.reserve(recording.sites().size());
  for (const reader::ReadSite& site : recording.sites()) {
    const py::tuple pair = py::make_tuple(site.domain, site.name);
    const bool has = roles.contains(pair);
    of_sites.push_back(has ? roles[pair].cast<std::uint8_t>() : std::uint8_t{0});
  }
  return of_sites;
}

// A time for each of the phases, by their names; the last name has none in some.
py::dict by_phase(const py::list& names, const std::vector<double>& times) {
  py::dict result;
  for (std::size_t i = 0; i < times.size(); ++i) result[names[i]] = times[i];
  return result;
}

py::object typical_of(const reader::TypicalStep& typical, const py::list& phases) {
  NewResult deviations("StepDeviations");
  deviations["duration"] = typical.duration_std;
  deviations["busy"] = typical.busy_std;
  deviations["all_idle"] = typical.all_idle_std;
  deviations["cpu"] = by_phase(phases, typical.cpu_std);
  deviations["gpu"] = by_phase(phases, typical.gpu_std);
  deviations["idle"] = by_phase(phases, typical.idle_std);
  NewResult result("TypicalStep");
  result["steps"] = typical.steps;
  result["warm_up"] = typical.warm_up;
  result["outliers"] = typical.outliers;
  result["duration"] = typical.duration;
  result["busy"] = typical.busy;
  result["ops"] = typical.ops;
  result["waits"] = typical.waits;
  result["wait_calls"] = typical.wait_calls;
  result["cpu"] = by_phase(phases, typical.cpu);
  result["gpu"] = by_phase(phases, typical.gpu);
  result["idle"] = by_phase(phases, typical.idle);
  result["std"] = deviations.done();
  result["min"] = typical.shortest;
  result["p50"] = typical.median;
  result["p90"] = typical.p90;
  result["p99"] = typical.p99;
  result["max"] = typical.longest;
  result["ahead"] = number_or_none(typical.ahead);
  if (typical.behind != reader::Steps::not_known) result["behind"] = typical.behind;
  return result.done();
}

}  // namespace

reader::StepOptions step_options(const Recording& recording, const py::dict& roles,
                                 const py::list& phases) {
  if (phases.size() < 2 || phases.size() - 2 > reader::most_phases) {
    throw py::value_error("too many phases");
  }
  reader::StepOptions options;
  options.roles = roles_of(recording, roles);
  options.phases = phases.size() - 2;
  return options;
}

py::object found_steps(reader::Steps found, const py::list& phases) {
  reader::TypicalStep typical;
  {
    const released_gil released;
    typical = reader::typical_step(found);
  }
  py::dict columns;
  const std::pair<const char*, core::LargeVector<std::int64_t>*> all[] = {
      {"process", &found.process}, {"thread", &found.thread}, {"has_number", &found.has_number},
      {"number", &found.number},   {"start", &found.start},   {"duration", &found.duration},
      {"cpu", &found.cpu},         {"gpu", &found.gpu},       {"idle", &found.idle},
      {"busy", &found.busy},       {"ops", &found.ops},       {"ahead", &found.ahead},
      {"behind", &found.behind},   {"waits", &found.waits},   {"wait_calls", &found.wait_calls},
      {"state", &typical.state}};
  for (const auto& [name, values] : all) columns[name] = view_of(std::move(*values));
  NewResult result("FoundSteps");
  result["columns"] = columns;
  result["typical"] = typical_of(typical, phases);
  result["has_work"] = found.has_work;
  result["of_device_ranges"] = found.of_device_ranges;
  result["graphs"] = found.graphs;
  result["outside"] = found.outside;
  result["unshared"] = found.unshared;
  result["by_run_time"] = found.by_run_time;
  result["unclosed"] = found.unclosed;
  result["devices_left"] = found.devices_left;
  return result.done();
}

}  // namespace nvspan::bindings
