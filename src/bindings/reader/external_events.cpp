// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The rows of events that an ExternalWriter is given.

#include "bindings/support/py.hpp"

#include "bindings/reader/external_writer.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace py = pybind11;

namespace nvspan::bindings {

using record::EventLane;
using record::LaneEvent;
using trace::PayloadType;

namespace {

constexpr std::size_t piece_words = GivenPayload::piece_words;

}  // namespace

// What the rows of ranges, marks, pushes and starts have in common.
struct ExternalFields {
  ExternalFields(GivenFields& given, const GivenSchema* known, std::uint64_t schema)
      : columns{{given.take("name"), "name", 'i'},
                {given.take("category"), "category", 'i'},
                {given.take("color"), "color", 'i'}},
        payload(given.take("payload"), schema, known, given.take("pieces")) {}

  SiteRows::Columns columns;
  GivenPayload payload;
};

// With what kernels were launched: a column for each number of a shape, in its order.
class ShapeColumns {
 public:
  explicit ShapeColumns(const py::object& given) {
    if (given.is_none()) return;
    for (const py::handle column : given.cast<py::tuple>()) {
      columns_.push_back(std::make_unique<GivenColumn>(column, "shape", 'i'));
    }
    if (columns_.size() != parts) throw py::value_error("shape must be 9 columns");
  }
  void check(std::size_t rows) const {
    for (const auto& column : columns_) {
      if (column->rows().value_or(rows) != rows) {
        throw std::invalid_argument("shape must have as many rows as start");
      }
    }
  }
  // Exchanges sites for those that have the shapes.
  void give(record::ProcessPart& process, std::size_t begin, std::size_t count,
            std::uint32_t* sites) const {
    if (columns_.empty()) return;
    std::vector<std::int64_t> values(parts * count);
    for (std::size_t i = 0; i < parts; ++i) {
      columns_[i]->integers(begin, count, &values[i * count]);
    }
    for (std::size_t row = 0; row < count; ++row) {
      const auto part = [&](std::size_t i) {
        return static_cast<std::uint32_t>(values[i * count + row]);
      };
      sites[row] = process.shaped_site(
          sites[row],
          {{part(0), part(1), part(2)}, {part(3), part(4), part(5)}, part(6), part(7), part(8)});
    }
  }

 private:
  static constexpr std::size_t parts = 9;
  std::vector<std::unique_ptr<GivenColumn>> columns_;
};

struct External::EventArguments {
  EventArguments(const External& writer, std::uint32_t domain, GivenFields& fields)
      : clock(writer.clock_of(fields.take("clock"))) {
    const py::object schema = fields.take("schema");
    const GivenSchema* known = writer.schema_of(schema, domain);
    given = std::make_unique<ExternalFields>(
        fields, known, known == nullptr ? 0 : py::cast<std::uint64_t>(schema));
    fields.end();
  }

