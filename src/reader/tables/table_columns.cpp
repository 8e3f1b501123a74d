// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The columns of each table.

#include "reader/tables/columns.hpp"
#include "trace/payload/payload.hpp"

namespace nvspan::reader {
namespace {

double payload_value(std::uint8_t type, std::uint64_t bits) {
  double number = 0;
  trace::use_scalar(static_cast<trace::PayloadType>(type), bits,
                    [&](auto value) { number = static_cast<double>(value); });
  return number;
}

}  // namespace

template <typename Table>
std::shared_ptr<Column> Columns::of_site(const Table& table, std::string_view name) {
  const auto& sites = recording_->sites();
  const std::size_t rows = table.site.size();
  const auto site = [&](std::size_t i) -> const ReadSite& { return sites[table.site[i]]; };
  const auto texts = [&](auto value) {
    std::vector<std::int32_t> indices;
    indices.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i) indices.push_back(value(i));
    return text(rows, std::move(indices));
  };
  if (name == "thread") return borrowed('I', table.thread);
  if (name == "process") {
    return make_column<std::uint32_t>(
        'I', rows, [&](std::size_t i) { return recording_->threads()[table.thread[i]].process; });
  }
  if (name == "domain") {
    return texts([&](std::size_t i) { return recording_->domains()[site(i).domain]; });
  }
  if (name == "name") return texts([&](std::size_t i) { return site(i).name; });
  if (name == "category_name") return texts([&](std::size_t i) { return site(i).category_name; });
  if (name == "message_type") {
    return make_column<std::uint8_t>('C', rows,
                                     [&](std::size_t i) { return site(i).message_type; });
  }
  if (name == "category") {
    return make_column<std::uint32_t>('I', rows, [&](std::size_t i) { return site(i).category; });
  }
  if (name == "color") {
    auto column =
        make_column<std::uint32_t>('I', rows, [&](std::size_t i) { return site(i).color; });
    set_valid(*column, [&](std::size_t i) { return site(i).has_color; });
    return column;
  }
  if (name == "payload_type") {
    return make_column<std::uint8_t>('C', rows, [&](std::size_t i) {
      return table.has_payload[i] != 0 ? site(i).own_payload_type() : 0;
    });
  }
  if (name == "payload") return borrowed('L', table.payload);
  if (name == "payload_bytes") return borrowed('I', table.payload_bytes);
  if (name == "payload_value") {
    auto column = make_column<double>('g', rows, [&](std::size_t i) {
      return payload_value(site(i).own_payload_type(), table.payload[i]);
    });
    set_valid(*column, [&](std::size_t i) {
      return table.has_payload[i] != 0 &&
             site(i).own_payload_type() < static_cast<std::uint8_t>(trace::PayloadType::ext);
    });
    return column;
  }
  return nullptr;
}

std::shared_ptr<Column> Columns::of_ranges(std::string_view name) {
  const RangeTable& ranges = tables().ranges;
  const auto is_closed = [&](std::size_t i) { return ranges.end_reason[i] == 0; };
  if (name == "start") return borrowed('l', ranges.start);
  if (name == "self") return borrowed('l', ranges.self);
  if (name == "end_thread") return borrowed('I', ranges.end_thread);
  if (name == "kind") return borrowed('C', ranges.kind);
  if (name == "depth") return borrowed('I', ranges.depth);
  if (name == "level") return borrowed('I', ranges.level);
  if (name == "range_id") return borrowed('L', ranges.range_id);
  if (name == "end_reason") return borrowed('C', ranges.end_reason);
  if (name == "device" || name == "stream" || name == "launcher") return of_devices(name);
  if (name == "launch_shape") {
    const auto shape = [&](std::size_t i) {
      return static_cast<std::int32_t>(recording_->sites()[ranges.site[i]].shape) - 1;
    };
    auto numbers = make_column<std::int32_t>('i', ranges.size(), shape);
    set_valid(*numbers, [&](std::size_t i) { return shape(i) >= 0; });
    return numbers;
  }
  std::shared_ptr<Column> column;
  if (name == "end") {
    column = borrowed('l', ranges.end);
    set_valid(*column, is_closed);
  } else if (name == "duration") {
    column = make_column<std::int64_t>(
        'l', ranges.size(), [&](std::size_t i) { return ranges.end[i] - ranges.start[i]; });
    set_valid(*column, is_closed);
  } else if (name == "parent") {
    column = borrowed('l', ranges.parent);
    set_valid(*column, [&](std::size_t i) { return ranges.parent[i] >= 0; });
  } else {
    column = of_site(ranges, name);
  }
  return column;
}

std::shared_ptr<Column> Columns::of_devices(std::string_view name) {
  const RangeTable& ranges = tables().ranges;
  const auto& lanes = tables().lanes.lanes();
  const auto known = [&](std::size_t i) {
    return !ranges.lane.empty() && ranges.lane[i] < lanes.size() &&
           lanes[ranges.lane[i]].device >= 0;
  };
  std::shared_ptr<Column> column;
  if (name == "launcher") {
    const auto launcher = [&](std::size_t i) {
      return ranges.launcher.empty() ? std::int64_t{-1} : ranges.launcher[i];
    };
    column = make_column<std::int64_t>('l', ranges.size(), launcher);
    set_valid(*column, [&](std::size_t i) { return launcher(i) >= 0; });
    return column;
  }
  if (name == "device") {
    column = make_column<std::int32_t>('i', ranges.size(), [&](std::size_t i) {
      return known(i) ? lanes[ranges.lane[i]].device : -1;
    });
  } else {
    column = make_column<std::uint64_t>('L', ranges.size(), [&](std::size_t i) {
      return known(i) ? lanes[ranges.lane[i]].stream : 0;
    });
  }
  set_valid(*column, known);
  return column;
}

