// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/stack_walk.hpp"

#include "core/os/clock.hpp"
#include "record/file/ticks.hpp"

#include <algorithm>

namespace nvspan::lines {
namespace {

constexpr int most_attempts = 7;
constexpr int careful_attempts = 2;    // in which nothing may be missing
constexpr int patient_attempts = 5;    // and those after them
constexpr int most_slow_attempts = 3;  // besides
constexpr int most_holes = 8;
constexpr std::size_t below_top = 768;  // bytes of the data stack
constexpr std::size_t above_top = 512;
constexpr std::size_t deeper = 6144;
constexpr std::size_t most_deep = 900;
constexpr std::size_t most_resumed = 16;
constexpr std::size_t chunk_header = 24;  // _PyStackChunk
constexpr std::size_t spliced_depth = 64;
constexpr std::uint32_t most_spliced = 16;

}  // namespace

std::size_t StackWalk::add(Address address, std::size_t bytes) {
  ranges_.push_back(range_of(address, bytes));
  const std::size_t at = bytes_;
  bytes_ += bytes;
  return at;
}

void StackWalk::add_piece(Address address, std::size_t bytes) {
  const std::size_t at = add(address, bytes);
  pieces_.push_back({address, address + bytes, at});
}

StackWalk::Plan StackWalk::plan(const PythonThread& thread) {
  ranges_.clear();
  pieces_.clear();
  missing_.clear();
  bytes_ = 0;
  const auto frame_bytes = static_cast<std::size_t>(layout_.frame_size);
  const bool has_cframe = layout_.thread_cframe >= 0;
  const std::int32_t first = has_cframe ? layout_.thread_cframe : layout_.thread_frame;
  const auto add_cframes = [&] {
    const std::size_t at = bytes_;
    if (has_cframe) {
      for (const Address cframe : thread.cframes) add(moved(cframe, layout_.cframe_frame), pointer);
    }
    return at;
  };
  Plan plan = {};
  plan.state = pointer + static_cast<std::size_t>(std::max(first, layout_.thread_top) - first);
  add(moved(thread.state, first), plan.state);
  plan.cframes = add_cframes();
  hot_begin_ = hot_end_ = 0;
  const Address lowest = thread.chunk + chunk_header;
  if (layout_.thread_chunk >= 0 && thread.chunk != 0 && thread.top > thread.chunk) {
    constexpr Address page = 4096;  // not beyond the top's: the next may not be there
    hot_begin_ = std::max<Address>(lowest, thread.top - below_top) & ~Address{7};
    hot_end_ =
        std::min<Address>(thread.top + above_top, (thread.top | (page - 1)) + 1) & ~Address{7};
    add_piece(hot_begin_, hot_end_ - hot_begin_);
  }
  for (const Address frame : thread.hot) add_piece(frame, frame_bytes);
  plan.state_again = add(moved(thread.state, first), pointer);
  plan.cframes_again = add_cframes();
  if (hot_begin_ > lowest) {
    const Address begin = std::max<Address>(lowest, hot_begin_ - deeper);
    add_piece(begin, hot_begin_ + frame_bytes - begin);
  }
  for (const Address frame : thread.deep) add_piece(frame, frame_bytes);
  return plan;
}

StackWalk::Copied StackWalk::copy(PythonThread& thread, const Plan& plan, int attempt,
                                  bool even_slow) {
  // A copy from cold memory takes 5 to 10 us, a turn of another thread more.
  constexpr std::int64_t slow = 20'000;  // ns
  constexpr std::int64_t slow_range = 100;
  ticks_ = record::ticks_now();
  const std::uint64_t begin = core::monotonic_ns();
  const std::size_t got = copier_.copy(ranges_.data(), ranges_.size());
  const auto took = static_cast<std::int64_t>(core::monotonic_ns() - begin);
  if (got < plan.state) return Copied::fault;
  // This thread was interrupted while it copied. That depends on nothing that the program does, so
  // another copy in its place tells no less of the program.
  if (!even_slow && took > slow + slow_range * static_cast<std::int64_t>(ranges_.size())) {
    return Copied::slow;
  }
  copy_.assign(copier_.bytes(), copier_.bytes() + got);
  const char* const state = copy_.data();
  const auto cframe = value_at<Address>(state, 0);
  const bool has_cframe = layout_.thread_cframe >= 0 && is_plausible(cframe);
  if (layout_.thread_chunk >= 0) {
    const std::int32_t first =
        layout_.thread_cframe >= 0 ? layout_.thread_cframe : layout_.thread_frame;
    const auto chunk = value_at<Address>(state, layout_.thread_chunk - first);
    const auto top = value_at<Address>(state, layout_.thread_top - first);
    const bool moved_far =
        chunk != thread.chunk || top > thread.top + above_top / 2 || top + above_top < thread.top;
    thread.chunk = is_plausible(chunk) ? chunk : 0;
    thread.top = top;
    if (moved_far && attempt < careful_attempts) {
      if (has_cframe) thread.cframes.add(cframe);
      return Copied::again;
    }
  }
  if (got == bytes_) return Copied::good;
  // Something that was expected is not there any more: nothing is expected.
  thread.deep.clear();
  thread.hot.clear();
  thread.cframes.clear();
  if (has_cframe) thread.cframes.add(cframe);
  if (attempt == 4) thread.chunk = thread.top = 0;
  return Copied::again;
}

// False: what the state points at was not copied.
bool StackWalk::find_tops(PythonThread& thread, const Plan& plan, int attempt, Tops& tops) {
  const auto first = value_at<Address>(copy_.data(), 0);
  const auto again = value_at<Address>(copy_.data(), static_cast<std::int32_t>(plan.state_again));
  if (layout_.thread_cframe < 0) {
    tops = {first, again};
    return true;
  }
  bool found = false;
  for (std::size_t i = 0; i < thread.cframes.size(); ++i) {
    const auto at = static_cast<std::int32_t>(pointer * i);
    if (thread.cframes[i] == first) {
      tops.first = value_at<Address>(copy_.data() + plan.cframes, at);
      found = true;
    }
    if (thread.cframes[i] == again) {
      tops.again = value_at<Address>(copy_.data() + plan.cframes_again, at);
    }
  }
  if (is_plausible(first)) thread.cframes.add(first);
  if (is_plausible(again) && !thread.cframes.has(again)) thread.cframes.add(again);
  return found || (is_plausible(first) && attempt >= careful_attempts &&
                   copier_.read(moved(first, layout_.cframe_frame), &tops.first, pointer));
}

const char* StackWalk::find(Address frame) const {
  const auto bytes = static_cast<Address>(layout_.frame_size);
  for (const Piece& piece : pieces_) {
    if (frame >= piece.begin && frame + bytes <= piece.end) {
      return copy_.data() + piece.at + (frame - piece.begin);
    }
  }
  for (const auto& read : missing_) {
    if (read.first == frame) return read.second.data();
  }
  return nullptr;
}

bool StackWalk::parse(Address at, const char* bytes, PythonFrame& frame, bool& shim) const {
  frame.at = at;
  frame.code = value_at<Address>(bytes, layout_.frame_code) & ~layout_.code_tags;
  frame.previous = value_at<Address>(bytes, layout_.frame_previous);
  frame.unit = 0;
  if (frame.previous != 0 && (!is_plausible(frame.previous) || frame.previous == at)) return false;
  if (layout_.frame_owner >= 0) {
    const int owner = value_at<std::uint8_t>(bytes, layout_.frame_owner);
    shim = owner >= layout_.first_shim_owner;
    if (shim) return owner <= layout_.first_shim_owner + 1;
  }
  if (!is_plausible(frame.code)) return false;
  if (layout_.instruction_index != 0) {
    frame.unit = value_at<std::int32_t>(bytes, layout_.frame_instruction);
    return frame.unit >= -1;
  }
  constexpr std::int64_t most = 1 << 29;
  const auto instruction = value_at<Address>(bytes, layout_.frame_instruction);
  const auto distance =
      static_cast<std::int64_t>(instruction - moved(frame.code, layout_.code_instructions));
  if (distance < -2 || distance >= most || distance % 2 != 0) return false;
  frame.unit = static_cast<std::int32_t>(distance / 2);
  return true;
}

// From a frame to the one that called it. `must` is the code that this has to have.
bool StackWalk::go_on(PythonThread& thread, Address at, Address& next, Address& must) {
  const char* bytes = find(at);
  if (bytes == nullptr) {
    std::string frame(static_cast<std::size_t>(layout_.frame_size), '\0');
    if (holes_-- == 0 || !copier_.read(at, frame.data(), frame.size())) {
      outside_.push_back(at);
      return false;
    }
    missing_.emplace_back(at, std::move(frame));
    bytes = missing_.back().second.data();
  }
  PythonFrame frame;
  bool shim = false;
  if (!parse(at, bytes, frame, shim)) return false;
  if (!is_hot(at)) outside_.push_back(at);
  next = frame.previous;
  if (shim) return true;
  if (must != 0 && frame.code != must) return false;
  must = 0;
  frames_.push_back(frame);
  bottom_ = at;
  if (next != 0 || thread.bottoms.has(at)) return true;
  for (const Resumed& generator : thread.resumed) {
    if (generator.at != at || generator.code != frame.code) continue;
    next = generator.by;
    must = generator.by_code;
    stitched_ = true;
    break;
  }
  frames_.back().previous = next;
  return frames_.size() <= spliced_depth;
}

// False: the frames lead nowhere.
bool StackWalk::follow(PythonThread& thread, Address from, int most_missing) {
  frames_.clear();
  outside_.clear();
  splice_ = no_splice;
  cut_ = stitched_ = false;
  holes_ = most_missing;
  bottom_ = 0;
  Address must = 0;
  for (Address at = from; at != 0;) {
    if (!is_plausible(at)) return false;
    if (frames_.size() >= deepest) {
      cut_ = true;
      return true;
    }
    if (frames_.size() >= spliced_depth && thread.spliced < most_spliced) {
      for (std::size_t i = 0; i < thread.frames.size(); ++i) {
        if (thread.frames[i].frame.at != at) continue;
        splice_ = i;
        return true;
      }
    }
    Address next = 0;
    if (!go_on(thread, at, next, must)) return false;
    at = next;
  }
  return !frames_.empty();
}

// What the next look will have to read.
void StackWalk::expect(PythonThread& thread) {
  constexpr std::size_t hottest = 4;
  for (std::size_t i = 0; i < outside_.size(); ++i) {
    const Address at = outside_[i];
    if (i < hottest) {
      thread.hot.add(at);
      continue;
    }
    const auto covers = [at](const Piece& piece) { return at >= piece.begin && at < piece.end; };
    if (thread.deep.size() < most_deep && std::none_of(pieces_.begin(), pieces_.end(), covers)) {
      thread.deep.push_back(at);
    }
  }
}

// Frames that are not on the data stack are those of generators and coroutines.
void StackWalk::remember_resumed(PythonThread& thread) const {
  constexpr std::size_t innermost = 8;
  for (std::size_t i = 0; i + 1 < frames_.size() && i < innermost; ++i) {
    if (is_hot(frames_[i].at)) continue;
    const Resumed seen = {frames_[i].at, frames_[i].code, frames_[i + 1].at, frames_[i + 1].code};
    const auto known = std::find_if(thread.resumed.begin(), thread.resumed.end(),
                                    [&](const Resumed& other) { return other.at == seen.at; });
    if (known != thread.resumed.end()) {
      *known = seen;
      continue;
    }
    if (thread.resumed.size() >= most_resumed) thread.resumed.erase(thread.resumed.begin());
    thread.resumed.push_back(seen);
  }
}

StackWalk::Result StackWalk::walk(PythonThread& thread) {
  Address new_bottom = 0;
  int slow = 0;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const Plan planned = plan(thread);
    Copied copied = Copied::slow;
    while (copied == Copied::slow) {
      copied = copy(thread, planned, attempt, slow++ >= most_slow_attempts);
    }
    if (copied == Copied::fault) return Result::torn;
    if (copied != Copied::good) continue;
    Tops tops;
    if (!find_tops(thread, planned, attempt, tops)) continue;
    if (tops.first == 0 && tops.again == 0) return Result::empty;
    // The stack of the first moment; else that of the second.
    for (const Address top : {tops.first, tops.first == tops.again ? Address{0} : tops.again}) {
      if (top == 0) continue;
      const bool careful = attempt < careful_attempts;
      // Of a deep recursion most frames are read one by one the first time.
      const bool patient = attempt >= patient_attempts;
      const int allowed = careful || patient ? static_cast<int>(deepest) : most_holes;
      const bool followed = follow(thread, top, allowed);
      const int missing = allowed - std::max(holes_, 0);
      expect(thread);
      if (!followed || (missing > 1 && careful)) continue;
      if (splice_ == no_splice && bottom_ != 0 && !cut_ && !thread.bottoms.has(bottom_)) {
        if (new_bottom != bottom_) {
          new_bottom = bottom_;
          continue;
        }
        thread.bottoms.add(bottom_);
      }
      if (thread.deep.size() > 2 * outside_.size() + 16) thread.deep = outside_;
      if (!stitched_ && tops.first == tops.again) remember_resumed(thread);
      return Result::whole;
    }
  }
  return Result::torn;
}

}  // namespace nvspan::lines
