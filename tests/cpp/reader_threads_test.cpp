// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// One recording read by many threads at once, through every function that reads one: each thread
// must get what one alone gets. Made for ThreadSanitizer. Arguments: how many rounds, then the
// files.

#include "reader/export/csv_export.hpp"
#include "reader/perfetto/perfetto_export.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/payloads.hpp"
#include "reader/scan/selection.hpp"
#include "reader/stats/aggregate.hpp"
#include "reader/stats/call_tree.hpp"
#include "reader/tables/arrow.hpp"
#include "reader/tables/columns.hpp"
#include "threads.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 8;
constexpr const char* tables[] = {"ranges", "marks", "counters", "threads", "domains", "losses"};

std::atomic<int> failures{0};

// What a reading gave, as one number. The number of a text depends on who asked for it first, so
// the text itself goes in.
class Digest {
 public:
  void add(const void* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      value_ = (value_ ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
    }
  }
  void add(const std::string& text) { add(text.data(), text.size()); }
  void add(std::uint64_t number) { add(&number, sizeof number); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037u;
};

// A recording, and a part of it that shares its tables.
struct Shared {
  explicit Shared(const std::string& path) {
    if (!recording->add(path)) std::exit(1);
    selection.shortest = 100;
    for (std::size_t i = 0; i < recording->sites().size(); ++i) selection.sites.push_back(i % 2);
    part = std::make_shared<nvspan::reader::Columns>(whole, selection);
  }

  std::shared_ptr<nvspan::reader::Recording> recording =
      std::make_shared<nvspan::reader::Recording>();
  nvspan::reader::Selection selection;
  std::shared_ptr<nvspan::reader::Columns> whole =
      std::make_shared<nvspan::reader::Columns>(recording);
  std::shared_ptr<nvspan::reader::Columns> part;
};

void add_column(Digest& digest, const nvspan::reader::Recording& recording,
                const nvspan::reader::Column& column) {
  digest.add(column.name);
  digest.add(static_cast<std::uint64_t>(column.null_count));
  if (column.dictionary == nullptr) {
    return digest.add(column.data, column.length * column.item_size());
  }
  const auto* numbers = static_cast<const std::int32_t*>(column.data);
  for (std::size_t i = 0; i < column.length; ++i) {
    if (numbers[i] < 0) continue;
    const auto number = static_cast<std::size_t>(numbers[i]);
    digest.add(recording.strings()[number]);
    const auto& texts = *column.dictionary;
    if (number + 1 >= texts.offsets.size()) {
      std::fprintf(stderr, "%s: text %zu is past its dictionary\n", column.name.c_str(), number);
      ++failures;
      continue;
    }
    digest.add(texts.bytes.data() + texts.offsets[number],
               static_cast<std::size_t>(texts.offsets[number + 1] - texts.offsets[number]));
  }
}

nvspan::reader::ColumnList columns_of(nvspan::reader::Columns& columns, const char* table) {
  nvspan::reader::ColumnList made;
  for (const std::string& name : columns.names(table)) made.push_back(columns.column(table, name));
  return made;
}

void read_columns(Digest& digest, const Shared& shared, nvspan::reader::Columns& columns) {
  for (const char* table : tables) {
    digest.add(columns.rows(table));
    for (const auto& column : columns_of(columns, table)) {
      add_column(digest, *shared.recording, *column);
    }
  }
}

void read_arrow(Digest& digest, const Shared& shared, nvspan::reader::Columns& columns) {
  for (const char* table : tables) {
    const nvspan::reader::ColumnList list = columns_of(columns, table);
    ArrowArrayStream stream;
    nvspan::reader::export_stream(list, columns.rows(table), &stream);
    ArrowSchema schema;
    ArrowArray array;
    if (stream.get_schema(&stream, &schema) != 0 || stream.get_next(&stream, &array) != 0) {
      ++failures;
      continue;
    }
    digest.add(static_cast<std::uint64_t>(array.length));
    for (std::int64_t i = 0; i < schema.n_children; ++i) digest.add(schema.children[i]->name);
    schema.release(&schema);
    array.release(&array);
    stream.release(&stream);
  }
  digest.add(shared.recording->domains().size());
}

class Fields final : public nvspan::trace::PayloadVisitor {
 public:
  explicit Fields(Digest& digest) : digest_(digest) {}
  bool value(std::string_view name, const nvspan::trace::PayloadValue& value) override {
    digest_.add(name.data(), name.size());
    digest_.add(value.text.data(), value.text.size());
    digest_.add(value.label.data(), value.label.size());
    return true;
  }

