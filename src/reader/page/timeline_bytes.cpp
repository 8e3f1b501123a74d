// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/page/timeline_bytes.hpp"

#include "core/key_order.hpp"
#include "core/memory/page_pool.hpp"
#include "core/text/line_buffer.hpp"
#include "core/text/number_text.hpp"
#include "reader/page/blocks.hpp"
#include "reader/scan/payloads.hpp"
#include "trace/payload/payload.hpp"
#include "trace/sinks/payload_text.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace nvspan::reader {
namespace {

// Payloads as text for people.
class PayloadTexts {
 public:
  explicit PayloadTexts(const Recording& recording)
      : recording_(recording), payloads_(recording), line_(pool_) {}

  // `step=3, loss=0.25`; a lone number as it is. Empty: no text can be made of it.
  std::string text(const PageBlock& block) {
    const EntryPayload& payload = block.payload;
    const ReadSite& site = recording_.sites()[block.site];
    if (payload.bytes != nullptr) {
      constexpr std::size_t columns = 160;
      line_.clear();
      trace::PayloadLine fields(line_, columns);
      payloads_.read(block.process, site.local_domain, payload.bytes, payload.bits, fields);
      return std::string(line_.data(), line_.size());
    }
    std::string text;
    trace::use_scalar(static_cast<trace::PayloadType>(site.own_payload_type()), payload.bits,
                      [&](auto number) {
                        if constexpr (std::is_floating_point_v<decltype(number)>) {
                          text = core::NumberText(number).view();
                        } else {
                          text = std::to_string(number);
                        }
                      });
    return text;
  }

 private:
  const Recording& recording_;
  RecordedPayloads payloads_;
  core::PagePool pool_;
  core::LineBuffer line_;
};

void add_number(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}
void add_signed(std::string& out, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  add_number(out, value < 0 ? ~bits * 2 + 1 : bits * 2);
}
std::uint64_t positive(std::int64_t value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
}

constexpr std::size_t bytes_of_key = 40;  // beside its name, with its durations

}  // namespace

std::uint32_t TimelineBytes::number_of(std::uint32_t key) {
  std::uint32_t& number = numbers_[key];
  if (number == 0) {
    used_.push_back(key);
    number = static_cast<std::uint32_t>(used_.size());
    name_bytes_ += bytes_of_key + recording_.text(keys_[key].name).size();
  }
  return number - 1;
}

std::uint32_t TimelineBytes::set_of(std::uint32_t names) {
  if (names == NameSets::any) return 0;
  std::uint32_t& number = sets_[names];
  if (number == 0) {
    std::vector<std::uint32_t> keys;
    for (const std::uint32_t key : lanes_.names()[names]) keys.push_back(number_of(key));
    name_bytes_ += 6 * keys.size();
    timeline_.names.push_back(std::move(keys));
    number = static_cast<std::uint32_t>(timeline_.names.size());
  }
  return number - 1;
}

void TimelineBytes::write_level(const PageTrack& track, const std::vector<PageBlock>& blocks,
                                std::string& out) {
  add_number(out, blocks.size());
  std::int64_t before = timeline_.first;
  for (const PageBlock& block : blocks) {
    add_number(out, positive(block.start - before));
    before = std::max(before, block.start);
    add_number(out, positive(block.end - block.start));
    const bool many = block.count > 1;
    add_number(out, std::uint64_t{4} * number_of(block.key) + (block.unclosed ? 2u : 0u) +
                        (many ? 1u : 0u));
    if (many) {
      add_number(out, block.count - 1);
      add_number(out, positive(block.busy));
      add_number(out, positive(block.longest));
      add_number(out, set_of(block.names));
    }
    if (track.kind != PageTrackKind::device) continue;
    const std::uint32_t launcher = block.launcher == 0 ? 0 : track_of_thread_[block.launcher - 1];
    add_number(out, launcher);
    if (launcher != 0) add_signed(out, block.start - block.launched);
  }
}

std::size_t TimelineBytes::write() {
  numbers_.assign(keys_.size(), 0);
  sets_.assign(lanes_.names().size(), 0);
  used_.clear();
  timeline_.names.assign(1, {});
  name_bytes_ = 0;
  track_of_thread_.assign(recording_.threads().size(), 0);
  for (std::size_t i = 0; i < timeline_.tracks.size(); ++i) {
    const std::int64_t thread = timeline_.tracks[i].thread;
    if (thread >= 0) {
      track_of_thread_[static_cast<std::size_t>(thread)] = static_cast<std::uint32_t>(i + 1);
    }
  }
  std::size_t bytes = 0;
  const std::vector<PageBlock> no_blocks;
  for (PageTrack& track : timeline_.tracks) {
    track.bytes.clear();
    add_number(track.bytes, track.levels.size());
    for (const std::size_t lane : track.levels) write_level(track, lanes_[lane], track.bytes);
    write_level(track, track.marks == PageTrack::none ? no_blocks : lanes_[track.marks],
                track.bytes);
    bytes += track.bytes.size();
  }
  return bytes + name_bytes_;
}

void TimelineBytes::write_payloads(std::size_t most_bytes) {
  struct Place {
    const PageBlock* block;
    std::size_t track, level, index;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < timeline_.tracks.size(); ++i) {
    const PageTrack& track = timeline_.tracks[i];
    std::vector<std::size_t> lanes = track.levels;
    if (track.marks != PageTrack::none) lanes.push_back(track.marks);
    for (std::size_t level = 0; level < lanes.size(); ++level) {
      const std::vector<PageBlock>& blocks = lanes_[lanes[level]];
      for (std::size_t k = 0; k < blocks.size(); ++k) {
        if (blocks[k].payload.present) places.push_back(Place{&blocks[k], i, level, k});
      }
    }
  }
  core::stable_sort_by(places.begin(), places.end(),
                       [](const Place& place) { return ~place.block->longest; });
  PayloadTexts texts(recording_);
  std::unordered_map<std::string, std::uint32_t> numbers;
  using Kept = std::pair<std::pair<std::size_t, std::size_t>, std::uint32_t>;  // level, block, text
  std::vector<std::vector<Kept>> kept(timeline_.tracks.size());
  std::size_t bytes = 0;
  for (const Place& place : places) {
    constexpr std::size_t bytes_of_place = 5;
    if (bytes > most_bytes) break;
    const std::string text = texts.text(*place.block);
    if (text.empty()) continue;
    const auto found = numbers.emplace(text, static_cast<std::uint32_t>(numbers.size()));
    if (found.second) {
      timeline_.texts.push_back(text);
      bytes += text.size() + 3;
    }
    bytes += bytes_of_place;
    kept[place.track].push_back({{place.level, place.index}, found.first->second});
    ++timeline_.shown_payloads;
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    std::sort(kept[i].begin(), kept[i].end());
    std::string& out = timeline_.tracks[i].bytes;
    add_number(out, kept[i].size());
    std::size_t level = 0, before = 0;
    for (const Kept& one : kept[i]) {
      if (one.first.first != level) before = 0;
      level = one.first.first;
      add_number(out, level);
      add_number(out, one.first.second - before);
      before = one.first.second;
      add_number(out, one.second);
    }
  }
}

}  // namespace nvspan::reader