  const record::ClockMap* clock;
  std::unique_ptr<ExternalFields> given;
};

void External::ranges(std::uint32_t thread, std::uint32_t domain, const py::object& start,
                      const py::object& end, const py::kwargs& given) {
  record::ProcessPart& process = part_of(thread, domain);
  GivenFields fields(given);
  const py::object kind = fields.take("kind");
  const std::string kind_name = kind.is_none() ? "push_pop" : py::cast<std::string>(kind);
  if (kind_name != "push_pop" && kind_name != "start_end") {
    throw py::value_error("kind must be 'push_pop' or 'start_end', not '" + kind_name + "'");
  }
  const LaneEvent event = kind_name == "push_pop" ? LaneEvent::range : LaneEvent::start_end;
  const EventArguments arguments(*this, domain, fields);
  const record::ClockMap* clock = arguments.clock;
  const GivenColumn starts(start, "start", 'i');
  const GivenColumn ends(end, "end", 'i');
  if (!starts.is_given() || !ends.is_given()) throw py::type_error("start and end must be given");
  const SiteRows::Columns& columns = arguments.given->columns;
  const std::size_t rows =
      rows_of({&starts, &ends, &columns.name, &columns.category, &columns.color});
  GivenPayload& payload = arguments.given->payload;
  work([&] {
    check_open();
    payload.check(rows);
    SiteRows sites(writer_, domain, columns, payload.type(), 0);
    sites.check(rows);
    const TimeRows begin_times(starts, clock);
    const TimeRows end_times(ends, clock);
    std::int64_t from[given_block], to[given_block];
    std::uint32_t site[given_block];
    const auto read = [&](std::size_t begin, std::size_t count) {
      begin_times.read(begin, count, from);
      end_times.read(begin, count, to, true);
    };
    for (std::size_t begin = 0; begin < rows; begin += given_block) {
      const std::size_t count = std::min(given_block, rows - begin);
      read(begin, count);
      for (std::size_t i = 0; i < count; ++i) {
        if (to[i] >= from[i] || to[i] == TimeRows::not_ended) continue;
        throw std::invalid_argument("end[" + std::to_string(begin + i) +
                                    "] must not be before its start, " + std::to_string(from[i]) +
                                    ", but is " + std::to_string(to[i]));
      }
    }
    EventLane& lane = process.lane(writer_.thread(thread).number);
    fill(lane, rows, [&](std::size_t begin, std::size_t count) {
      read(begin, count);
      sites.sites(begin, count, site);
      payload.begin(begin, count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t last =
            to[i] == TimeRows::not_ended ? record::never_ended : record::ticks_of(to[i]);
        const std::size_t words = payload.words(i);
        std::uint64_t* room = lane.add(record::ticks_of(from[i]), last, event, site[i], words);
        if (words != 0) payload.put(i, room);
      }
    });
  });
}

// Rows of one time each: all of them are read before the first one is added, so that an error
// leaves nothing behind. Calls add(begin, count, times) for each block.
template <typename Add>
void External::fill_timed(EventLane& lane, const TimedRows& rows, Add&& add) {
  const TimeRows times(rows.times, rows.clock);
  std::int64_t at[given_block];
  for (std::size_t begin = 0; begin < rows.count; begin += given_block) {
    times.read(begin, std::min(given_block, rows.count - begin), at);
  }
  fill(lane, rows.count, [&](std::size_t begin, std::size_t count) {
    times.read(begin, count, at);
    add(begin, count, at);
  });
}

// Rows of a time and a number, 0 where there are no numbers, about one subject.
void External::fill_numbers(EventLane& lane, const TimedRows& rows, const GivenColumn& numbers,
                            LaneEvent event, std::uint32_t subject) {
  std::int64_t values[given_block] = {};
  fill_timed(lane, rows, [&](std::size_t begin, std::size_t count, const std::int64_t* at) {
    if (numbers.is_given()) numbers.integers(begin, count, values);
    for (std::size_t i = 0; i < count; ++i) {
      lane.add(record::ticks_of(at[i]), static_cast<std::uint64_t>(values[i]), event, subject);
    }
  });
}

void External::single(const Place& place, const py::object& time, const py::object& id,
                      const py::kwargs& given, LaneEvent event) {
  record::ProcessPart& process = part_of(place.thread, place.domain);
  GivenFields fields(given);
  const EventArguments arguments(*this, place.domain, fields);
  const GivenColumn times(time, "time", 'i');
  const GivenColumn ids(id, "id", 'i');
  if (!times.is_given()) throw py::type_error("time must be given");
  const SiteRows::Columns& columns = arguments.given->columns;
  const std::size_t rows =
      rows_of({&times, &ids, &columns.name, &columns.category, &columns.color});
  GivenPayload& payload = arguments.given->payload;
  work([&] {
    check_open();
    payload.check(rows);
    SiteRows sites(writer_, place.domain, columns, payload.type(), 0);
    sites.check(rows);
    std::int64_t numbers[given_block] = {};
    std::uint32_t site[given_block];
    const std::uint32_t number = writer_.thread(place.thread).number;
    EventLane& lane = event == LaneEvent::push ? process.loose(number) : process.lane(number);
    const auto add = [&](std::size_t begin, std::size_t count, const std::int64_t* at) {
      if (ids.is_given()) ids.integers(begin, count, numbers);
      sites.sites(begin, count, site);
      payload.begin(begin, count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t words = payload.words(i);
        std::uint64_t* room = lane.add(
            record::ticks_of(at[i]), static_cast<std::uint64_t>(numbers[i]), event, site[i], words);
        if (words != 0) payload.put(i, room);
      }
    };
    fill_timed(lane, {times, arguments.clock, rows}, add);
  });
}

void External::closing(const Place& place, const py::object& time, const py::object& id,
                       const py::object& clock, LaneEvent event) {
  record::ProcessPart& process = part_of(place.thread, place.domain);
  const record::ClockMap* map = clock_of(clock);
  const GivenColumn times(time, "time", 'i');
  const GivenColumn ids(id, "id", 'i');
  if (!times.is_given()) throw py::type_error("time must be given");
  const std::size_t rows = rows_of({&times, &ids});
  work([&] {
    check_open();
    const std::uint32_t number = writer_.thread(place.thread).number;
    EventLane& lane = event == LaneEvent::pop ? process.loose(number) : process.lane(number);
    const std::uint32_t subject = writer_.domain_place(place.domain).number;
    fill_numbers(lane, {times, map, rows}, ids, event, subject);
  });
}

void External::device_ranges(std::uint32_t process, std::uint32_t domain, const py::object& start,
                             const py::object& end, const py::kwargs& given) {
  {
    const Lock lock(mutex_);
    part(process);
    if (domain >= writer_.domains() || writer_.domain_place(domain).process != process) {
      refuse_handle("domain", domain);
    }
  }
  GivenFields fields(given);
  const py::object of_thread = fields.take("thread");
  const GivenColumn device(fields.take("device"), "device", 'i');
  const GivenColumn stream(fields.take("stream"), "stream", 'i');
  const GivenColumn correlation(fields.take("correlation"), "correlation", 'i');
  const GivenColumn launched(fields.take("launched"), "launched", 'i');
  const GivenColumn tid(fields.take("tid"), "tid", 'i');
  const ShapeColumns shapes(fields.take("shape"));
  const record::ClockMap* clock = clock_of(fields.take("clock"));
  const auto common = std::make_unique<ExternalFields>(fields, nullptr, 0);
  fields.end();
  const GivenColumn starts(start, "start", 'i');
  const GivenColumn ends(end, "end", 'i');
  if (!starts.is_given() || !ends.is_given() || !device.is_given() || !stream.is_given()) {
    throw py::type_error("start, end, device and stream must be given");
  }
  const SiteRows::Columns& columns = common->columns;
  const std::size_t rows = rows_of({&starts, &ends, &device, &stream, &correlation, &launched, &tid,
                                    &columns.name, &columns.category, &columns.color});
  GivenPayload& payload = common->payload;
  const auto own = static_cast<std::uint8_t>(1 + static_cast<int>(payload.type()));
  const std::int64_t submitter = of_thread.is_none() ? -1 : of_thread.cast<std::int64_t>();
  if (submitter >= 0) {
    const Lock lock(mutex_);
    const auto number = static_cast<std::uint32_t>(submitter);
    if (number >= writer_.threads() || writer_.thread(number).process != process) {
      refuse_handle("thread", number);
    }
  }
  work([&] {
    check_open();
    const std::uint32_t thread =
        submitter < 0 ? writer_.device_thread(process) : static_cast<std::uint32_t>(submitter);
    // Pieces are what a program sent as a device range: device and stream stand in them.
    const bool is_sent = payload.type() == PayloadType::ext;
    const std::uint64_t schema = is_sent ? 0 : writer_.device_schema(domain, payload.type());
    payload.check(rows);
    shapes.check(rows);
    SiteRows sites(writer_, domain, columns, PayloadType::ext,
                   is_sent ? writer_.device_site(domain) : own);
    sites.check(rows);
    const TimeRows begin_times(starts, clock);
    const TimeRows end_times(ends, clock);
    const TimeRows launch_times(launched, nullptr);
    struct Blocks {
      std::int64_t from[given_block], to[given_block], device[given_block], stream[given_block],
          correlation[given_block] = {}, launched[given_block] = {}, tid[given_block] = {};
      std::uint32_t site[given_block];
    };
    const auto held = std::make_unique<Blocks>();
    Blocks& block = *held;
    const auto read = [&](std::size_t begin, std::size_t count) {
      begin_times.read(begin, count, block.from);
      end_times.read(begin, count, block.to, true);
      device.integers(begin, count, block.device);
      stream.integers(begin, count, block.stream);
      if (correlation.is_given()) correlation.integers(begin, count, block.correlation);
      if (launched.is_given()) launch_times.read(begin, count, block.launched);
      if (tid.is_given()) tid.integers(begin, count, block.tid);
    };
    const auto refuse = [](const char* name, std::size_t row, const char* why, std::int64_t value) {
      throw std::invalid_argument(std::string(name) + "[" + std::to_string(row) + "] " + why +
                                  ", not " + std::to_string(value));
    };
    for (std::size_t begin = 0; begin < rows; begin += given_block) {
      const std::size_t count = std::min(given_block, rows - begin);
      read(begin, count);
      for (std::size_t i = 0; i < count; ++i) {
        if (block.to[i] < block.from[i] && block.to[i] != TimeRows::not_ended) {
          refuse("end", begin + i, "must not be before its start", block.to[i]);
        }
        if (block.device[i] < -1 || block.device[i] > INT32_MAX) {
          refuse("device", begin + i, "must be a device's number, or -1", block.device[i]);
        }
        if (block.tid[i] < 0 || block.tid[i] > 0xFFFFFFFF) {
          refuse("tid", begin + i, "must be 0 to 2**32 - 1", block.tid[i]);
        }
      }
    }
    record::ProcessPart& to = writer_.process(process);
    EventLane& lane = to.lane(writer_.thread(thread).number);
    const bool has_payload = payload.words() != 0;
    const std::uint64_t size = has_payload ? 40 : 32;
    const std::size_t words = 1 + piece_words + size / 8;
    fill(lane, rows, [&](std::size_t begin, std::size_t count) {
      read(begin, count);
      sites.sites(begin, count, block.site);
      shapes.give(to, begin, count, block.site);
      payload.begin(begin, count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t last = block.to[i] == TimeRows::not_ended
                                       ? record::never_ended
                                       : record::ticks_of(block.to[i]);
        std::uint64_t* to = lane.add(record::ticks_of(block.from[i]), last, LaneEvent::start_end,
                                     block.site[i], is_sent ? payload.words(i) : words);
        if (is_sent) {
          payload.put(i, to);
          continue;
        }
        to[0] = piece_words * 8 + size;
        to[1] = schema;
        to[2] = to[3] = size;
        to[4] = static_cast<std::uint32_t>(block.device[i]) |
                static_cast<std::uint64_t>(block.tid[i]) << 32;
        to[5] = static_cast<std::uint64_t>(block.stream[i]);
        to[6] = static_cast<std::uint64_t>(block.correlation[i]);
        to[7] = block.launched[i] == 0 ? 0 : record::ticks_of(block.launched[i]);
        if (has_payload) to[8] = payload.bits(i);
      }
    });
  });
}

// The process's number of a counter that the thread may have samples of.
std::uint32_t External::counter_of(std::uint32_t thread, std::uint32_t counter) const {
  const Lock lock(mutex_);
  check_open();
  if (thread >= writer_.threads()) refuse_handle("thread", thread);
  if (counter >= writer_.counters()) refuse_handle("counter", counter);
  const auto place = writer_.counter_place(counter);
  if (place.process != writer_.thread(thread).process) refuse_handle("counter", counter);
  return place.number;
}

void External::absent(std::uint32_t thread, std::uint32_t counter, const py::object& time,
                      const py::object& reason, const py::object& clock) {
  const std::uint32_t number = counter_of(thread, counter);
  const record::ClockMap* map = clock_of(clock);
  const GivenColumn times(time, "time", 'i');
  const GivenColumn reasons(reason, "reason", 'i');
  if (!times.is_given() || !reasons.is_given())
    throw py::type_error("time and reason must be given");
  const std::size_t rows = rows_of({&times, &reasons});
  work([&] {
    check_open();
    fill_numbers(lane_of(thread), {times, map, rows}, reasons, LaneEvent::sample_none, number);
  });
}

void External::samples(std::uint32_t thread, std::uint32_t counter, const py::object& time,
                       const py::object& value, const py::object& clock) {
  const std::uint32_t number = counter_of(thread, counter);
  const record::ClockMap* map = clock_of(clock);
  const GivenColumn times(time, "time", 'i');
  if (!times.is_given()) throw py::type_error("time must be given");
  std::uint64_t schema = 0;
  const GivenSchema* known = nullptr;
  {
    const Lock lock(mutex_);
    const auto grouped = counter_schemas_.find(counter);
    if (grouped != counter_schemas_.end()) {
      schema = grouped->second;
      known = &schemas_.at(schema);
    }
  }
  if (known != nullptr) {
    const auto payload = std::make_unique<GivenPayload>(value, schema, known);
    const std::size_t rows = rows_of({&times});
    return work([&] {
      check_open();
      payload->check(rows);
      EventLane& lane = lane_of(thread);
      const auto add = [&](std::size_t begin, std::size_t count, const std::int64_t* at) {
        payload->begin(begin, count);
        for (std::size_t i = 0; i < count; ++i) {
          payload->put(i, lane.add(record::ticks_of(at[i]), 0, LaneEvent::sample_bytes, number,
                                   payload->words()));
        }
      };
      fill_timed(lane, {times, map, rows}, add);
    });
  }
  const GivenColumn values(value, "value", 'n');
  if (!values.is_given()) throw py::type_error("value must be given");
  const std::size_t rows = rows_of({&times, &values});
  work([&] {
    check_open();
    EventLane& lane = lane_of(thread);
    const TimedRows timed{times, map, rows};
    if (!values.is_real()) return fill_numbers(lane, timed, values, LaneEvent::sample_i64, number);
    double reals[given_block];
    fill_timed(lane, timed, [&](std::size_t begin, std::size_t count, const std::int64_t* at) {
      values.reals(begin, count, reals);
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &reals[i], sizeof bits);
        lane.add(record::ticks_of(at[i]), bits, LaneEvent::sample_f64, number);
      }
    });
  });
}

}  // namespace nvspan::bindings
