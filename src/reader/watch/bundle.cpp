// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/bundle.hpp"

#include "core/os/clock.hpp"
#include "reader/chunks/file_lock.hpp"
#include "reader/live/writer_process.hpp"
#include "reader/tail/recording_tail.hpp"
#include "record/file/file_name.hpp"
#include "record/file/ticks.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
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
constexpr const char* reasons = "why.jsonl";
constexpr std::uint64_t longest_write = 60'000'000'000;  // ns: whoever wrote it is gone

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

std::string line_of(const BundleEvent& event, std::uint64_t now) {
  std::string line = "{\"time\": " + std::to_string(now) + ", \"kind\": ";
  add_json(line, event.kind);
  line += ", \"why\": ";
  add_json(line, event.why);
  line += ", \"host\": ";
  add_json(line, host());
  line += ", \"pid\": " + (event.pid == 0 ? std::string("null") : std::to_string(event.pid));
  line += ", \"rank\": " + (event.rank < 0 ? std::string("null") : std::to_string(event.rank));
  line += "}\n";
  return line;
}

std::string final_path(const BundlePlace& place, const std::string& name) {
  return place.folder + "/" + name;
}

std::string unfinished_path(const BundlePlace& place, const std::string& name) {
  return place.folder + "/." + name;
}

// Calls use(folder) with where the bundle lies; again where whoever opened it has renamed it
// meanwhile. 0, or an errno.
template <typename Use>
int in_folder(const BundlePlace& place, const OpenBundle& bundle, Use&& use) {
  for (;;) {
    const std::string folder = bundle_path(place, bundle.name);
    if (folder.empty()) return ENOENT;
    const int error = use(folder);
    if (error != ENOENT || bundle_path(place, bundle.name) == folder) return error;
  }
}

