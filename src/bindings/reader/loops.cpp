// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The loop of a run as Python gets it.
#include "bindings/support/py.hpp"

#include <pybind11/stl.h>

#include "bindings/reader/loops.hpp"
#include "bindings/reader/reports.hpp"
#include "bindings/reader/values/column.hpp"
#include "bindings/reader/values/methods.hpp"
#include "bindings/reader/values/result.hpp"
#include "reader/loops/gaps.hpp"
#include "reader/loops/parts.hpp"
#include "reader/loops/sums.hpp"
#include "reader/loops/waits.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

using reader::LoopRanges;
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

// The ranges, shared by what asks about steps.
struct Shared {
  std::shared_ptr<reader::Recording> recording;
  LoopRanges ranges;
  bool is_nested = false;

  const std::string& label(std::uint32_t group) const { return ranges.groups[group].label; }
};

class StepsObject {
 public:
  StepsObject(std::shared_ptr<const Shared> shared, reader::LoopSteps steps)
      : shared_(std::move(shared)),
        steps_(std::make_shared<const reader::LoopSteps>(std::move(steps))) {}

  ColumnView start() const { return view_in(steps_, steps_->start); }
  ColumnView end() const { return view_in(steps_, steps_->end); }
  ColumnView thread() const { return view_in(steps_, steps_->thread); }
  std::uint64_t evaluation() const { return steps_->evaluation; }
  std::int64_t peak() { return concurrency().peak; }
  double mean_open() { return concurrency().mean; }

