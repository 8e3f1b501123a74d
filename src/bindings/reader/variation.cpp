// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Tests of series of step times as Python gets them.
#include "bindings/support/py.hpp"

#include <pybind11/stl.h>

#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/column.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"
#include "core/statistics/cancelling.hpp"
#include "core/statistics/order.hpp"
#include "core/statistics/slow_change.hpp"
#include "core/statistics/variation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

// Raises TypeError for what is no contiguous buffer of int64 or float64, ValueError for NaN.
core::Series series_of(const py::buffer& given) {
  const py::buffer_info info = given.request();
  const bool is_real = info.format == "d", is_integer = info.format == "q" || info.format == "l";
  if (info.ndim != 1 || info.itemsize != 8 || (!is_real && !is_integer) ||
      (info.size > 1 && info.strides[0] != info.itemsize)) {
    throw py::type_error("a series must be a contiguous buffer of int64 or float64, not of '" +
                         info.format + "'");
  }
  core::Series series(static_cast<std::size_t>(info.size));
  if (is_real) {
    std::copy_n(static_cast<const double*>(info.ptr), series.size(), series.begin());
  } else {
    std::transform(static_cast<const std::int64_t*>(info.ptr),
                   static_cast<const std::int64_t*>(info.ptr) + series.size(), series.begin(),
                   [](std::int64_t value) { return static_cast<double>(value); });
  }
  if (!std::all_of(series.begin(), series.end(),
                   [](double value) { return std::isfinite(value); })) {
    throw py::value_error("a series must have finite values");
  }
  return series;
}

py::object places_of(core::Places places) {
  return py::memoryview(py::cast(view_of(std::move(places))));
}

const char* kind_text(core::EffectKind kind) {
  static constexpr const char* texts[] = {"warm_up", "jump",     "levels", "trend",
                                          "period",  "sawtooth", "modes",  "rare"};
  return texts[static_cast<std::size_t>(kind)];
}

const char* kind_text(core::ChangeKind kind) {
  static constexpr const char* texts[] = {"jump", "levels", "trend"};
  return texts[static_cast<std::size_t>(kind)];
}

py::list stretches_of(const std::vector<core::Stretch>& stretches) {
  py::list list;
  for (const core::Stretch& stretch : stretches) {
    NewResult result("Stretch");
    result["first"] = stretch.first;
    result["last"] = stretch.last;
    result["time"] = stretch.time;
    list.append(result.done());
  }
  return list;
}

py::object effect_of(core::Effect&& effect) {
  using Kind = core::EffectKind;
  const Kind kind = effect.kind;
  NewResult result("Effect");
  result["kind"] = kind_text(kind);
  result["high"] = places_of(std::move(effect.high));
  result["low"] = places_of(std::move(effect.low));
  result["size"] = effect.size;
  result["high_time"] = effect.high_time;
  result["low_time"] = effect.low_time;
  if (kind == Kind::jump || kind == Kind::trend || kind == Kind::sawtooth) {
    result["rises"] = effect.rises;
  }
  if (kind == Kind::jump) result["at"] = effect.at;
  if (effect.period > 0) result["period"] = effect.period;
  if (kind == Kind::period) result["slow_in_period"] = effect.slow_in_period;
  if (effect.every > 0 && kind != Kind::period) result["every"] = effect.every;
  if (effect.extra > 0) result["extra"] = effect.extra;
  if (kind == Kind::levels) result["stretches"] = stretches_of(effect.stretches);
  return result.done();
}

py::list variation(const py::buffer& given, std::size_t tests) {
  const core::Series series = series_of(given);
  std::vector<core::Effect> effects;
  {
    const released_gil released;
    effects = core::find_variation(series, std::max<std::size_t>(tests, 1));
  }
  py::list list;
  for (core::Effect& effect : effects) list.append(effect_of(std::move(effect)));
  return list;
}