 private:
  Digest& digest_;
};

void read_payloads(Digest& digest, const Shared& shared, nvspan::reader::Columns& columns) {
  const nvspan::reader::Tables& made = columns.tables();
  nvspan::reader::RecordedPayloads payloads(*shared.recording);
  Fields fields(digest);
  const auto read = [&](const auto& table) {
    for (std::size_t row = 0; row < table.site.size(); ++row) {
      if (table.payload_bytes[row] == 0) continue;
      const std::uint32_t process = shared.recording->threads()[table.thread[row]].process;
      payloads.read(process, shared.recording->sites()[table.site[row]].local_domain,
                    made.bytes.data() + table.payload[row], table.payload_bytes[row], fields);
    }
  };
  read(made.ranges);
  read(made.marks);
  digest.add(made.orphan_ends);
}

void read_statistics(Digest& digest, const Shared& shared,
                     const nvspan::reader::Selection& selection) {
  using nvspan::reader::GroupBy;
  for (const GroupBy by : {GroupBy::name, GroupBy::thread, GroupBy::process, GroupBy::category,
                           GroupBy::payload, GroupBy::device, GroupBy::stream, GroupBy::field}) {
    nvspan::reader::AggregateOptions options;
    static_cast<nvspan::reader::Selection&>(options) = selection;
    options.by = by;
    if (by == GroupBy::field) options.field = "step";
    const nvspan::reader::Aggregate made = nvspan::reader::aggregate(*shared.recording, options);
    for (const auto& row : made.rows) {
      digest.add(row->calls);
      digest.add(static_cast<std::uint64_t>(row->total()));
    }
    for (const auto& lane : made.lanes.lanes()) {
      digest.add(nvspan::reader::lane_label(*shared.recording, lane));
    }
    digest.add(made.lost + made.losses.size() + made.marks.size());
  }
}

void read_reports(Digest& digest, const Shared& shared,
                  const nvspan::reader::Selection& selection) {
  const nvspan::reader::Recording& recording = *shared.recording;
  for (const auto& node : nvspan::reader::call_tree(recording, selection).nodes)
    digest.add(node->calls);
  for (const auto& row : nvspan::reader::all_durations(recording, selection)) {
    digest.add(row.ns.data(), row.ns.size() * sizeof row.ns[0]);
  }
  digest.add(nvspan::reader::has_device_ranges(recording) ? 1 : 0);
  digest.add(nvspan::reader::export_perfetto(recording, selection, {}, "/dev/null", {}));
}

void read_csv(Digest& digest, const Shared&, nvspan::reader::Columns& columns) {
  for (const char* table : {"ranges", "marks", "counters"}) {
    std::uint64_t told = 0;
    nvspan::reader::export_csv(columns, table, "/dev/null", {{"kind", {"a", "b"}}},
                               [&](std::size_t rows) { told += rows; });
    digest.add(told);
  }
}

void read_descriptions(Digest& digest, const Shared& shared) {
  const nvspan::reader::Recording& recording = *shared.recording;
  for (const std::int32_t name : recording.domains()) {
    if (name >= 0) digest.add(recording.strings()[static_cast<std::size_t>(name)]);
  }
  for (const nvspan::reader::ReadProcess& process : recording.processes()) digest.add(process.path);
  digest.add(recording.sites().size() + recording.counters().size() + recording.threads().size());
  digest.add(recording.losses().size() + recording.stats_chunks().size());
  for (const nvspan::reader::ReadEvent& event : recording.events())
    digest.add(std::string(event.json));
  if (recording.problems().size() > 100) ++failures;  // found on the way: any number of them
  for (std::size_t i = 0, count = recording.strings().size(); i < count; ++i) {
    if (recording.strings()[i].size() > 1 << 20) ++failures;
  }
}

using Reading = std::function<void(Digest&, const Shared&)>;

std::vector<Reading> readings() {
  std::vector<Reading> made;
  for (const auto read : {read_columns, read_arrow, read_payloads, read_csv}) {
    made.emplace_back([read](Digest& d, const Shared& s) { read(d, s, *s.whole); });
    made.emplace_back([read](Digest& d, const Shared& s) { read(d, s, *s.part); });
  }
  for (const auto read : {read_statistics, read_reports}) {
    made.emplace_back(
        [read](Digest& d, const Shared& s) { read(d, s, nvspan::reader::Selection()); });
    made.emplace_back([read](Digest& d, const Shared& s) { read(d, s, s.selection); });
  }
  made.emplace_back(read_descriptions);
  return made;
}

std::uint64_t digest_of(const Reading& reading, const Shared& shared) {
  Digest digest;
  reading(digest, shared);
  return digest.value();
}

void read_together(const std::string& path, const std::vector<Reading>& all,
                   const std::vector<std::uint64_t>& expected, bool in_step) {
  const Shared shared(path);
  std::atomic<int> waiting{thread_count};
  const auto work = [&](int thread) {
    --waiting;
    while (waiting != 0) std::this_thread::yield();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t which =
          (in_step ? i : i * 5 + 3 * static_cast<std::size_t>(thread)) % all.size();
      if (digest_of(all[which], shared) == expected[which]) continue;
      std::fprintf(stderr, "%s: reading %zu differs\n", path.c_str(), which);
      ++failures;
    }
  };
  nvspan_test::in_threads(thread_count, work);
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 3;
  const std::vector<Reading> all = readings();
  for (int i = 2; i < argc; ++i) {
    std::vector<std::uint64_t> expected;
    {
      const Shared alone(argv[i]);
      for (const Reading& reading : all) expected.push_back(digest_of(reading, alone));
    }
    for (long round = 0; round < rounds; ++round) {
      read_together(argv[i], all, expected, round % 2 == 0);
    }
  }
  if (failures == 0) std::puts("ok");
  return failures == 0 ? 0 : 1;
}
