// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/layers/check_reports.hpp"

#include <map>
#include <mutex>
#include <tuple>

#include "annotate/layers/check_stack.hpp"
#include "annotate/tool/attachment.hpp"

namespace nvspan::annotate {

namespace {

constexpr size_t most_reports = 10000;

struct Reports {
  std::mutex mutex;
  std::map<std::tuple<CheckKind, uint32_t, uint32_t>, size_t> index;
  std::vector<CheckReport> list;
  uint64_t lost = 0;
};

Reports& reports() noexcept {
  static Reports* const it = new Reports;
  return *it;
}

std::atomic<const CheckHost*> current_host{nullptr};
std::atomic<bool> layer_wanted{false};

void count_and_report(CheckKind kind, uint32_t site, uint32_t other, std::string text,
                      bool calling) noexcept {
  CheckReport counted{kind, site, other, 1, std::move(text)};
  bool first = true;
  {
    Reports& all = reports();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto key = std::make_tuple(kind, site, other);
    const auto found = all.index.find(key);
    if (found != all.index.end()) {
      counted.count = ++all.list[found->second].count;
      first = false;
    } else if (all.list.size() < most_reports) {
      all.index.emplace(key, all.list.size());
      all.list.push_back(counted);
    } else {
      ++all.lost;
    }
  }
  if (const CheckHost* host = current_host.load()) host->report(counted, first, calling);
}

}  // namespace

void start_checking(const CheckHost& host) noexcept {
  current_host.store(&host);
  if (layer_wanted.exchange(true)) return;
  // In this order: what is noted from the clearing on has its close noted too.
  republish_tool();
  check::clear_entries(!tool_decided());
  detail::active_check_hook.store(&check::hook);
}

void stop_checking() noexcept {
  if (!layer_wanted.exchange(false)) return;
  detail::active_check_hook.store(nullptr);
  republish_tool();
  check::clear_entries(false);
}

std::vector<CheckReport> check_reports(uint64_t& lost) {
  std::lock_guard<std::mutex> lock(reports().mutex);
  lost = reports().lost;
  return reports().list;
}

void check_at_exit() noexcept {
  if (checking()) check::report_all_open();
}

namespace check {

bool wanted() noexcept { return layer_wanted.load(); }

uint32_t call_site() noexcept {
  const CheckHost* host = current_host.load(std::memory_order_relaxed);
  return host ? host->call_site() : 0;
}

std::string site_text(uint32_t site) {
  const CheckHost* host = current_host.load();
  return host && site ? host->site_text(site) : std::string("an unknown place");
}

const void* current_task() noexcept {
  const CheckHost* host = current_host.load(std::memory_order_relaxed);
  return host ? host->current_task() : nullptr;
}

void report(CheckKind kind, uint32_t site, uint32_t other, std::string text) noexcept {
  count_and_report(kind, site, other, std::move(text), true);
}

void report_at_exit(CheckKind kind, uint32_t site, std::string text) noexcept {
  count_and_report(kind, site, 0, std::move(text), false);
}

}  // namespace check

}  // namespace nvspan::annotate