py::object slow_change(const py::buffer& given, std::size_t tests) {
  core::Series times = series_of(given), logarithms = times;
  for (double& value : logarithms) value = std::log(std::max(value, 1.0));
  std::optional<core::SlowChange> change;
  {
    const released_gil released;
    change = core::find_slow_change(logarithms, std::max<std::size_t>(tests, 1));
  }
  if (!change) return py::none();
  const auto quarter = static_cast<std::ptrdiff_t>(times.size() / 4);  // of 8 values or more
  core::Series early(times.begin(), times.begin() + quarter),
      late(times.end() - quarter, times.end());
  const double before = core::median(early), after = core::median(late);
  NewResult result("SlowChange");
  result["kind"] = kind_text(change->kind);
  result["before"] = before;
  result["after"] = after;
  return result.done();
}

std::size_t jump_index(const py::buffer& given) {
  constexpr std::size_t fewest_values = 3;
  core::Series logarithms = series_of(given);
  for (double& value : logarithms) value = std::log1p(std::max(value, 0.0));
  const core::Series values = core::without_strays(logarithms);
  return core::best_split(values, 0, values.size(), fewest_values).at;
}

// By nearest rank, without the values at some places; empty: nothing is left.
std::vector<double> percentiles(const py::buffer& given, const std::vector<double>& fractions,
                                const std::vector<std::size_t>& left_out) {
  core::Series series = series_of(given);
  constexpr double gone = -std::numeric_limits<double>::infinity();
  for (const std::size_t place : left_out) series.at(place) = gone;
  series.erase(std::remove(series.begin(), series.end(), gone), series.end());
  std::vector<double> found;
  for (const double fraction : fractions) {
    if (!(fraction >= 0 && fraction <= 1)) throw py::value_error("a fraction must be 0 to 1");
    if (!series.empty()) found.push_back(core::percentile(series, fraction));
  }
  return found;
}

double mean_at(const py::buffer& given, const py::buffer& given_places) {
  const core::Series series = series_of(given), places = series_of(given_places);
  if (places.empty()) throw py::value_error("mean_at() needs places");
  double sum = 0;
  for (const double place : places) {
    if (place < 0 || place >= static_cast<double>(series.size())) throw py::index_error();
    sum += series[static_cast<std::size_t>(place)];
  }
  return sum / static_cast<double>(places.size());
}

py::object cancelling(const py::buffer& given_steps, const std::vector<py::buffer>& given_parts) {
  const core::Series steps = series_of(given_steps);
  std::vector<core::Series> parts;
  for (const py::buffer& part : given_parts) {
    parts.push_back(series_of(part));
    if (parts.back().size() != steps.size()) {
      throw py::value_error("a part must have a time for each of the " +
                            std::to_string(steps.size()) + " steps, not " +
                            std::to_string(parts.back().size()));
    }
  }
  std::optional<core::Cancelling> pair;
  {
    const released_gil released;
    pair = core::find_cancelling(steps, parts);
  }
  if (!pair) return py::none();
  NewResult result("Cancelling");
  result["grows"] = pair->grows.part;
  result["grows_from"] = pair->grows.from;
  result["grows_to"] = pair->grows.to;
  result["shrinks"] = pair->shrinks.part;
  result["shrinks_from"] = pair->shrinks.from;
  result["shrinks_to"] = pair->shrinks.to;
  result["over_time"] = pair->over_time;
  return result.done();
}

}  // namespace

void bind_variation(py::module_& module) {
  Methods(module)
      .def("variation", &variation, py::arg("series"), py::arg("tests") = 1)
      .def("slow_change", &slow_change, py::arg("series"), py::arg("tests") = 1)
      .def("jump_index", &jump_index)
      .def("percentiles", &percentiles, py::arg("series"), py::arg("fractions"),
           py::arg("left_out") = std::vector<std::size_t>())
      .def("mean_at", &mean_at)
      .def("cancelling", &cancelling);
}

}  // namespace nvspan::bindings
