// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/loop_steps.hpp"

#include <pybind11/stl.h>

#include "bindings/reader/steps.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"
#include "reader/loops/gaps.hpp"
#include "reader/loops/holds.hpp"
#include "reader/loops/waits.hpp"
#include "reader/steps/request_work.hpp"

#include <utility>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using Values = core::LargeVector<std::int64_t>;

// A column that keeps its owner.
template <typename Owner>
ColumnView view_in(const std::shared_ptr<Owner>& owner, const Values& values) {
  auto column = std::make_shared<reader::Column>();
  column->data = values.data();
  column->length = values.size();
  column->owner = owner;
  return ColumnView{std::move(column)};
}

template <typename Use>
auto without_gil(Use&& use) {
  const released_gil released;
  return use();
}

}  // namespace

LoopStepsObject::LoopStepsObject(std::shared_ptr<const LoopShared> shared, reader::LoopSteps steps)
    : shared_(std::move(shared)),
      steps_(std::make_shared<const reader::LoopSteps>(std::move(steps))) {}

ColumnView LoopStepsObject::start() const { return view_in(steps_, steps_->start); }
ColumnView LoopStepsObject::end() const { return view_in(steps_, steps_->end); }
ColumnView LoopStepsObject::thread() const { return view_in(steps_, steps_->thread); }
std::int64_t LoopStepsObject::peak() { return concurrency().peak; }
double LoopStepsObject::mean_open() { return concurrency().mean; }

py::object LoopStepsObject::tree() {
  const reader::LoopTree& tree = built();
  py::list parts;
  for (const reader::LoopPart& part : tree.parts) {
    NewResult entry("LoopPart");
    entry["name"] = shared_->label(part.group);
    entry["group"] = part.group;
    entry["parent"] = part.parent == reader::LoopPart::none ? -1 : static_cast<int>(part.parent);
    entry["calls"] = part.calls;
    entry["total"] = part.total;
    entry["self"] = part.self;
    if (!part.series.empty()) entry["series"] = view_in(tree_, part.series);
    parts.append(entry.done());
  }
  NewResult result("LoopTree");
  result["parts"] = parts;
  result["steps"] = view_in(tree_, tree.steps);
  result["self"] = view_in(tree_, tree.self);
  result["total"] = tree.total;
  result["unnamed"] = tree.unnamed;
  const auto side = [&](std::uint32_t group) {
    return group == reader::LoopTree::edge ? std::string() : shared_->label(group);
  };
  if (tree.unnamed_place.is_known) {
    result["unnamed_after"] = side(tree.unnamed_place.after);
    result["unnamed_before"] = side(tree.unnamed_place.before);
  }
  result["is_followed"] = tree.is_followed;
  result["doubtful"] = tree.doubtful;
  return result.done();
}

py::object LoopStepsObject::means(const std::vector<std::int64_t>& high,
                                  const std::vector<std::int64_t>& low) {
  const reader::LoopTree& tree = built();
  for (const auto* places : {&high, &low}) {
    for (const std::int64_t place : *places) {
      if (place < 0 || place >= static_cast<std::int64_t>(steps_->size())) throw py::index_error();
    }
  }
  const auto mean = [](const Values& values, const std::vector<std::int64_t>& places) {
    double sum = 0;
    for (const std::int64_t place : places) {
      sum += static_cast<double>(values[static_cast<std::size_t>(place)]);
    }
    return places.empty() ? 0.0 : sum / static_cast<double>(places.size());
  };
  const auto both = [&](const Values& values) {
    return py::make_tuple(mean(values, high), mean(values, low));
  };
  py::list parts;
  for (const reader::LoopPart& part : tree.parts) {
    parts.append(part.series.empty() ? py::object(py::none()) : py::object(both(part.series)));
  }
  NewResult result("LoopMeans");
  result["steps"] = both(tree.steps);
  result["self"] = both(tree.self);
  result["parts"] = parts;
  return result.done();
}

