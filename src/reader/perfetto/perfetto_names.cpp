// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/perfetto/perfetto_names.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string_view>

namespace nvspan::reader {
namespace {

constexpr double degrees = 57.29577951308232;
constexpr int least_lightness = 40;  // of the UI's colors, in percent, and how many steps there are
constexpr int lightness_steps = 40;
constexpr int hues = 360;

struct Shade {
  double hue = 0;  // degrees, in CIELUV as HSLuv has it
  double lightness = 0;
  double chroma = 0;
};

Shade shade_of(std::uint32_t argb) {
  const auto linear = [&](int shift) {
    const double part = (argb >> shift & 0xFF) / 255.0;
    return part > 0.04045 ? std::pow((part + 0.055) / 1.055, 2.4) : part / 12.92;
  };
  const double r = linear(16), g = linear(8), b = linear(0);
  const double x = 0.4124564 * r + 0.3575761 * g + 0.1804375 * b;
  const double y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b;
  const double z = 0.0193339 * r + 0.1191920 * g + 0.9503041 * b;
  const double all = x + 15 * y + 3 * z;
  if (all <= 0) return {};
  Shade shade;
  shade.lightness = y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
  const double u = 13 * shade.lightness * (4 * x / all - 0.19783);
  const double v = 13 * shade.lightness * (9 * y / all - 0.46831);
  shade.chroma = std::hypot(u, v);
  shade.hue = std::atan2(v, u) * degrees;
  if (shade.hue < 0) shade.hue += hues;
  return shade;
}

// As the UI's own function of that name: a product of doubles, of which it keeps 32 bits.
int hash(std::string_view text, int count) {
  std::int32_t state = 18652613;
  for (const char byte : text) {
    const double product = 16777619.0 * static_cast<double>(state ^ static_cast<int>(byte));
    state = static_cast<std::int32_t>(
        static_cast<std::uint32_t>(static_cast<std::int64_t>(std::fmod(product, 4294967296.0))));
  }
  return static_cast<int>(std::abs(static_cast<std::int64_t>(state)) % count);
}

}  // namespace

std::string process_title(const Recording& recording, std::uint32_t number) {
  constexpr std::size_t enough = 120;
  const ReadProcess& process = recording.processes()[number];
  std::string title;
  if (process.header.rank >= 0) title = "rank " + std::to_string(process.header.rank);
  for (const ReadThread& thread : recording.threads()) {
    if (thread.process != number || thread.tid != process.header.pid || thread.name < 0) continue;
    const std::string_view name = recording.text(thread.name);
    if (name != "MainThread") title.append(title.empty() ? "" : " · ").append(name);
    break;
  }
  if (process.command.empty()) return title;
  if (!title.empty()) title += ": ";
  const std::string& first = process.command[0];
  title += first.substr(first.find_last_of('/') + 1);
  for (std::size_t i = 1; i < process.command.size() && title.size() < enough; ++i) {
    title += ' ' + process.command[i];
  }
  return title;
}

std::string counter_title(const Recording& recording, const ReadCounter& counter) {
  std::string title(recording.text(recording.domains()[counter.domain]));
  if (!title.empty()) title += ':';
  if (counter.name < 0) title.append("counter ").append(std::to_string(counter.id));
  title += recording.text(counter.name);
  if (counter.field >= 0) title.append(".").append(recording.text(counter.field));
  return title;
}

std::vector<std::uint32_t> distinct_pids(const Recording& recording) {
  std::vector<std::uint32_t> pids;
  std::set<std::uint32_t> taken;
  std::uint32_t invented = 1u << 30;
  for (const ReadProcess& process : recording.processes()) {
    pids.push_back(taken.insert(process.header.pid).second ? process.header.pid : invented++);
  }
  return pids;
}

bool has_own_color(const ReadSite& site) { return site.has_color && site.color != 0x000000FF; }

std::string_view end_reason_text(EndReason reason) {
  switch (reason) {
    case EndReason::process_end:
      return "the process ended";
    case EndReason::thread_exit:
      return "its thread ended";
    case EndReason::killed:
      return "the process was killed";
    case EndReason::lost:
      return "its end was lost";
    case EndReason::closed:
      break;
  }
  return "";
}

std::string perfetto_color_key(std::uint32_t argb) {
  constexpr double least_chroma = 12;
  constexpr double enough = 4;  // of 2 degrees, or of 2 percent of lightness
  constexpr int most_tries = 1 << 14;
  const Shade wanted = shade_of(argb);
  if (wanted.chroma < least_chroma) return {};
  const double lightness =
      std::clamp<double>(wanted.lightness, least_lightness, least_lightness + lightness_steps - 1);
  std::string found;
  double least = 1e9;
  for (int i = 0; i < most_tries && least > enough; ++i) {
    char text[24];
    std::snprintf(text, sizeof text, "#%06X/%d", argb & 0xFFFFFFu, i);
    const double turn = std::abs(hash(text, hues) - wanted.hue);
    const double of_hue = std::min(turn, hues - turn);
    if (of_hue * of_hue >= least) continue;
    const std::string shaded = std::string(text) + 'x';
    const double of_lightness = hash(shaded, lightness_steps) + least_lightness - lightness;
    const double distance = of_hue * of_hue + of_lightness * of_lightness;
    if (distance >= least) continue;
    least = distance;
    found = text;
  }
  return found;
}

}  // namespace nvspan::reader