std::shared_ptr<Column> Columns::of_marks(std::string_view name) {
  const MarkTable& marks = tables().marks;
  if (name == "time") return borrowed('l', marks.time);
  return of_site(marks, name);
}

std::shared_ptr<Column> Columns::of_counters(std::string_view name) {
  const CounterTable& table = tables().counters;
  const auto& counters = recording_->counters();
  const std::size_t rows = table.time.size();
  const auto counter = [&](std::size_t i) -> const ReadCounter& {
    return counters[table.counter[i]];
  };
  if (name == "time") return borrowed('l', table.time);
  if (name == "thread") return borrowed('I', table.thread);
  if (name == "kind") return borrowed('C', table.kind);
  if (name == "process") {
    return make_column<std::uint32_t>(
        'I', rows, [&](std::size_t i) { return recording_->threads()[table.thread[i]].process; });
  }
  if (name == "counter") {
    return make_column<std::uint64_t>('L', rows, [&](std::size_t i) { return counter(i).id; });
  }
  if (name == "domain" || name == "name" || name == "field" || name == "unit") {
    std::vector<std::int32_t> indices;
    for (std::size_t i = 0; i < rows; ++i) {
      const ReadCounter& of = counter(i);
      indices.push_back(name == "name"    ? of.name
                        : name == "field" ? of.field
                        : name == "unit"  ? of.unit
                                          : recording_->domains()[of.domain]);
    }
    return text(rows, std::move(indices));
  }
  std::shared_ptr<Column> column;
  if (name == "value") {
    column = borrowed('g', table.value);
    set_valid(*column, [&](std::size_t i) { return table.kind[i] != 2; });
  } else if (name == "integer") {
    column = borrowed('l', table.integer);
    set_valid(*column, [&](std::size_t i) { return table.kind[i] == 0; });
  }
  return column;
}

std::shared_ptr<Column> Columns::of_threads(std::string_view name) {
  tables();
  const auto& threads = recording_->threads();
  const auto& processes = recording_->processes();
  const std::size_t rows = threads.size();
  if (name == "process") {
    return make_column<std::uint32_t>('I', rows, [&](std::size_t i) { return threads[i].process; });
  }
  if (name == "pid") {
    return make_column<std::uint32_t>(
        'I', rows, [&](std::size_t i) { return processes[threads[i].process].header.pid; });
  }
  if (name == "tid") {
    return make_column<std::uint32_t>('I', rows, [&](std::size_t i) { return threads[i].tid; });
  }
  if (name == "start") {
    return make_column<std::int64_t>('l', rows, [&](std::size_t i) {
      return processes[threads[i].process].time(threads[i].start_ticks);
    });
  }
  if (name == "end") {
    auto column = make_column<std::int64_t>('l', rows, [&](std::size_t i) {
      return processes[threads[i].process].time(threads[i].end_ticks);
    });
    set_valid(*column, [&](std::size_t i) { return threads[i].exited; });
    return column;
  }
  if (name == "exited") {
    return make_column<std::uint8_t>('C', rows, [&](std::size_t i) { return threads[i].exited; });
  }
  if (name == "name") {
    std::vector<std::int32_t> indices;
    for (const ReadThread& thread : threads) indices.push_back(thread.name);
    return text(rows, std::move(indices));
  }
  return nullptr;
}

std::shared_ptr<Column> Columns::of_domains(std::string_view name) {
  if (name != "domain") return nullptr;
  return text(recording_->domains().size(), recording_->domains());
}

std::shared_ptr<Column> Columns::of_losses(std::string_view name) {
  const auto& losses = tables().losses;
  const std::size_t rows = losses.size();
  if (name == "process") {
    return make_column<std::uint32_t>('I', rows, [&](std::size_t i) { return losses[i].process; });
  }
  if (name == "thread") {
    auto column =
        make_column<std::int64_t>('l', rows, [&](std::size_t i) { return losses[i].thread; });
    set_valid(*column, [&](std::size_t i) { return losses[i].thread >= 0; });
    return column;
  }
  if (name == "from") {
    return make_column<std::int64_t>('l', rows, [&](std::size_t i) { return losses[i].from; });
  }
  if (name == "to") {
    return make_column<std::int64_t>('l', rows, [&](std::size_t i) { return losses[i].to; });
  }
  if (name == "count") {
    auto column =
        make_column<std::uint64_t>('L', rows, [&](std::size_t i) { return losses[i].count; });
    set_valid(*column, [&](std::size_t i) { return losses[i].count != 0; });
    return column;
  }
  if (name == "reason") {
    std::vector<std::int32_t> indices;
    for (const ReadLoss& loss : losses) indices.push_back(recording_->intern(loss.reason));
    return text(rows, std::move(indices));
  }
  return nullptr;
}

}  // namespace nvspan::reader
