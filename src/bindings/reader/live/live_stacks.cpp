// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings/reader/live/live_stacks.hpp"
#include "bindings/reader/values/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace py = pybind11;

namespace nvspan::bindings {
namespace {

// Of a file that anybody wrote.
constexpr std::size_t most_shown_threads = 4096;
constexpr std::size_t most_frames = 512;  // of a stack, the innermost ones

// A frame is one object, in however many stacks it is.
class Frames {
 public:
  Frames(const reader::LiveNames& names, Texts& texts) : names_(names), texts_(texts) {}

  py::object of(const record::FrameDefinition& frame) {
    const auto found = known_.find(frame.id);
    if (found != known_.end()) return found->second;
    const reader::SampledCode& code = names_.code();
    NewResult fields("LiveFrame");
    fields["file"] = texts_.of(names_.text(code.file(frame.code)));
    fields["function"] = texts_.of(names_.text(code.function(frame.code)));
    if (frame.line != 0) fields["line"] = frame.line;
    const bool known = frame.column != record::no_column && frame.end_column != record::no_column;
    if (frame.end_line != 0) fields["end_line"] = frame.end_line;
    if (known) {
      fields["column"] = frame.column;
      fields["end_column"] = frame.end_column;
    }
    if (frame.c_function != 0) {
      fields["c_function"] = texts_.of(names_.text(frame.c_function - 1));
    }
    return known_.emplace(frame.id, fields.done()).first->second;
  }

 private:
  const reader::LiveNames& names_;
  Texts& texts_;
  std::unordered_map<std::uint32_t, py::object> known_;
};

}  // namespace

void HiddenFiles::mark(const reader::LiveNames& names, std::vector<bool>& hidden) {
  const reader::SampledCode& code = names.code();
  while (hidden.size() < code.codes()) {
    const auto number = static_cast<std::uint32_t>(hidden.size());
    const std::string file(names.text(code.file(number)));
    const auto [found, is_new] = known_.try_emplace(file, false);
    if (is_new && !file.empty()) found->second = py::cast<bool>(is_hidden_(str_of(file)));
    hidden.push_back(found->second);
  }
}

py::object stacks_of(const reader::LiveFile& file, const reader::LiveLines& lines, Texts& texts) {
  static const char* const states[] = {"waiting", "running", "ready"};
  const reader::SampledCode& code = file.names().code();
  Frames frames(file.names(), texts);
  py::list threads;
  for (const reader::LiveLine& line : lines.threads) {
    if (threads.size() == most_shown_threads) break;
    py::list stack;
    std::size_t shown = 0;
    for (std::uint32_t at = line.stack; at != 0 && stack.size() < most_frames;
         at = code.caller(at)) {
      if (at == line.shown) shown = stack.size();
      stack.append(frames.of(code.frame(at)));
    }
    if (stack.empty()) continue;
    NewResult thread("LiveStack");
    thread["tid"] = line.tid;
    thread["frames"] = py::tuple(stack);
    thread["shown"] = shown;
    thread["state"] = states[static_cast<std::size_t>(line.state)];
    thread["held"] = file.between(line.since, lines.looked);
    thread["at_least"] = line.at_least;
    threads.append(thread.done());
  }
  NewResult fields("LiveStacks");
  fields["looked"] = number_or_none(file.age(lines.looked));
  fields["threads"] = threads;
  return fields.done();
}

}  // namespace nvspan::bindings
