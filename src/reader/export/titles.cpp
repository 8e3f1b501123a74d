// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/export/titles.hpp"

#include <set>

namespace nvspan::reader {

std::string text_at(const Recording& recording, std::int32_t index) {
  return index < 0 ? std::string() : recording.strings()[static_cast<std::size_t>(index)];
}

std::string process_title(const Recording& recording, std::uint32_t number) {
  constexpr std::size_t enough = 120;
  const ReadProcess& process = recording.processes()[number];
  std::string title;
  if (process.header.rank >= 0) title = "rank " + std::to_string(process.header.rank);
  for (const ReadThread& thread : recording.threads()) {
    if (thread.process != number || thread.tid != process.header.pid || thread.name < 0) continue;
    const std::string name = text_at(recording, thread.name);
    if (name != "MainThread") title += (title.empty() ? "" : " · ") + name;
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
  const std::string domain = text_at(recording, recording.domains()[counter.domain]);
  std::string title = domain.empty() ? "" : domain + ":";
  title +=
      counter.name < 0 ? "counter " + std::to_string(counter.id) : text_at(recording, counter.name);
  if (counter.field >= 0) title += '.' + text_at(recording, counter.field);
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

}  // namespace nvspan::reader