  py::object tree() {
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

  py::object means(const std::vector<std::int64_t>& high, const std::vector<std::int64_t>& low) {
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

  py::object gaps(std::uint32_t thread) const {
    if (steps_->kind == reader::LoopSteps::Kind::whole) throw py::value_error("there are no steps");
    auto found = std::make_shared<reader::LoopGaps>(
        without_gil([&] { return reader::find_gaps(shared_->ranges, *steps_, thread); }));
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
    return result.done();
  }

  // Of a thread; -1: of the one that has the most steps.
  py::list waits(std::int64_t thread) const {
    const std::uint32_t of =
        thread < 0 ? reader::busiest_thread(*steps_) : static_cast<std::uint32_t>(thread);
    if (of >= shared_->ranges.of_threads.size()) return py::list();
    py::list rows;
    for (const reader::LoopWait& wait :
         without_gil([&] { return reader::find_waits(shared_->ranges, *steps_, of); })) {
      py::list meanwhile;
      for (const reader::LoopMeanwhile& part : wait.meanwhile) {
        NewResult entry("LoopMeanwhile");
        entry["name"] = shared_->label(part.group);
        entry["share"] = part.share;
        entry["ends_it"] = part.ends_it;
        meanwhile.append(entry.done());
      }
      NewResult entry("LoopWait");
      entry["name"] = shared_->label(wait.group);
      entry["calls"] = wait.calls;
      entry["total"] = wait.total;
      entry["share"] = wait.share;
      entry["thread"] = number_or_none(wait.thread);
      entry["meanwhile"] = meanwhile;
      entry["others"] = wait.has_others;
      rows.append(entry.done());
    }
    return rows;
  }

 private:
  const reader::LoopTree& built() {
    if (tree_ == nullptr) {
      tree_ = std::make_shared<const reader::LoopTree>(
          without_gil([&] { return reader::build_tree(shared_->ranges, *steps_); }));
    }
    return *tree_;
  }
  const reader::Concurrency& concurrency() {
    if (concurrency_ == nullptr) {
      concurrency_ = std::make_unique<const reader::Concurrency>(without_gil([&] {
        return reader::concurrency_of({steps_->start.begin(), steps_->start.end()},
                                      {steps_->end.begin(), steps_->end.end()});
      }));
    }
    return *concurrency_;
  }

  std::shared_ptr<const Shared> shared_;
  std::shared_ptr<const reader::LoopSteps> steps_;
  std::shared_ptr<const reader::LoopTree> tree_;
  std::unique_ptr<const reader::Concurrency> concurrency_;
};

class LoopsObject {
 public:
  explicit LoopsObject(const RecordingHandle& handle)
      : shared_(without_gil([&] {
          return std::make_shared<Shared>(
              Shared{handle.recording, LoopRanges(*handle.recording, handle.selection)});
        })) {}

  py::list names() const {
    const reader::Recording& recording = *shared_->recording;
    py::list rows;
    for (const reader::LoopName& name : ranges().names()) {
      NewResult entry("LoopName");
      const std::int32_t domain = recording.domains()[name.domain];
      if (domain >= 0) entry["domain"] = recording.text(domain);
      if (name.name >= 0) entry["name"] = recording.text(name.name);
      entry["pair"] = py::make_tuple(name.domain, name.name);
      entry["ranges"] = name.ranges;
      rows.append(entry.done());
    }
    return rows;
  }
  std::uint64_t unclosed() const { return ranges().unclosed(); }
  std::int64_t begin() const { return ranges().first; }
  std::int64_t end() const { return ranges().last; }

  void nest(const std::vector<std::uint32_t>& groups, const std::vector<std::string>& labels,
            const std::vector<std::uint8_t>& traits) {
    if (shared_->is_nested) throw py::value_error("they are nested already");
    if (groups.size() != ranges().names().size() || labels.size() != traits.size()) {
      throw py::value_error("not one group for each name");
    }
    for (const std::uint32_t group : groups) {
      if (group >= labels.size()) throw py::index_error();
    }
    std::vector<reader::LoopGroup> of_labels(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      of_labels[i].label = labels[i];
      of_labels[i].traits = traits[i];
    }
    const released_gil released;
    shared_->ranges.nest(groups, std::move(of_labels));
    shared_->is_nested = true;
  }

  py::list threads() const {
    py::list rows;
    for (const reader::LoopThread& one : reader::find_threads(nested())) {
      NewResult entry("LoopThread");
      entry["thread"] = one.thread;
      entry["ranges"] = one.ranges;
      entry["floating"] = one.floating;
      entry["begin"] = one.begin;
      entry["end"] = one.end;
      entry["covered"] = one.covered;
      entry["waiting"] = one.waiting;
      rows.append(entry.done());
    }
    return rows;
  }

  py::list candidates(std::uint32_t loop_thread) {
    candidates_ = without_gil([&] { return reader::find_candidates(nested(), loop_thread); });
    py::list rows;
    for (const reader::LoopCandidate& one : candidates_) {
      NewResult entry("LoopCandidate");
      entry["group"] = one.group;
      entry["ranges"] = one.rows.size();
      entry["all_ranges"] = one.all_ranges;
      entry["thread"] = one.thread;
      entry["total"] = one.total;
      entry["median"] = one.median;
      entry["coverage"] = one.coverage;
      entry["extent"] = one.extent;
      entry["parts"] = one.parts;
      entry["overlapping"] = one.is_overlapping;
      entry["recursive"] = one.is_recursive;
      rows.append(entry.done());
    }
    return rows;
  }

  py::object inside(std::size_t inner, std::size_t outer) const {
    const reader::LoopInside found =
        reader::inside_of(nested(), candidate(inner), candidate(outer));
    NewResult result("LoopInside");
    result["contained"] = found.contained;
    result["rounds"] = found.rounds;
    result["time"] = found.time;
    return result.done();
  }
  bool is_regular(std::size_t place) const {
    return reader::is_regular(nested(), candidate(place));
  }
  bool are_siblings(std::size_t place) const {
    return reader::are_siblings(nested(), candidate(place));
  }

  std::unique_ptr<StepsObject> steps(std::size_t place) const {
    return made(reader::steps_of(nested(), candidate(place)));
  }
  // `within`: a candidate, -1 for none.
  py::object cycle(std::uint32_t thread, std::int64_t within) const {
    if (thread >= nested().of_threads.size()) return py::none();
    const reader::LoopCandidate* const around =
        within < 0 ? nullptr : &candidate(static_cast<std::size_t>(within));
    auto found = without_gil([&] { return reader::find_cycle(nested(), thread, around); });
    if (!found) return py::none();
    py::list labels;
    for (const std::uint32_t group : found->groups) labels.append(shared_->label(group));
    return py::make_tuple(labels, made(std::move(found->steps)));
  }
  std::unique_ptr<StepsObject> whole(std::uint32_t thread) const {
    return made(reader::whole_of(nested(), thread));
  }

  py::list self_times(std::uint32_t thread, std::size_t most) const {
    if (thread >= nested().of_threads.size()) return py::list();
    const reader::Recording& recording = *shared_->recording;
    py::list rows;
    for (const reader::GroupSum& sum : reader::largest_self_times(nested(), thread, most)) {
      const reader::LoopGroup& group = ranges().groups[sum.group];
      NewResult entry("LoopSelf");
      entry["name"] = group.label;
      const std::int32_t domain = recording.domains()[group.domain];
      if (domain >= 0) entry["domain"] = recording.text(domain);
      entry["group"] = sum.group;
      entry["calls"] = sum.ranges;
      entry["self"] = sum.time;
      rows.append(entry.done());
    }
    return rows;
  }
  py::list tiny(std::size_t most) const {
    py::list rows;
    for (const reader::GroupSum& sum : reader::most_frequent(nested(), most)) {
      NewResult entry("LoopTiny");
      entry["name"] = shared_->label(sum.group);
      entry["ranges"] = sum.ranges;
      entry["median"] = sum.time;
      rows.append(entry.done());
    }
    return rows;
  }

 private:
  const LoopRanges& ranges() const { return shared_->ranges; }
  const LoopRanges& nested() const {
    if (!shared_->is_nested) throw py::value_error("they are not nested yet");
    return shared_->ranges;
  }
  const reader::LoopCandidate& candidate(std::size_t place) const {
    if (place >= candidates_.size()) throw py::index_error();
    return candidates_[place];
  }
  std::unique_ptr<StepsObject> made(reader::LoopSteps steps) const {
    return std::make_unique<StepsObject>(shared_, std::move(steps));
  }

  std::shared_ptr<Shared> shared_;
  std::vector<reader::LoopCandidate> candidates_;
};

}  // namespace

void bind_loops(py::module_& module) {
  py::class_<StepsObject> steps(module, "LoopSteps");
  steps.def_property_readonly("start", &StepsObject::start)
      .def_property_readonly("end", &StepsObject::end)
      .def_property_readonly("thread", &StepsObject::thread)
      .def_property_readonly("evaluation", &StepsObject::evaluation)
      .def_property_readonly("peak", &StepsObject::peak)
      .def_property_readonly("mean_open", &StepsObject::mean_open);
  Methods(steps)
      .def("tree", &StepsObject::tree)
      .def("means", &StepsObject::means)
      .def("gaps", &StepsObject::gaps)
      .def("waits", &StepsObject::waits);
  py::class_<LoopsObject> loops(module, "Loops");
  loops.def(py::init<const RecordingHandle&>())
      .def_property_readonly("unclosed", &LoopsObject::unclosed)
      .def_property_readonly("begin", &LoopsObject::begin)
      .def_property_readonly("end", &LoopsObject::end);
  Methods(loops)
      .def("names", &LoopsObject::names)
      .def("nest", &LoopsObject::nest)
      .def("threads", &LoopsObject::threads)
      .def("candidates", &LoopsObject::candidates)
      .def("inside", &LoopsObject::inside)
      .def("is_regular", &LoopsObject::is_regular)
      .def("are_siblings", &LoopsObject::are_siblings)
      .def("steps", &LoopsObject::steps)
      .def("cycle", &LoopsObject::cycle)
      .def("whole", &LoopsObject::whole)
      .def("self_times", &LoopsObject::self_times)
      .def("tiny", &LoopsObject::tiny);
}

}  // namespace nvspan::bindings
