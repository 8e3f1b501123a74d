// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges of devices: what their payload says of them, the lane of each, and the lanes' names.

#include "reader/scan/device_lanes.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "expect.hpp"
#include "nvtx/device_range_schema.hpp"
#include "recording_bytes.hpp"

using nvspan::nvtx::DeviceField;
using nvspan::reader::device_label;
using nvspan::reader::DeviceCall;
using nvspan::reader::DeviceLane;
using nvspan::reader::DeviceLanes;
using nvspan::reader::DeviceLaunches;
using nvspan::reader::EntryPayload;
using nvspan::reader::has_device_ranges;
using nvspan::reader::lane_label;
using nvspan::reader::read_device_call;
using nvspan::reader::ReadSite;
using nvspan::reader::Recording;
using nvspan::reader::Selection;
using nvspan::record::DefinitionType;
using nvspan::record::DeviceNameKind;
using nvspan_test::RecordingBytes;

namespace {

namespace record = nvspan::record;

constexpr std::uint64_t schema = 1 << 24;

// Each field has a word, in the order of DeviceField, but those in `without`.
record::DeviceLayoutDefinition layout(const std::vector<DeviceField>& without = {}) {
  record::DeviceLayoutDefinition definition = {};
  definition.schema = schema;
  for (std::uint32_t i = 0; i < record::device_fields; ++i) definition.offsets[i] = 8 * i;
  for (const DeviceField field : without) {
    definition.offsets[static_cast<std::size_t>(field)] = record::no_string;
  }
  return definition;
}

std::vector<std::uint64_t> values() { return {2, 71, 0xABC0, 5, 1234, 42, 300, 99}; }

// A piece of an extended payload: schema, size as given, size kept, bytes.
std::vector<std::uint64_t> piece(const std::vector<std::uint64_t>& fields,
                                 std::uint64_t of = schema) {
  std::vector<std::uint64_t> words{of, 8 * fields.size(), 8 * fields.size()};
  words.insert(words.end(), fields.begin(), fields.end());
  return words;
}

std::string text_of(const Recording& recording, const std::vector<std::uint64_t>& words,
                    std::uint8_t device = 2) {
  ReadSite site;
  site.device = device;
  DeviceCall call;
  const EntryPayload payload{true, 8 * words.size(), words.data()};
  if (!read_device_call(recording.processes()[0], site, payload, call)) return "of the CPU";
  return std::to_string(call.device) + ' ' + std::to_string(call.stream) + ' ' +
         std::to_string(call.stream_handle) + ' ' + std::to_string(call.launch) + ' ' +
         std::to_string(call.launched) + ' ' + std::to_string(call.thread) + ' ' +
         std::to_string(call.uncertainty) + ' ' +
         (call.payload.present ? std::to_string(call.payload.bits) : "-");
}

void a_payload_is_read_by_its_layout() {
  RecordingBytes bytes;
  bytes.header().clock = static_cast<std::uint32_t>(record::ClockType::tsc);
  bytes.start_definitions();
  bytes.define(DefinitionType::device_layout, layout());
  Recording recording;
  EXPECT(read(recording, bytes));
  EXPECT_EQUAL(text_of(recording, piece(values())), "2 71 43968 5 1234 42 300 99");
  EXPECT_EQUAL(text_of(recording, piece(values()), 0), "of the CPU");
  // The program gave no payload of its own.
  EXPECT_EQUAL(text_of(recording, piece(values()), 1), "2 71 43968 5 1234 42 300 -");
  const std::string nothing = "-1 0 0 0 0 0 0 -";
  EXPECT_EQUAL(text_of(recording, piece(values(), schema + 1)), nothing);
  EXPECT_EQUAL(text_of(recording, {schema, 64}), nothing);
  // It is cut off, whatever it says of its size.
  std::vector<std::uint64_t> cut = piece({2, 71, 0xABC0});
  EXPECT_EQUAL(text_of(recording, cut), "2 71 43968 0 0 0 0 -");
  std::vector<std::uint64_t> followed = piece(values());
  followed[2] = 8 * 3 + 4;
  EXPECT_EQUAL(text_of(recording, followed), "2 71 43968 0 0 0 0 -");
  cut[2] = ~std::uint64_t{0};
  EXPECT_EQUAL(text_of(recording, cut), "2 71 43968 0 0 0 0 -");
}

void fields_that_are_not_there_are_not_read() {
  RecordingBytes bytes;
  // `launched` counts the ticks of another clock.
  bytes.header().clock = static_cast<std::uint32_t>(record::ClockType::monotonic);
  bytes.start_definitions();
  bytes.define(DefinitionType::device_layout,
               layout({DeviceField::device, DeviceField::thread, DeviceField::payload}));
  Recording recording;
  EXPECT(read(recording, bytes));
  EXPECT_EQUAL(text_of(recording, piece(values())), "-1 71 43968 5 0 0 300 -");
}

void lanes_are_numbered_as_they_are_met() {
  DeviceLanes lanes;
  DeviceCall call;
  call.device = 1;
  call.stream = 7;
  call.stream_handle = 0x1000;
  EXPECT(lanes.lane(0, call, 500) == 0);
  EXPECT(lanes.lane(0, call, 300) == 0);
  call.stream = 8;
  EXPECT(lanes.lane(0, call, 700) == 1);
  call.device = 2;
  EXPECT(lanes.lane(0, call, 600) == 2);
  EXPECT(lanes.lane(1, call, 600) == 3);
  call.stream_handle = 0x2000;  // an id that comes again is the same lane
  EXPECT(lanes.lane(1, call, 900) == 3);
  EXPECT(lanes.lanes().size() == 4);
  EXPECT(lanes.lanes()[0].last_ticks == 500 && lanes.lanes()[3].last_ticks == 900);
  EXPECT(lanes.lanes()[3].stream_handle == 0x1000);
}

void lanes_have_the_names_of_their_time() {
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.string(0, "first");
  bytes.string(1, "second");
  bytes.string(2, "big");
  const auto name = [&](DeviceNameKind kind, std::uint64_t handle, std::uint64_t ticks,
                        std::uint32_t text) {
    record::DeviceNameDefinition definition = {};
    definition.handle = handle;
    definition.ticks = ticks;
    definition.kind = static_cast<std::uint32_t>(kind);
    definition.name = text;
    bytes.define(DefinitionType::device_name, definition);
  };
  name(DeviceNameKind::stream, 0x5000, 100, 0);
  name(DeviceNameKind::stream, 0x5000, 200, 1);
  name(DeviceNameKind::device, 3, 100, 2);
  Recording recording;
  EXPECT(read(recording, bytes));
  const auto label = [&](const DeviceLane& lane) { return lane_label(recording, lane); };
  EXPECT_EQUAL(label({0, 3, 7, 0x5000, 150}), "GPU 3 (big) \xC2\xB7 stream 7 (first)");
  EXPECT_EQUAL(label({0, 3, 7, 0x5000, 250}), "GPU 3 (big) \xC2\xB7 stream 7 (second)");
  // Named after its last range: there is no earlier name.
  EXPECT_EQUAL(label({0, 0, 7, 0x5000, 50}), "GPU 0 \xC2\xB7 stream 7 (first)");
  EXPECT_EQUAL(label({0, 0, 9, 2, 50}), "GPU 0 \xC2\xB7 default stream");
  EXPECT_EQUAL(label({0, 0, 0x7F0012345678, 0x7F0012345678, 50}),
               "GPU 0 \xC2\xB7 stream 0x7f0012345678");
  EXPECT_EQUAL(label({0, -1, 0, 0, 50}), "GPU");
  EXPECT_EQUAL(device_label(recording, {0, 3, 7, 0x5000, 150}), "GPU 3 (big)");
}

// The innermost range of the calling thread around the call asked for the range.
void launches_leave_the_innermost_range() {
  RecordingBytes bytes;
  bytes.header().clock = static_cast<std::uint32_t>(record::ClockType::tsc);
  bytes.start_definitions();
  bytes.string(0, "work");
  bytes.define(DefinitionType::domain, record::DomainDefinition{0, record::no_string});
  record::SiteDefinition site = {};
  site.message_type = 1;
  bytes.define(DefinitionType::site, site);
  site.id = 1;
  site.device = 1;
  site.payload_type = 7;  // extended
  bytes.define(DefinitionType::site, site);
  bytes.define(DefinitionType::device_layout, layout());
  bytes.define(DefinitionType::thread, record::ThreadDefinition{0, 42, 1000});
  bytes.define(DefinitionType::thread, record::ThreadDefinition{1, 43, 1000});
  using record::EntryKind;
  using record::make_entry;
  bytes.start_events(0, 42, 1000);
  bytes.add({make_entry(EntryKind::push, 0, 100), make_entry(EntryKind::push, 0, 200),
             make_entry(EntryKind::pop, 0, 300), make_entry(EntryKind::pop, 0, 400)});
  bytes.start_events(1, 43, 1000);
  const auto submit = [&](std::uint64_t launched, std::uint64_t launch) {
    std::vector<std::uint64_t> fields = values();
    fields[static_cast<std::size_t>(DeviceField::launched)] = launched;
    fields[static_cast<std::size_t>(DeviceField::launch)] = launch;
    const std::vector<std::uint64_t> payload = piece(fields);
    std::vector<std::uint64_t> words{
        make_entry(EntryKind::start, 1, 500) | record::entry_payload_bit, launch,
        8 * payload.size()};
    words.insert(words.end(), payload.begin(), payload.end());
    bytes.add(words);
  };
  submit(1250, 1);  // within both
  submit(1350, 2);  // within the outer one
  submit(1450, 3);  // within none
  Recording recording;
  EXPECT(read(recording, bytes));
  EXPECT(has_device_ranges(recording));
  const DeviceLaunches launches(recording, Selection::whole());
  const auto flows = [&](std::uint64_t number) {
    const DeviceLaunches::Flows found = launches.flows_from(0, number);
    return std::vector<std::uint64_t>(found.begin, found.end);
  };
  const auto to = [&](std::uint64_t launch) {
    DeviceCall call;
    call.launched = 1;
    call.launch = launch;
    return launches.flow_to(0, call);
  };
  EXPECT(flows(0) == std::vector<std::uint64_t>{to(2)});
  EXPECT(flows(1) == std::vector<std::uint64_t>{to(1)});
  EXPECT(flows(2).empty());
  EXPECT(to(1) != 0 && to(2) != 0 && to(1) != to(2));
  EXPECT(to(3) == 0);
}

}  // namespace

int main() {
  a_payload_is_read_by_its_layout();
  fields_that_are_not_there_are_not_read();
  lanes_are_numbered_as_they_are_met();
  lanes_have_the_names_of_their_time();
  launches_leave_the_innermost_range();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
