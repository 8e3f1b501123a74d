// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/file_output.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace nvspan::inject {
namespace {

// Above what programs that select(), or that close "their" descriptors, usually touch.
constexpr int lowest_descriptor = 200;

void consume_signal(int signal_number) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  const timespec now = {0, 0};
  while (::sigtimedwait(&set, nullptr, &now) < 0 && errno == EINTR) {
  }
}

// /dev/null and its like are devices of the kind "memory".
bool takes_lines(int fd, const struct stat& status) noexcept {
  constexpr unsigned memory_devices = 1;
  if (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)) return true;
  return S_ISCHR(status.st_mode) && (::isatty(fd) != 0 || major(status.st_rdev) == memory_devices);
}

}  // namespace

const char* FileOutput::problem() const noexcept {
  return refused_ != nullptr ? refused_ : ::strerror(error_);
}

bool FileOutput::use_standard_error() noexcept {
  close();
  path_.clear();
  struct stat status = {};
  if (::fstat(STDERR_FILENO, &status) != 0) return false;
  fd_ = STDERR_FILENO;
  can_block_ = !S_ISREG(status.st_mode);
  return true;
}

bool FileOutput::open(std::string_view path) {
  close();
  path_.assign(path.data(), path.size());
  return open_path();
}

bool FileOutput::open_path() noexcept {
  // A pipe without a reader would be waited for, and so would a full one inside write, where no
  // signal ends the wait.
  refused_ = nullptr;
  fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
               0666);
  struct stat status = {};
  if (fd_ < 0) {
    error_ = errno;
    if (error_ == ENXIO && ::stat(path_.c_str(), &status) == 0) {
      if (S_ISFIFO(status.st_mode)) refused_ = "no process reads from this pipe";
      if (S_ISSOCK(status.st_mode)) refused_ = "it is a socket, not a file, a terminal or a pipe";
    }
    return false;
  }
  if (::fstat(fd_, &status) == 0 && !takes_lines(fd_, status)) {
    ::close(fd_);
    fd_ = -1;
    error_ = EINVAL;
    refused_ = "it is a device, not a file, a terminal or a pipe";
    return false;
  }
  const int moved = ::fcntl(fd_, F_DUPFD_CLOEXEC, lowest_descriptor);
  if (moved >= 0) {
    ::close(fd_);
    fd_ = moved;
  }
  if (::fstat(fd_, &status) != 0) {
    error_ = errno;
    return false;
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
  can_block_ = !S_ISREG(status.st_mode);
  return true;
}

void FileOutput::close() noexcept {
  if (fd_ > STDERR_FILENO && is_ours()) ::close(fd_);
  fd_ = -1;
  error_ = 0;
}

bool FileOutput::is_ours() const noexcept {
  struct stat status = {};
  return ::fstat(fd_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool FileOutput::is_terminal() const noexcept { return fd_ >= 0 && ::isatty(fd_) != 0; }

void FileOutput::wait_until_writable() const noexcept {
  pollfd entry = {fd_, POLLOUT, 0};
  ::ppoll(&entry, 1, nullptr, wait_mask_);
}

bool FileOutput::write(const char* data, std::size_t size) noexcept {
  if (!path_.empty() && !is_ours() && !open_path()) return false;
  while (size > 0) {
    if (can_block_) wait_until_writable();
    // A descriptor that poll calls writable takes this much; more would wait inside write.
    const std::size_t piece = can_block_ ? std::min<std::size_t>(size, PIPE_BUF) : size;
    const ssize_t written = ::write(fd_, data, piece);
    if (written > 0) {
      data += written;
      size -= static_cast<std::size_t>(written);
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      wait_until_writable();
      continue;
    }
    error_ = written < 0 ? errno : ENOSPC;
    if (error_ == EPIPE) consume_signal(SIGPIPE);
    if (error_ == EFBIG) consume_signal(SIGXFSZ);
    return false;
  }
  return true;
}

}  // namespace nvspan::inject