py::object LoopStepsObject::gaps(std::uint32_t thread) const {
  if (steps_->kind == reader::LoopSteps::Kind::whole) throw py::value_error("there are no steps");
  auto found = std::make_shared<reader::LoopGaps>(
      without_gil([&] { return reader::find_gaps(shared_->ranges, *steps_, thread); }));
  const reader::LoopWait wait =
      without_gil([&] { return reader::find_pauses(shared_->ranges, *steps_, found->thread); });
  const auto list = [&](const std::vector<reader::LoopGapPart>& parts) {
    py::list rows;
    for (const reader::LoopGapPart& part : parts) {
      NewResult entry("LoopGapPart");
      entry["name"] = shared_->label(part.group);
      entry["calls"] = part.calls;
      entry["total"] = part.total;
      if (part.has_series) {
        entry["pauses"] = view_in(found, part.pauses);
        entry["series"] = view_in(found, part.series);
      }
      rows.append(entry.done());
    }
    return rows;
  };
  NewResult result("LoopGaps");
  result["thread"] = found->thread;
  result["loop"] = found->loop;
  result["total"] = found->total;
  result["series"] = view_in(found, found->series);
  result["lead"] = found->lead;
  result["tail"] = found->tail;
  result["parts"] = list(found->parts);
  result["before"] = list(found->before);
  result["after"] = list(found->after);
  result["other"] = number_or_none(wait.thread);
  result["meanwhile"] = listed(wait.meanwhile);
  return result.done();
}

py::list LoopStepsObject::waits(std::int64_t thread) const {
  const std::uint32_t of =
      thread < 0 ? reader::busiest_thread(*steps_) : static_cast<std::uint32_t>(thread);
  if (of >= shared_->ranges.of_threads.size()) return py::list();
  return listed(without_gil([&] { return reader::find_waits(shared_->ranges, *steps_, of); }));
}

py::list LoopStepsObject::waits_of(const std::vector<std::uint32_t>& which) {
  for (const std::uint32_t step : which) {
    if (step >= steps_->size()) throw py::index_error();
  }
  return listed(without_gil([&] {
    if (!shared_->ranges.has_any(reader::trait_wait)) return std::vector<reader::LoopWait>();
    return reader::find_waits_of(shared_->ranges, *steps_, owners(), which);
  }));
}

py::object LoopStepsObject::holds() {
  const reader::LoopHolds found = without_gil([&] {
    if (!steps_->is_floating) return reader::LoopHolds();
    return reader::find_holds(shared_->ranges, *steps_, owners());
  });
  py::list holds, parts;
  for (const reader::LoopHold& one : found.holds) {
    NewResult entry("LoopHold");
    entry["name"] = shared_->label(one.group);
    entry["thread"] = one.thread;
    entry["threads"] = one.threads;
    entry["calls"] = one.calls;
    entry["total"] = one.total;
    entry["longest"] = one.longest;
    entry["waiting"] = one.waiting;
    entry["nested"] = one.is_nested;
    holds.append(entry.done());
  }
  for (const reader::LoopHeld& one : found.parts) {
    NewResult entry("LoopHeld");
    entry["name"] = shared_->label(one.group);
    entry["group"] = one.group;
    entry["total"] = one.total;
    entry["held"] = one.held;
    entry["held_calls"] = one.held_calls;
    entry["free_calls"] = one.free_calls;
    entry["held_median"] = one.held_median;
    entry["free_median"] = one.free_median;
    parts.append(entry.done());
  }
  NewResult result("LoopHolds");
  result["holds"] = holds;
  result["held"] = found.held;
  result["parts"] = parts;
  return result.done();
}

py::object LoopStepsObject::owned_stretches() {
  auto found = std::make_shared<const reader::OwnedStretches>(
      without_gil([&] { return reader::owned_stretches(shared_->ranges, *steps_, owners()); }));
  NewResult result("LoopStretches");
  result["step"] = view_in(found, found->step);
  result["thread"] = view_in(found, found->thread);
  result["start"] = view_in(found, found->start);
  result["end"] = view_in(found, found->end);
  return result.done();
}

py::list LoopStepsObject::listed(const std::vector<reader::LoopMeanwhile>& meanwhile) const {
  py::list rows;
  for (const reader::LoopMeanwhile& part : meanwhile) {
    NewResult entry("LoopMeanwhile");
    entry["name"] = shared_->label(part.group);
    entry["share"] = part.share;
    entry["ends_it"] = part.ends_it;
    rows.append(entry.done());
  }
  return rows;
}

