// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that send binary payloads and samples of counters through what they share, while a tool
// comes and goes and while one stays. Made to run under ThreadSanitizer:
//   payload_threads_test PATH_OF_libnvspan_inject.so

#include <array>
#include <cstdio>
#include <map>
#include <string>

#include "annotate/payload/counters.hpp"
#include "annotate/payload/encoded_payload.hpp"
#include "expect.hpp"
#include "threads.hpp"
#include "tool_trace.hpp"

using nvspan::annotate::Domain;
using nvspan::annotate::ReadyEvent;
using nvspan::annotate::Schema;

using nvspan_test::expect;
using nvspan_test::in_threads;
using nvspan_test::Tool;

namespace {

constexpr int thread_count = 12;

struct Row {
  int64_t thread;
  int64_t turn;
};

// Every thread describes the same layout by itself, as types of Python that look alike do.
const Schema* describe_row() {
  nvspan::annotate::SchemaDescription made;
  made.name = "Row";
  made.static_size = sizeof(Row);
  for (const char* name : {"thread", "turn"}) {
    nvspan::annotate::SchemaEntry entry;
    entry.name = name;
    entry.type = nvspan::nvtx::entry_type::int64;
    entry.offset = made.entries.size() * sizeof(int64_t);
    made.entries.push_back(entry);
  }
  return Schema::describe(std::move(made));
}

struct Shared {
  Domain& domain;
  std::string text = "row";
  ReadyEvent event;
  nvspan::annotate::Counter tokens;
  nvspan::annotate::Counter loss;

  explicit Shared(Domain& domain)
      : domain(domain),
        tokens(domain, described("tokens", nvspan::nvtx::entry_type::int64)),
        loss(domain, described("loss", nvspan::nvtx::entry_type::float64)) {
    event.domain = &domain;
    event.set_text(text.c_str(), text.size());
  }

  static nvspan::annotate::CounterDescription described(const char* name, uint64_t type) {
    nvspan::annotate::CounterDescription made;
    made.name = name;
    made.type = type;
    return made;
  }
};

void send(Shared& shared, const Schema& schema, const Row& row) {
  const nvspan::annotate::ToolTable* tool = nvspan::annotate::listening_tool();
  if (!tool) return;
  nvspan::annotate::Outgoing out;
  if (!nvspan::annotate::prepare(shared.event, *tool, out)) return;
  nvspan::annotate::AttachedPayload payload;
  payload.attach(out, *tool, {&schema, &row, sizeof row});
  nvspan::annotate::send_mark(out, *tool);
}

void hammer(Shared& shared, int thread, int turns) {
  const Schema* schema = describe_row();
  for (int turn = 0; turn < turns; ++turn) {
    send(shared, *schema, {thread, turn});
    send(shared, *Schema::array_of(*schema), {1, turn});
    shared.tokens.sample(static_cast<int64_t>(thread));
    shared.loss.sample(static_cast<double>(turn));
    shared.loss.sample_no_value(1);
    const std::array<int64_t, 3> samples{1, 2, 3};
    const std::array<int64_t, 3> times{10, 20, 30};
    shared.tokens.submit(samples.data(), sizeof samples, times.data(), times.size());
    nvspan::annotate::scope_id(shared.domain, "scope/" + std::to_string(turn % 3), 0);
    nvspan::annotate::tool_timestamp();
  }
}

std::string bytes_of(const Row& row) {
  std::string hex;
  std::array<char, 3> two{};
  for (size_t i = 0; i < sizeof row; ++i) {
    std::snprintf(two.data(), two.size(), "%02x", reinterpret_cast<const unsigned char*>(&row)[i]);
    hex += two.data();
  }
  return "\"hex\": \"" + hex + "\"";
}

// Each thread's bytes arrive once, whole, under one schema.
void nothing_is_lost_or_mixed(const Tool& tool) {
  constexpr int turns = 60;
  std::remove(tool.file.c_str());
  static const std::string name = "counted";
  Shared shared(Domain::get(&name));
  tool.attach();
  in_threads(thread_count, [&](int i) { hammer(shared, i, turns); });
  nvspan::annotate::detach_tool();
  std::map<std::string, int> marks;
  std::map<std::string, int> kinds;
  tool.each_line([&](const std::string& line, const std::string& kind) {
    ++kinds[kind];
    const size_t hex = line.find("\"hex\"");
    if (kind == "mark" && hex != std::string::npos) {
      ++marks[line.substr(hex, 9 + 4 * sizeof(int64_t))];
    }
  });
  for (int thread = 0; thread < thread_count; ++thread) {
    for (int turn = 0; turn < turns; ++turn) {
      // A payload of the array schema begins with a count: here 1, as thread 1's rows do.
      const int expected = thread == 1 ? 1 + thread_count : 1;
      const int seen = marks[bytes_of({thread, turn})];
      if (seen == expected) continue;
      expect(false, "row " + std::to_string(thread) + ", " + std::to_string(turn) + ": " +
                        std::to_string(seen));
    }
  }
  expect(kinds["mark"] == thread_count * turns * 2, "marks: " + std::to_string(kinds["mark"]));
  expect(kinds["schema_register"] == 2, "schemas: " + std::to_string(kinds["schema_register"]));
  expect(kinds["counter_register"] == 2, "counters: " + std::to_string(kinds["counter_register"]));
  expect(kinds["counter_sample"] >= thread_count * turns * 3,
         "samples: " + std::to_string(kinds["counter_sample"]));
}

}  // namespace

int main(int count, char** values) {
  return nvspan_test::test_with_tool(count, values, [](const Tool& tool) {
    static const std::string name = "comes and goes";
    Shared shared(Domain::get(&name));
    in_threads(thread_count, [&](int i) { hammer(shared, i, 200); }, [&] { tool.come_and_go(40); });
    nothing_is_lost_or_mixed(tool);
  });
}