// What this user's watchers have written: whoever may write into the folder can make others.
bool is_own_bundle(const std::string& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && ::lstat((path + "/" + reasons).c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

std::size_t count_bundles(const BundlePlace& place) {
  std::size_t count = 0;
  DIR* const dir = ::opendir(place.folder.c_str());
  if (dir == nullptr) return 0;
  while (const dirent* entry = ::readdir(dir)) {
    if (std::strncmp(entry->d_name, bundle_prefix.data(), bundle_prefix.size()) == 0) {
      count += is_own_bundle(final_path(place, entry->d_name));
    }
  }
  ::closedir(dir);
  return count;
}

// Its name; empty: it cannot be made, for the reason in errno.
std::string make_folder(const BundlePlace& place, std::uint64_t now) {
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
    if (::access(final_path(place, name).c_str(), F_OK) == 0) continue;
    if (::mkdir(unfinished_path(place, name).c_str(), 0700) == 0) return name;
    if (errno != EEXIST) return {};
  }
  return {};
}

// A line of its own, or what is there is emptied.
bool write_flag(int fd, const std::string& line) {
  return ::ftruncate(fd, 0) == 0 &&
         ::pwrite(fd, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size());
}

void remove_folder(const std::string& path) {
  DIR* const dir = ::opendir(path.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = ::readdir(dir)) ::unlinkat(::dirfd(dir), entry->d_name, 0);
  ::closedir(dir);
  ::rmdir(path.c_str());
}

// The flag file, which nobody else changes meanwhile.
class LockedFlag {
 public:
  LockedFlag(const BundlePlace& place, std::uint64_t wait, BundleProblem& problem) {
    const std::string path = place.folder + flag_name;
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    struct stat status = {};
    if (fd_ >= 0 && ::fstat(fd_, &status) == 0 && status.st_uid != ::geteuid()) {
      problem.text = path + ": it belongs to another user: it is not used";
    } else if (fd_ >= 0 && !is_owners_alone(fd_)) {
      problem.text = path + ": others than its owner may write it: it is not used";
    } else if (fd_ < 0) {
      problem.set(path, errno);
    } else if (std::string why; !lock_file(fd_, wait, why)) {
      problem.text = path + ": " + why;
      problem.passes = true;
    } else {
      return;
    }
    close();
  }
  LockedFlag(const LockedFlag&) = delete;
  LockedFlag& operator=(const LockedFlag&) = delete;
  ~LockedFlag() { close(); }
  int fd() const { return fd_; }  // negative: there is none

 private:
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  int fd_ = -1;
};

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

void BundleProblem::set(const std::string& path, int error) {
  text = path + ": " + std::strerror(error);
  passes = error == ENOSPC || error == EDQUOT;
}

std::string bundle_path(const BundlePlace& place, const std::string& name) {
  for (const std::string& path :
       {final_path(place, name), unfinished_path(place, name), final_path(place, name)}) {
    if (::access(path.c_str(), W_OK) == 0) return path;
  }
  return {};
}

OpenBundle open_bundle(const BundlePlace& place, const BundleEvent& event, std::uint64_t wait,
                       BundleProblem& problem) {
  problem = {};
  const LockedFlag flag(place, wait, problem);
  if (flag.fd() < 0) return {};
  const std::uint64_t now = core::clock_ns(CLOCK_REALTIME);
  const BundleFlag last = parse_flag(flag.fd());
  const std::uint64_t age = now > last.time ? now - last.time : 0;
  OpenBundle bundle;
  if (!last.name.empty() && age >= longest_write) {
    ::rename(unfinished_path(place, last.name).c_str(), final_path(place, last.name).c_str());
  }
  if (!last.name.empty() && age < ns_of(place.together) && !bundle_path(place, last.name).empty()) {
    bundle = OpenBundle{last.name, true};
  } else if (!last.name.empty() && !event.asked && event.kind == last.kind &&
             age < ns_of(place.every)) {
    return {};
  } else if (count_bundles(place) >= place.most) {
    problem.text = place.folder + ": there are " + std::to_string(place.most) +
                   " bundles: none is written until some are removed";
    return {};
  } else {
    bundle.name = make_folder(place, now);
    if (bundle.name.empty()) {
      problem.set(place.folder, errno);
      return {};
    }
    if (!write_flag(flag.fd(), bundle.name + " " + std::to_string(now) + " " + event.kind + "\n")) {
      problem.set(place.folder + flag_name, errno);
    }
  }
  if (problem.text.empty() && add_line(place, bundle, reasons, line_of(event, now), problem)) {
    return bundle;
  }
  if (bundle.joined) return {};
  write_flag(flag.fd(), "");
  remove_folder(unfinished_path(place, bundle.name));
  return {};
}

bool finish_bundle(const BundlePlace& place, const OpenBundle& bundle, BundleProblem& problem) {
  if (bundle.joined) return true;
  const std::string path = final_path(place, bundle.name);
  if (::rename(unfinished_path(place, bundle.name).c_str(), path.c_str()) == 0) return true;
  problem.set(path, errno);
  return false;
}

void drop_bundle(const BundlePlace& place, const OpenBundle& bundle) {
  if (bundle.joined) return;
  BundleProblem ignored;
  const LockedFlag flag(place, lock_wait, ignored);
  if (flag.fd() >= 0 && parse_flag(flag.fd()).name == bundle.name) write_flag(flag.fd(), "");
  remove_folder(unfinished_path(place, bundle.name));
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
    const bool gone = is_writer_gone(header);
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

bool fill_bundle(const BundlePlace& place, const OpenBundle& bundle,
                 const std::vector<std::string>& files, BundleProblem& problem) {
  bool filled = true;
  for (const std::string& file : files) {
    std::string why;
    const int error = in_folder(place, bundle, [&](const std::string& folder) {
      const std::string to = folder + "/" + base_name(file);
      if (::access(to.c_str(), F_OK) == 0) return 0;
      return freeze_recording(file, to, ns_of(place.last), why);
    });
    if (error == 0) continue;
    filled = false;
    problem.set(file, error);
    if (why.empty()) continue;
    problem.text = file;
    problem.text += ": ";
    problem.text += why;
  }
  return filled;
}

bool add_line(const BundlePlace& place, const OpenBundle& bundle, const char* file,
              const std::string& line, BundleProblem& problem) {
  const int error = in_folder(place, bundle, [&](const std::string& folder) {
    const int fd = ::open((folder + "/" + file).c_str(),
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return errno;
    const ssize_t written = ::write(fd, line.data(), line.size());
    const int failed = written < 0 ? errno : ENOSPC;
    ::close(fd);
    return written == static_cast<ssize_t>(line.size()) ? 0 : failed;
  });
  if (error != 0) problem.set(final_path(place, bundle.name) + "/" + file, error);
  return error == 0;
}

}  // namespace nvspan::reader
