// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/bundle.hpp"

#include "core/os/clock.hpp"
#include "reader/tail/recording_tail.hpp"
#include "record/file/file_name.hpp"
#include "record/file/ticks.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace nvspan::reader {
namespace {

constexpr const char* flag_name = "/nvspan.trigger";
constexpr std::string_view bundle_prefix = "nvspan-trigger-";
constexpr std::string_view suffix = ".nvspan";

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_owners_alone(int fd) {
  struct stat status = {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// "NAME TIME KIND", where the name can be that of a folder beside it.
BundleFlag parse_flag(int fd) {
  char text[256] = {};
  BundleFlag flag;
  if (!is_owners_alone(fd) || ::pread(fd, text, sizeof text - 1, 0) <= 0) return flag;
  const std::string_view line(text);
  const std::size_t space = line.find(' ');
  const std::string_view name = line.substr(0, space);
  if (space == std::string_view::npos || name.substr(0, bundle_prefix.size()) != bundle_prefix ||
      name.find('/') != std::string_view::npos) {
    return flag;
  }
  flag.name = name;
  char* end = text;
  flag.time = std::strtoull(text + space, &end, 10);
  if (*end == ' ') flag.kind.assign(end + 1, std::strcspn(end + 1, "\n"));
  return flag;
}

void add_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    char escaped[8];
    if (code < 0x20) {
      snprintf(escaped, sizeof escaped, "\\u%04x", code);
      out += escaped;
    } else {
      if (byte == '"' || byte == '\\') out += '\\';
      out += byte;
    }
  }
  out += '"';
}

std::string host() {
  char name[64] = {};
  record::host_name(name, sizeof name);
  return name;
}

void note(const std::string& bundle, const BundleEvent& event, std::uint64_t now) {
  std::string line = "{\"time\": " + std::to_string(now) + ", \"kind\": ";
  add_json(line, event.kind);
  line += ", \"why\": ";
  add_json(line, event.why);
  line += ", \"host\": ";
  add_json(line, host());
  line += ", \"pid\": " + (event.pid == 0 ? std::string("null") : std::to_string(event.pid));
  line += ", \"rank\": " + (event.rank < 0 ? std::string("null") : std::to_string(event.rank));
  line += "}\n";
  const int fd = ::open((bundle + "/why.jsonl").c_str(),
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  // One write: lines of several hosts do not mix.
  if (::write(fd, line.data(), line.size()) < 0) line.clear();
  ::close(fd);
}

std::size_t count_bundles(const std::string& folder) {
  std::size_t count = 0;
  DIR* const dir = ::opendir(folder.c_str());
  if (dir == nullptr) return 0;
  while (const dirent* entry = ::readdir(dir)) {
    if (std::strncmp(entry->d_name, bundle_prefix.data(), bundle_prefix.size()) == 0) ++count;
  }
  ::closedir(dir);
  return count;
}

// Its name; empty: it cannot be made, for the reason in errno.
std::string make_folder(const std::string& folder, std::uint64_t now) {
  const auto seconds = static_cast<time_t>(now / 1'000'000'000);
  tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char stamp[32];
  ::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &parts);
  for (int number = 1; number < 1000; ++number) {
    std::string name(bundle_prefix);
    name += stamp;
    if (number > 1) {
      name += '-';
      name += std::to_string(number);
    }
    std::string path(folder);
    path += '/';
    path += name;
    if (::mkdir(path.c_str(), 0700) == 0) return name;
    if (errno != EEXIST) return {};
  }
  return {};
}

std::uint64_t ns_of(double seconds) { return static_cast<std::uint64_t>(seconds * 1e9); }

}  // namespace

BundleFlag read_flag(const std::string& folder) {
  const int fd =
      ::open((folder + flag_name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return {};
  BundleFlag flag = parse_flag(fd);
  ::close(fd);
  return flag;
}

std::string open_bundle(const BundlePlace& place, const BundleEvent& event, std::string& problem) {
  problem.clear();
  const std::string path = place.folder + flag_name;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) {
    problem = path + ": " + std::strerror(errno);
    return {};
  }
  std::string bundle;
  if (!is_owners_alone(fd)) {
    problem = path + ": others than its owner may write it: it is not used";
  } else if (::flock(fd, LOCK_EX) != 0) {
    problem = path + ": " + std::strerror(errno);
  } else {
    const std::uint64_t now = core::clock_ns(CLOCK_REALTIME);
    const BundleFlag last = parse_flag(fd);
    const std::uint64_t age = now > last.time ? now - last.time : 0;
    const std::string known = place.folder + "/" + last.name;
    const std::uint64_t together = ns_of(place.together);
    if (!last.name.empty() && age < together && ::access(known.c_str(), W_OK) == 0) {
      bundle = known;
    } else if (last.name.empty() || event.asked || event.kind != last.kind ||
               age >= ns_of(place.every)) {
      if (count_bundles(place.folder) >= place.most) {
        problem = place.folder + ": there are " + std::to_string(place.most) +
                  " bundles: none is written until some are removed";
      } else {
        const std::string name = make_folder(place.folder, now);
        if (name.empty()) problem = place.folder + ": " + std::strerror(errno);
        const std::string line = name + " " + std::to_string(now) + " " + event.kind + "\n";
        if (!name.empty() && ::ftruncate(fd, 0) == 0 &&
            ::pwrite(fd, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size())) {
          bundle = place.folder + "/" + name;
        }
      }
    }
    if (!bundle.empty()) note(bundle, event, now);
  }
  ::close(fd);
  return bundle;
}

std::uint64_t folder_version(const BundlePlace& place) noexcept {
  struct stat status = {};
  if (::stat(place.folder.c_str(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

std::vector<std::string> recordings_in(const BundlePlace& place,
                                       const std::vector<std::string>& but) {
  std::vector<std::string> found;
  DIR* const dir = ::opendir(place.folder.c_str());
  if (dir == nullptr) return found;
  const std::string here = host();
  const std::uint64_t now = core::clock_ns(CLOCK_REALTIME);
  while (const dirent* entry = ::readdir(dir)) {
    if (!ends_with(entry->d_name, suffix)) continue;
    std::string path = place.folder + "/" + entry->d_name;
    if (std::find(but.begin(), but.end(), path) != but.end()) continue;
    RecordingTail tail;
    if (!tail.open(path)) continue;
    const record::FileHeader& header = tail.header();
    const record::ClockSample last = header.last[header.last_sample % 2];
    // Its newest time may be that of its last full chunk: one that was killed in a hang is kept.
    const bool closed = tail.is_closed();
    const bool gone = ::kill(static_cast<pid_t>(header.pid), 0) != 0 && errno == ESRCH;
    const std::uint64_t kept = closed ? ns_of(place.last) : ns_of(3600);
    const bool over =
        (closed || gone) && std::max(header.first.realtime, last.realtime) + kept < now;
    if (here.compare(0, std::string::npos, header.host,
                     ::strnlen(header.host, sizeof header.host)) != 0 ||
        (place.run != 0 && header.run != place.run) || (header.flags & record::file_frozen) != 0 ||
        over) {
      continue;
    }
    found.push_back(std::move(path));
  }
  ::closedir(dir);
  return found;
}

std::size_t fill_bundle(const BundlePlace& place, const std::string& bundle,
                        const std::vector<std::string>& files, std::string& problem) {
  std::size_t failed = 0;
  for (const std::string& file : files) {
    const std::string to = bundle + "/" + base_name(file);
    if (::access(to.c_str(), F_OK) == 0) continue;
    std::string why;
    if (freeze_recording(file, to, ns_of(place.last), why)) continue;
    ++failed;
    problem = file + ": ";
    problem += why;
  }
  return failed;
}

}  // namespace nvspan::reader
