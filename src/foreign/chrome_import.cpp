// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "foreign/chrome_import.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

namespace nvspan::foreign {
namespace {

using record::LaneEvent;

// Bytes of an event, which is in memory as a whole, and read again where more of it comes.
constexpr std::ptrdiff_t most_waiting = 16'000'000;

// Of what Kineto saw on a device.
bool is_of_device(std::string_view category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" ||
         category == "gpu_user_annotation";
}

bool is_text(std::string_view value) { return !value.empty() && value.front() == '"'; }

}  // namespace

void ChromeImport::fail(const char* at, const std::string& what) const {
  throw ForeignError(offset_ + static_cast<std::uint64_t>(at - buffer_.data()), what);
}

void ChromeImport::feed(const char* data, std::size_t size) {
  buffer_.append(data, size);
  run();
}

// Takes all values that are there whole; the rest waits for more bytes.
void ChromeImport::run() {
  const char* begin = buffer_.data();
  const char* end = begin + buffer_.size();
  cursor_ = JsonCursor(begin, end);
  const char* done = begin;
  try {
    for (;;) {
      if (part_ != Part::skipped) cursor_.skip_blanks();
      done = cursor_.at();
      if (done == end) break;
      step();
    }
  } catch (const NeedMore&) {
    if (end - done > most_waiting) fail(done, "an event or a value of more than 16 MB");
  } catch (const BadJson& bad) {
    fail(bad.at, bad.why);
  }
  const auto used = static_cast<std::size_t>(done - begin);
  offset_ += used;
  buffer_.erase(0, used);
}

void ChromeImport::finish(bool partial) {
  const bool blank = buffer_.find_first_not_of(" \t\r\n,") == std::string::npos;
  // An array may lack its end: whoever writes one may be killed.
  const bool ended = part_ == Part::end || (is_array_ && part_ == Part::events && blank);
  if (!ended && !partial) {
    fail(buffer_.data() + buffer_.size(),
         part_ == Part::begin ? "the file is empty" : "the file ends within an event or an object");
  }
  builder_.finish();
}

void ChromeImport::step() {
  switch (part_) {
    case Part::begin:
      is_array_ = cursor_.take('[');
      if (!is_array_) cursor_.expect('{', "expected a JSON array or object of trace events");
      part_ = is_array_ ? Part::events : Part::object;
      return;
    case Part::object:
      if (cursor_.take(',')) return;
      if (cursor_.take('}')) {
        part_ = Part::end;
        return;
      }
      return object_member();
    case Part::skipped:
      if (cursor_.skip(skipped_)) part_ = Part::object;
      return;
    case Part::events:
      if (cursor_.take(',')) return;
      if (cursor_.take(']')) {
        part_ = is_array_ ? Part::end : Part::object;
        return;
      }
      return read_event();
    case Part::end:
      cursor_.peek();
      throw BadJson{cursor_.at(), "something follows the end of the trace"};
  }
}

void ChromeImport::object_member() {
  const std::string_view key = cursor_.string(key_text_);
  cursor_.expect(':', "expected ':'");
  if (key == "traceEvents" && cursor_.peek() == '[') {
    cursor_.take('[');
    part_ = Part::events;
    return;
  }
  if (key != "baseTimeNanoseconds" && key != "distributedInfo" && key != "deviceProperties") {
    cursor_.peek_value();
    skipped_ = {};
    part_ = Part::skipped;
    return;
  }
  const std::string_view value = cursor_.value();
  std::int64_t number = 0;
  if (key == "baseTimeNanoseconds" && read_integer(value, number)) {
    builder_.set_unix_offset(number);
  } else if (key == "distributedInfo" && value.front() == '{') {
    std::int64_t rank = -1, size = -1;
    read_integer(member(value, "rank", args_text_), rank);
    read_integer(member(value, "world_size", args_text_), size);
    builder_.set_rank(static_cast<std::int32_t>(rank), static_cast<std::int32_t>(size));
  } else if (key == "deviceProperties" && value.front() == '[') {
    JsonCursor devices(value);
    devices.take('[');
    while (devices.peek() != ']') {
      const std::string_view device = devices.value();
      std::string name;
      if (device.front() == '{' && read_integer(member(device, "id", args_text_), number)) {
        const std::string_view given = member(device, "name", args_text_);
        if (is_text(given)) {
          builder_.name_device(static_cast<std::int32_t>(number), JsonCursor(given).string(name));
        }
      }
      devices.take(',');
    }
  }
}

// The value of a key of an object, which is whole; empty: it has none.
std::string_view ChromeImport::member(std::string_view object, std::string_view key,
                                      std::string& scratch) {
  if (object.empty() || object.front() != '{') return {};
  JsonCursor cursor(object);
  cursor.take('{');
  while (cursor.peek() != '}') {
    const bool found = cursor.string(scratch) == key;
    cursor.expect(':', "expected ':'");
    const std::string_view value = cursor.value();
    if (found) return value;
    cursor.take(',');
  }
  return {};
}

// Texts, numbers and truth; of lists and objects the text that stands there.
std::string_view ChromeImport::read_args(bool of_device) {
  if (cursor_.peek() != '{') return cursor_.value();
  const auto see_number = [this](std::string_view name, std::int64_t value) {
    if (name == "correlation") numbers_.correlation = value;
    if (name == "device") numbers_.device = value;
    if (name == "stream") numbers_.stream = value;
  };
  const char* begin = cursor_.at();
  cursor_.take('{');
  while (!cursor_.take('}')) {
    if (cursor_.take(',')) continue;
    const std::string_view name = cursor_.string(args_text_);
    cursor_.expect(':', "expected ':'");
    std::int64_t integer = 0;
    double real = 0;
    bool kept = true;
    if (cursor_.peek() == '"') {
      const std::string_view value = cursor_.string(id_text_);
      if (value.size() < 20 && read_integer(value, integer)) see_number(name, integer);
      kept = args_.add(name, value);
    } else {
      const std::string_view value = cursor_.value();
      const char* first = value.data();
      const char* last = first + value.size();
      if (const auto read = std::from_chars(first, last, integer);
          read.ec == std::errc() && read.ptr == last) {
        see_number(name, integer);
        // Which device and stream it was has columns of its own.
        if (of_device && (name == "device" || name == "stream")) continue;
        kept = args_.add(name, integer);
      } else if (value == "true" || value == "false") {
        kept = args_.add(name, std::int64_t{value == "true"});
      } else if (value.front() != '{' && value.front() != '[' && read_real(value, real)) {
        kept = args_.add(name, real);
      } else if (value != "null") {
        kept = args_.add(name, value);
      }
    }
    if (!kept) ++args_cut_;
  }
  return {begin, static_cast<std::size_t>(cursor_.at() - begin)};
}

void ChromeImport::read_event() {
  cursor_.expect('{', "expected an event");
  const char* begin = cursor_.at();
  if (cursor_.take('}')) return;  // as JAX ends its traces
  Event event;
  std::string phase;
  args_.begin();
  numbers_ = Numbers{};
  args_cut_ = 0;
  while (!cursor_.take('}')) {
    if (cursor_.take(',')) continue;
    const std::string_view key = cursor_.string(key_text_);
    cursor_.expect(':', "expected ':'");
    if (key == "name" && cursor_.peek() == '"') {
      event.name = cursor_.string(name_text_);
    } else if (key == "cat" && cursor_.peek() == '"') {
      event.category = cursor_.string(category_text_);
    } else if (key == "ph" && cursor_.peek() == '"') {
      const std::string_view text = cursor_.string(phase);
      event.phase = text.empty() ? '\0' : text.front();
    } else if (key == "args") {
      event.args = read_args(is_of_device(event.category));
    } else {
      const std::string_view value = cursor_.value();
      if (key == "ts") {
        event.has_time = read_nanoseconds(value, event.time);
        if (!event.has_time) throw BadJson{&value.front(), "ts is no time in microseconds"};
      } else if (key == "dur") {
        if (!read_nanoseconds(value, event.duration)) {
          throw BadJson{&value.front(), "dur is no duration in microseconds"};
        }
        event.duration = std::max<std::int64_t>(event.duration, 0);
      } else if (key == "pid") {
        event.process = value;
      } else if (key == "tid") {
        event.thread = value;
      } else if (key == "id" || key == "id2") {
        event.id = value;
      }
    }
  }
  if (event.phase == '\0') throw BadJson{begin, "an event without ph"};
  if (!event.has_time && event.phase != 'M') throw BadJson{begin, "an event without ts"};
  const bool has_args = event.phase != 'M' && event.phase != 'C';
  for (; has_args && args_cut_ != 0; --args_cut_)
    builder_.leave_out("argument, or the rest of a long one");
  add(event);
}

// A number as it is; text by its number among the texts.
std::int64_t ChromeImport::key_of(std::string_view value) {
  std::int64_t number = 0;
  if (value.empty()) return 0;
  if (!is_text(value) && read_integer(value, number)) return number;
  if (!is_text(value)) return builder_.text_key(value);
  return builder_.text_key(JsonCursor(value).string(id_text_));
}

// Of an asynchronous event, which its category, id and process tell from others.
std::uint64_t ChromeImport::id_of(const Event& event) const {
  std::uint64_t hash = 0xCBF29CE484222325u;
  const auto add = [&](std::string_view text) {
    for (const char byte : text) {
      hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
    }
    hash = (hash ^ 0xFF) * 0x100000001B3u;
  };
  add(event.category);
  add(event.id);
  add(event.process);
  return hash >> 1;  // the upper half is for ranges without an id
}

void ChromeImport::add(const Event& event) {
  if (event.phase == 'M') return add_name(event);
  if ((event.phase == 'E' || event.phase == 'e') && event.args.size() > 2)
    builder_.leave_out("arguments of an end");
  if (event.phase == 'X' && add_of_device(event)) return;
  const auto lane = [&] { return builder_.thread(key_of(event.process), key_of(event.thread)); };
  switch (event.phase) {
    case 'X':
      return add_whole(event, lane());
    case 'B':
      return add_begin(event, lane());
    case 'E':
      return add_end(event, lane());
    case 'b':
    case 'S':
      return builder_.add(
          {LaneEvent::start, lane(), event.category, event.name, event.time, id_of(event), &args_});
    case 'e':
    case 'F':
      return builder_.add({LaneEvent::end, lane(), event.category, {}, event.time, id_of(event)});
    case 'i':
    case 'I':
    case 'R':
    case 'n':
    case 'T':
    case 'p':
      return builder_.add(
          {LaneEvent::mark, lane(), event.category, event.name, event.time, 0, &args_});
    case 'C':
      return add_samples(event, lane());
    case 's':
    case 't':
    case 'f':
      return builder_.leave_out("flow");
    case 'N':
    case 'O':
    case 'D':
      return builder_.leave_out("object");
    default:
      return builder_.leave_out("other");
  }
}

// Its end may lack the category: it is that of the range that began last.
void ChromeImport::add_begin(const Event& event, std::uint32_t thread) {
  if (begun_.size() <= thread) begun_.resize(thread + 1);
  begun_[thread].emplace_back(event.category);
  builder_.add({LaneEvent::push, thread, event.category, event.name, event.time, 0, &args_});
}

void ChromeImport::add_end(const Event& event, std::uint32_t thread) {
  const bool has_begun = thread < begun_.size() && !begun_[thread].empty();
  const std::string_view domain = has_begun ? begun_[thread].back() : event.category;
  builder_.add({LaneEvent::pop, thread, domain, {}, event.time});
  if (has_begun) begun_[thread].pop_back();
}

void ChromeImport::add_whole(const Event& event, std::uint32_t thread) {
  const std::uint64_t end = event.duration == not_ended
                                ? record::never_ended
                                : record::ticks_of(event.time + event.duration);
  builder_.add({LaneEvent::range, thread, event.category, event.name, event.time, end, &args_});
  const bool launches = event.category == "cuda_runtime" || event.category == "cuda_driver";
  if (launches && numbers_.correlation != 0) {
    builder_.launch(thread, static_cast<std::uint64_t>(numbers_.correlation), event.time);
  }
}

// Kineto's events of a device, which it puts into a process with the device's number.
bool ChromeImport::add_of_device(const Event& event) {
  if (!is_of_device(event.category)) return false;
  std::int64_t device = numbers_.device, stream = numbers_.stream;
  const bool placed = device >= 0 && stream >= 0;
  if (!placed && !(read_integer(event.process, device) && read_integer(event.thread, stream))) {
    return false;
  }
  const std::int64_t duration = std::max<std::int64_t>(event.duration, 0);
  builder_.add(DeviceEvent{event.category, event.name, event.time, event.time + duration,
                           static_cast<std::int32_t>(device), static_cast<std::uint64_t>(stream),
                           static_cast<std::uint64_t>(numbers_.correlation), &args_});
  return true;
}

void ChromeImport::add_samples(const Event& event, std::uint32_t thread) {
  if (event.args.empty() || event.args.front() != '{') return;
  JsonCursor cursor(event.args);
  cursor.take('{');
  std::string name;
  while (cursor.peek() != '}') {
    const std::string_view key = cursor.string(args_text_);
    name.assign(event.name);
    if (!key.empty() && key != "value") name.append(name.empty() ? "" : ".").append(key);
    cursor.expect(':', "expected ':'");
    const std::string_view value = cursor.value();
    std::int64_t integer = 0;
    double real = 0;
    const bool whole = value.find_first_of(".eE") == std::string_view::npos;
    ThreadEvent sample{LaneEvent::sample_i64, thread, event.category, name, event.time};
    if (whole && read_integer(value, integer)) {
      sample.value = static_cast<std::uint64_t>(integer);
      builder_.add(sample);
    } else if (read_real(value, real)) {
      sample.kind = LaneEvent::sample_f64;
      std::memcpy(&sample.value, &real, sizeof real);
      builder_.add(sample);
    } else {
      builder_.leave_out("counter value that is no number");
    }
    cursor.take(',');
  }
}

void ChromeImport::add_name(const Event& event) {
  const std::string_view given = member(event.args, "name", args_text_);
  if (!is_text(given)) return;
  std::string scratch;
  const std::string_view text = JsonCursor(given).string(scratch);
  if (event.name == "process_name") builder_.name_process(key_of(event.process), text);
  if (event.name == "thread_name") {
    builder_.name_thread(key_of(event.process), key_of(event.thread), text);
  }
}

}  // namespace nvspan::foreign
