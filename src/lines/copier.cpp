// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/copier.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace nvspan::lines {
namespace {

constexpr std::size_t most_ranges = 1024;  // of one call: IOV_MAX
constexpr unsigned close_on_exec = 1;      // MFD_CLOEXEC

char* map(int fd) noexcept {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* memory = ::mmap(nullptr, MemoryCopier::most_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

// Writing beyond a limit of the size of files would send a signal.
bool may_write_files() noexcept {
  rlimit limit = {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= MemoryCopier::most_bytes;
}

// By number: a sanitizer's own function would check the ranges itself.
ssize_t write_ranges(int fd, const iovec* ranges, std::size_t count, std::size_t at) noexcept {
  return ::syscall(SYS_pwritev, fd, ranges, count, at, 0L);
}

}  // namespace

bool MemoryCopier::open() noexcept {
  for (int method = 0; method < methods; ++method) {
    if (open(static_cast<Method>(method))) return true;
  }
  return false;
}

bool MemoryCopier::open(Method method) noexcept {
  method_ = method;
  if (prepare()) {
    const std::uint64_t probe = 0x1122334455667788;
    std::uint64_t back = 0;
    constexpr Address nothing = 1 << 16;
    if (read(reinterpret_cast<Address>(&probe), &back, sizeof back) && back == probe &&
        !read(nothing, &back, sizeof back)) {
      return true;
    }
  }
  close();
  return false;
}

bool MemoryCopier::prepare() noexcept {
  int ends[2] = {-1, -1};
  switch (method_) {
    case Method::memory_file:
      if (!may_write_files()) return false;
      fd_ = static_cast<int>(::syscall(SYS_memfd_create, "nvspan lines", close_on_exec));
      if (fd_ < 0 || ::ftruncate(fd_, most_bytes) != 0) return false;
      break;
    case Method::process_read:
      break;
    case Method::pipe:
      if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
      pipe_end_ = ends[0];
      fd_ = ends[1];
      ::fcntl(fd_, F_SETPIPE_SZ, 2 * most_bytes);
      break;
    case Method::own_memory:
      fd_ = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
      if (fd_ < 0) return false;
      break;
  }
  buffer_ = map(method_ == Method::memory_file ? fd_ : -1);
  if (buffer_ == nullptr) return false;
  ::madvise(buffer_, most_bytes, MADV_DONTFORK);
  return true;
}

void MemoryCopier::close() noexcept {
  if (buffer_ != nullptr) ::munmap(buffer_, most_bytes);
  buffer_ = nullptr;
  if (fd_ >= 0) ::close(fd_);
  if (pipe_end_ >= 0) ::close(pipe_end_);
  fd_ = pipe_end_ = -1;
}

// The mapping is not in the child.
void MemoryCopier::forget() noexcept {
  buffer_ = nullptr;
  close();
}

ssize_t MemoryCopier::copy_through_pipe(const iovec* ranges, std::size_t count,
                                        std::size_t at) noexcept {
  const ssize_t written = ::syscall(SYS_writev, fd_, ranges, count);
  for (ssize_t taken = 0; taken < written;) {
    const ssize_t more =
        ::read(pipe_end_, buffer_ + at + taken, static_cast<std::size_t>(written - taken));
    if (more <= 0) return taken;
    taken += more;
  }
  return written;
}

ssize_t MemoryCopier::copy_each(const iovec* ranges, std::size_t count, std::size_t at) noexcept {
  ssize_t got = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ssize_t more = ::pread(fd_, buffer_ + at + got, ranges[i].iov_len,
                                 static_cast<off_t>(reinterpret_cast<Address>(ranges[i].iov_base)));
    if (more > 0) got += more;
    if (more != static_cast<ssize_t>(ranges[i].iov_len)) break;
  }
  return got;
}

ssize_t MemoryCopier::copy_once(const iovec* ranges, std::size_t count, std::size_t bytes,
                                std::size_t at) noexcept {
  switch (method_) {
    case Method::memory_file:
      return write_ranges(fd_, ranges, count, at);
    case Method::process_read: {
      const iovec to = {buffer_ + at, bytes};
      return ::syscall(SYS_process_vm_readv, ::getpid(), &to, 1UL, ranges, count, 0UL);
    }
    case Method::pipe:
      return copy_through_pipe(ranges, count, at);
    case Method::own_memory:
      return copy_each(ranges, count, at);
  }
  return -1;
}

std::size_t MemoryCopier::copy(const iovec* ranges, std::size_t count) noexcept {
  std::size_t got = 0;
  while (count != 0) {
    const std::size_t now = std::min(count, most_ranges);
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < now; ++i) wanted += ranges[i].iov_len;
    if (got + wanted > most_bytes) return got;
    const ssize_t more = copy_once(ranges, now, wanted, got);
    if (more > 0) got += static_cast<std::size_t>(more);
    if (more != static_cast<ssize_t>(wanted)) return got;
    ranges += now;
    count -= now;
  }
  return got;
}

bool MemoryCopier::read(Address from, void* to, std::size_t size) noexcept {
  const iovec range = range_of(from, size);
  if (copy(&range, 1) != size) return false;
  std::memcpy(to, buffer_, size);
  return true;
}

}  // namespace nvspan::lines
