// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads of the annotation core: many threads share events and domains while a tool comes and
// goes. Made to run under ThreadSanitizer:
//   annotate_threads_test PATH_OF_libnvspan_inject.so

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
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

using nvspan::annotate::Domain;
using nvspan::annotate::ReadyEvent;

using nvspan_test::expect;
using nvspan_test::failures;

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
    (void)domain.categories();
    (void)domain.message_stats();
    (void)domain.take_overflow_notice();
  }
}

void while_a_tool_comes_and_goes(const std::string& library, const std::string& config) {
  static const std::string name = "shared";
  SharedEvents shared(Domain::get(&name));
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) threads.emplace_back([&, i] { hammer(shared, i); });
  for (int i = 0; i < 40; ++i) {
    const std::string problem = nvspan::annotate::attach_tool(library, config);
    expect(problem.empty(), "attach: " + problem);
    std::this_thread::yield();
    nvspan::annotate::detach_tool();
  }
  for (std::thread& thread : threads) thread.join();
}

// With the tool attached throughout, every event of every thread arrives.
void nothing_is_lost(const std::string& library, const std::string& file,
                     const std::string& config) {
  std::remove(file.c_str());
  expect(nvspan::annotate::attach_tool(library, config).empty(), "attach");
  expect(!nvspan::annotate::attach_tool(library, config).empty(), "a second tool is refused");
  static const std::string name = "counted";
  SharedEvents shared(Domain::get(&name));
  std::vector<std::thread> threads;
  constexpr int each = 200;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < each; ++n) {
        ReadyEvent& event = *shared.events[static_cast<size_t>(n) % shared.events.size()];
        push(&n, event, *nvspan::annotate::listening_tool());
        nvspan::annotate::pop_owned(&n);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  nvspan::annotate::detach_tool();
  std::map<std::string, int> seen;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"counted\"") == std::string::npos) continue;
    for (const char* kind : {"push", "pop", "register_string"}) {
      if (line.find("\"kind\": \"" + std::string(kind) + "\"") != std::string::npos) ++seen[kind];
    }
  }
  expect(seen["push"] == thread_count * each, "pushes: " + std::to_string(seen["push"]));
  expect(seen["pop"] == thread_count * each, "pops: " + std::to_string(seen["pop"]));
  expect(seen["register_string"] == 8, "strings: " + std::to_string(seen["register_string"]));
}

// 200 threads throw every switch while 200 annotate. What was opened is closed: at the end the tool
// has seen as many pops as pushes, and as many ends as starts.
void switching(const std::string& library, const std::string& file, const std::string& config) {
  std::remove(file.c_str());
  expect(nvspan::annotate::attach_tool(library, config).empty(), "attach");
  static const std::string name = "switched";
  Domain& domain = Domain::get(&name);
  SharedEvents shared(domain);
  constexpr int each_kind = 200;
  std::vector<std::thread> threads;
  for (int i = 0; i < each_kind; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 20; ++n) {
        annotate_once(*shared.events[static_cast<size_t>(n + i) % shared.events.size()], &shared);
      }
    });
    threads.emplace_back([&, i] {
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
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect(domain.enabled() && nvspan::annotate::annotations_enabled(), "all is on again");
  annotate_once(*shared.events[0], &shared);
  nvspan::annotate::detach_tool();
  std::map<std::string, int> seen;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"switched\"") == std::string::npos) continue;
    for (const char* kind : {"push", "pop", "start", "end"}) {
      if (line.find("\"kind\": \"" + std::string(kind) + "\"") != std::string::npos) ++seen[kind];
    }
  }
  expect(seen["push"] > 0 && seen["push"] == seen["pop"],
         "pushes and pops: " + std::to_string(seen["push"]) + ", " + std::to_string(seen["pop"]));
  expect(seen["start"] > 0 && seen["start"] == seen["end"],
         "starts and ends: " + std::to_string(seen["start"]) + ", " + std::to_string(seen["end"]));
}

thread_local uint32_t current_line;

// Check mode goes on and off under threads that annotate rightly: it finds nothing.
void checking_while_annotating(const std::string& library, const std::string& config) {
  static const nvspan::annotate::CheckHost host = {
      []() noexcept { return current_line; },
      [](uint32_t site) { return "line " + std::to_string(site); },
      []() noexcept -> const void* { return nullptr; },
      [](const nvspan::annotate::CheckReport&, bool, bool) noexcept {},
  };
  static const std::string name = "checked";
  SharedEvents shared(Domain::get(&name));
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      current_line = static_cast<uint32_t>(i) + 1;
      for (int n = 0; n < rounds; ++n) {
        ReadyEvent& event = *shared.events[static_cast<size_t>(n) % shared.events.size()];
        if (const nvspan::annotate::ToolTable* tool = nvspan::annotate::listening_tool()) {
          push(&n, event, *tool);
          nvspan::annotate::pop_owned(&n);
        }
      }
    });
  }
  for (int i = 0; i < 40; ++i) {
    nvspan::annotate::start_checking(host);
    if (i % 4 == 0) expect(nvspan::annotate::attach_tool(library, config).empty(), "attach");
    std::this_thread::yield();
    nvspan::annotate::stop_checking();
    if (i % 4 == 0) nvspan::annotate::detach_tool();
  }
  for (std::thread& thread : threads) thread.join();
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
  if (count != 2) {
    std::fprintf(stderr, "usage: %s LIBRARY\n", values[0]);
    return 2;
  }
  // Only the library named here is ever attached.
  unsetenv("NVTX_INJECTION64_PATH");
  const std::string file = "annotate_threads_test." + std::to_string(getpid()) + ".jsonl";
  const std::string config = "format=jsonl;file=" + file;
  while_a_tool_comes_and_goes(values[1], config);
  nothing_is_lost(values[1], file, config);
  switching(values[1], file, config);
  checking_while_annotating(values[1], config);
  a_full_table_of_messages();
  std::remove(file.c_str());
  if (failures() == 0) std::puts("annotate_threads_test: passed");
  return failures() == 0 ? 0 : 1;
}
