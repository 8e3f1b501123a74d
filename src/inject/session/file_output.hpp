// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "trace/event/sink.hpp"

#include <signal.h>
#include <sys/types.h>

namespace nvspan::inject {

// A file that several processes append to, or standard error. Programs close and reuse descriptors
// they did not open, so a file is checked before each write and opened again when it is gone: a
// line never lands in a file of the program's.
//
// Its caller blocks signals: a write to a closed pipe or past a size limit would raise one.
class FileOutput final : public trace::Output {
 public:
  explicit FileOutput(core::PagePool& pool) : path_(pool) {}
  ~FileOutput() override { close(); }

  bool use_standard_error() noexcept;  // false: it is closed
  bool open(std::string_view path);    // false: see error()
  void close() noexcept;

  bool write(const char* data, std::size_t size) noexcept override;
  bool is_terminal() const noexcept override;

  int error() const noexcept { return error_; }             // an errno
  const char* problem() const noexcept;                     // the same in words, after open()
  bool is_file() const noexcept { return !path_.empty(); }  // not standard error
  const char* name() const noexcept { return path_.c_str(); }

  // The signals that may arrive while a full pipe is waited for.
  void set_wait_mask(const sigset_t* mask) noexcept { wait_mask_ = mask; }

 private:
  bool open_path() noexcept;
  bool is_ours() const noexcept;
  void wait_until_writable() const noexcept;

  core::PoolString path_;
  int fd_ = -1;
  bool can_block_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  int error_ = 0;
  const char* refused_ = nullptr;
  const sigset_t* wait_mask_ = nullptr;
};

}  // namespace nvspan::inject
