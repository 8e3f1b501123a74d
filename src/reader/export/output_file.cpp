// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/export/output_file.hpp"

#include <cerrno>
#include <system_error>

namespace nvspan::reader {

OutputFile::OutputFile(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) throw std::system_error(errno, std::generic_category(), path_);
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  buffer_.reserve(buffer_bytes + 4096);
}

void OutputFile::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
  written_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::finish() {
  flush();
  if (std::fclose(file_.release()) != 0) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
}

}  // namespace nvspan::reader