py::list LoopStepsObject::listed(std::vector<reader::LoopWait> waits) const {
  py::list rows;
  for (reader::LoopWait& wait : waits) {
    NewResult entry("LoopWait");
    entry["name"] = shared_->label(wait.group);
    entry["calls"] = wait.calls;
    entry["total"] = wait.total;
    entry["share"] = wait.share;
    entry["thread"] = number_or_none(wait.thread);
    entry["of_requests"] = wait.thread == reader::LoopWait::of_requests;
    entry["meanwhile"] = listed(wait.meanwhile);
    entry["others"] = wait.has_others;
    entry["waiter"] = number_or_none(wait.waiter);
    entry["starts"] = view_of(std::move(wait.starts));
    entry["ends"] = view_of(std::move(wait.ends));
    rows.append(entry.done());
  }
  return rows;
}

const reader::LoopTree& LoopStepsObject::built() {
  if (tree_ == nullptr) {
    tree_ = std::make_shared<const reader::LoopTree>(without_gil([&] {
      return reader::build_tree(shared_->ranges, *steps_,
                                [&]() -> const reader::Owners& { return owners(); });
    }));
  }
  return *tree_;
}
const reader::Owners& LoopStepsObject::owners() {
  if (owners_ == nullptr) {
    owners_ = std::make_unique<const reader::Owners>(reader::owners_of(shared_->ranges, *steps_));
  }
  return *owners_;
}
const reader::Concurrency& LoopStepsObject::concurrency() {
  if (concurrency_ == nullptr) {
    concurrency_ = std::make_unique<const reader::Concurrency>(without_gil([&] {
      return reader::concurrency_of({steps_->start.begin(), steps_->start.end()},
                                    {steps_->end.begin(), steps_->end.end()});
    }));
  }
  return *concurrency_;
}

py::object LoopStepsObject::found(const py::dict& roles, const py::list& phases, bool direct,
                                  const std::string& call_domain,
                                  const std::vector<std::string>& work_domains) const {
  reader::StepOptions options = step_options(*shared_->recording, roles, phases);
  options.direct = direct;
  options.call_domain = call_domain;
  options.work_domains = work_domains;
  options.chosen = steps_.get();
  return found_steps(without_gil([&] { return reader::find_steps(*shared_->recording, options); }),
                     phases);
}

py::object LoopStepsObject::found_by_parts(const std::vector<std::size_t>& parts, bool held,
                                           const py::list& phases, const std::string& call_domain,
                                           const std::vector<std::string>& work_domains) {
  const reader::LoopTree& tree = built();
  reader::RequestPhases request_phases{shared_->ranges, *steps_, {}};
  reader::HeldRequests requests;
  for (const std::size_t part : parts) {
    if (part >= tree.parts.size()) throw py::index_error();
    request_phases.groups.push_back(tree.parts[part].group);
    requests.groups.push_back({tree.parts[part].group, {}, {}});
  }
  if (phases.size() != parts.size() + (held ? 3 : 2)) {
    throw py::value_error("not one name for each phase");
  }
  return found_steps(
      without_gil([&] {
        const reader::Recording& recording = *shared_->recording;
        if (held) reader::find_holds(shared_->ranges, *steps_, owners(), &requests);
        reader::Steps found =
            reader::steps_by_parts(recording, *steps_, tree, parts, held ? &requests : nullptr);
        if (shared_->ranges.has_device_ranges()) {
          reader::add_request_work(found, recording, request_phases, call_domain, work_domains);
        }
        return found;
      }),
      phases);
}

void bind_loop_steps(py::module_& module) {
  py::class_<LoopStepsObject> steps(module, "LoopSteps");
  steps.def_property_readonly("start", &LoopStepsObject::start)
      .def_property_readonly("end", &LoopStepsObject::end)
      .def_property_readonly("thread", &LoopStepsObject::thread)
      .def_property_readonly("evaluation", &LoopStepsObject::evaluation)
      .def_property_readonly("is_floating", &LoopStepsObject::is_floating)
      .def_property_readonly("peak", &LoopStepsObject::peak)
      .def_property_readonly("mean_open", &LoopStepsObject::mean_open);
  Methods(steps)
      .def("tree", &LoopStepsObject::tree)
      .def("means", &LoopStepsObject::means)
      .def("gaps", &LoopStepsObject::gaps)
      .def("waits", &LoopStepsObject::waits)
      .def("waits_of", &LoopStepsObject::waits_of)
      .def("holds", &LoopStepsObject::holds)
      .def("owned_stretches", &LoopStepsObject::owned_stretches)
      .def("found", &LoopStepsObject::found)
      .def("found_by_parts", &LoopStepsObject::found_by_parts);
}

}  // namespace nvspan::bindings
