// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads of the annotation core: many threads share events and domains while a tool comes and
// goes. Made to run under ThreadSanitizer:
//   annotate_threads_test PATH_OF_libnvspan_inject.so

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "annotate/event/open_ranges.hpp"
#include "annotate/layers/check.hpp"
#include "annotate/names/thread_names.hpp"
#include "annotate/tool/attachment.hpp"
#include "expect.hpp"
#include "threads.hpp"
#include "tool_trace.hpp"

using nvspan::annotate::Domain;
using nvspan::annotate::ReadyEvent;

using nvspan_test::expect;
using nvspan_test::in_threads;
using nvspan_test::Tool;

namespace {

constexpr int thread_count = 16;
constexpr int rounds = 400;

struct SharedEvents {
  std::vector<std::string> texts;
  std::vector<std::unique_ptr<ReadyEvent>> events;

  explicit SharedEvents(Domain& domain) {
    for (int i = 0; i < 8; ++i) texts.push_back("event " + std::to_string(i));
    for (const std::string& text : texts) {
      events.push_back(std::make_unique<ReadyEvent>());
      events.back()->domain = &domain;
      events.back()->set_text(text.c_str(), text.size());
    }
  }
};

// As the bindings do it.
void push(const void* owner, ReadyEvent& event, const nvspan::annotate::ToolTable& tool) {
  nvspan::annotate::Outgoing out;
  if (!nvspan::annotate::prepare(event, tool, out)) return;
  out.owner = owner;
  nvspan::annotate::send_push(out, tool);
  nvspan::annotate::note_push(owner, event.domain, out.epoch);
}

// What one annotation does.
void annotate_once(ReadyEvent& event, const void* owner) {
  if (const nvspan::annotate::ToolTable* tool = nvspan::annotate::listening_tool())
    push(owner, event, *tool);
  nvspan::annotate::note_push(nullptr, event.domain, 0);
  nvspan::annotate::pop_domain(*event.domain);
  nvspan::annotate::pop_owned(owner);
  if (const nvspan::annotate::ToolTable* tool = nvspan::annotate::listening_tool()) {
    const nvspan::annotate::Span span = nvspan::annotate::start_span(event, *tool);
    nvspan::annotate::end_span(span);
  }
}

void hammer(SharedEvents& shared, int seed) {
  const std::string own_text = "own of " + std::to_string(seed);
  ReadyEvent own;
  own.domain = shared.events[0]->domain;
  own.set_text(own_text.c_str(), own_text.size());
  for (int i = 0; i < rounds; ++i) {
    annotate_once(*shared.events[static_cast<size_t>(i + seed) % shared.events.size()], &own);
    annotate_once(own, &shared);
    Domain& domain = Domain::get(&shared.texts[static_cast<size_t>(i) % shared.texts.size()]);
    domain.category_id("category " + std::to_string(i % 5));
    domain.use_category_id(static_cast<uint32_t>(i % 7));
    domain.categories();
    domain.message_stats();
    domain.take_overflow_notice();
  }
}

void while_a_tool_comes_and_goes(const Tool& tool) {
  static const std::string name = "shared";
  SharedEvents shared(Domain::get(&name));
  in_threads(thread_count, [&](int i) { hammer(shared, i); }, [&] { tool.come_and_go(40); });
}

// With the tool attached throughout, every event of every thread arrives.
void nothing_is_lost(const Tool& tool) {
  std::remove(tool.file.c_str());
  tool.attach();
  expect(!nvspan::annotate::attach_tool(tool.library, tool.config).empty(),
         "a second tool is refused");
  static const std::string name = "counted";
  SharedEvents shared(Domain::get(&name));
  constexpr int each = 200;
  in_threads(thread_count, [&](int) {
    for (int n = 0; n < each; ++n) {
      ReadyEvent& event = *shared.events[static_cast<size_t>(n) % shared.events.size()];
      push(&n, event, *nvspan::annotate::listening_tool());
      nvspan::annotate::pop_owned(&n);
    }
  });
  nvspan::annotate::detach_tool();
  std::map<std::string, int> seen = tool.kinds("\"counted\"");
  expect(seen["push"] == thread_count * each, "pushes: " + std::to_string(seen["push"]));
  expect(seen["pop"] == thread_count * each, "pops: " + std::to_string(seen["pop"]));
  expect(seen["register_string"] == 8, "strings: " + std::to_string(seen["register_string"]));
}

// 200 threads throw every switch while 200 annotate. What was opened is closed: at the end the tool
// has seen as many pops as pushes, and as many ends as starts.
void switching(const Tool& tool) {
  std::remove(tool.file.c_str());
  tool.attach();
  static const std::string name = "switched";
  Domain& domain = Domain::get(&name);
  SharedEvents shared(domain);
  const auto annotate = [&](int i) {
    for (int n = 0; n < 20; ++n) {
      annotate_once(*shared.events[static_cast<size_t>(n + i) % shared.events.size()], &shared);
    }
  };
  const auto throw_switch = [&](int i) {
    for (int n = 0; n < 10; ++n) {
      const bool on = n % 2 == 1;
      switch (i % 5) {
        case 0:
          nvspan::annotate::set_annotations_enabled(on);
          break;
        case 1:
          nvspan::annotate::pause_annotations(on ? -1 : 1);
          break;
        case 2:
          domain.set_enabled(on);
          break;
        case 3:
          domain.pause(on ? -1 : 1);
          break;
        default:
          domain.set_level(on ? 1 : 0);
          nvspan::annotate::name_thread(nvspan::annotate::native_thread_id(), "switching");
      }
      std::this_thread::yield();
    }
  };
  in_threads(400, [&](int i) { i % 2 == 0 ? annotate(i / 2) : throw_switch(i / 2); });
  expect(domain.enabled() && nvspan::annotate::annotations_enabled(), "all is on again");
  annotate_once(*shared.events[0], &shared);
  nvspan::annotate::detach_tool();
  std::map<std::string, int> seen = tool.kinds("\"switched\"");
  expect(seen["push"] > 0 && seen["push"] == seen["pop"],
         "pushes and pops: " + std::to_string(seen["push"]) + ", " + std::to_string(seen["pop"]));
  expect(seen["start"] > 0 && seen["start"] == seen["end"],
         "starts and ends: " + std::to_string(seen["start"]) + ", " + std::to_string(seen["end"]));
}

thread_local uint32_t current_line;

// Check mode goes on and off under threads that annotate rightly: it finds nothing.
void checking_while_annotating(const Tool& tool) {
  static const nvspan::annotate::CheckHost host = {
      []() noexcept { return current_line; },
      [](uint32_t site) { return "line " + std::to_string(site); },
      []() noexcept -> const void* { return nullptr; },
      [](const nvspan::annotate::CheckReport&, bool, bool) noexcept {},
  };
  static const std::string name = "checked";
  SharedEvents shared(Domain::get(&name));
  const auto annotate = [&](int i) {
    current_line = static_cast<uint32_t>(i) + 1;
    for (int n = 0; n < rounds; ++n) {
      ReadyEvent& event = *shared.events[static_cast<size_t>(n) % shared.events.size()];
      if (const nvspan::annotate::ToolTable* listening = nvspan::annotate::listening_tool()) {
        push(&n, event, *listening);
        nvspan::annotate::pop_owned(&n);
      }
    }
  };
  in_threads(thread_count, annotate, [&] {
    for (int i = 0; i < 40; ++i) {
      nvspan::annotate::start_checking(host);
      if (i % 4 == 0) tool.attach();
      std::this_thread::yield();
      nvspan::annotate::stop_checking();
      if (i % 4 == 0) nvspan::annotate::detach_tool();
    }
  });
  uint64_t lost = 0;
  for (const nvspan::annotate::CheckReport& report : nvspan::annotate::check_reports(lost)) {
    expect(false, std::string(nvspan::annotate::name_of(report.kind)) + ": " + report.text);
  }
  nvspan::annotate::start_checking(host);
  std::thread([] { nvspan::annotate::pop_domain(Domain::get(nullptr)); }).join();
  nvspan::annotate::stop_checking();
  expect(nvspan::annotate::check_reports(lost).size() == 1, "one report");
}

void a_full_table_of_messages() {
  static const std::string name = "limited";
  Domain& domain = Domain::get(&name);
  domain.set_message_limit(3);
  expect(domain.message_stats().limit == 3, "limit");
}

}  // namespace

int main(int count, char** values) {
  return nvspan_test::test_with_tool(count, values, [](const Tool& tool) {
    while_a_tool_comes_and_goes(tool);
    nothing_is_lost(tool);
    switching(tool);
    checking_while_annotating(tool);
    a_full_table_of_messages();
  });
}
