// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A recorder and a folder for tests of what it writes.

#pragma once

#include "record/writer/recorder.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "expect.hpp"
#include "folder.hpp"

namespace nvspan_test {

inline nvspan::trace::Event event_of(nvspan::trace::EventKind kind, std::string_view message = {}) {
  nvspan::trace::Event event;
  event.kind = kind;
  event.has_domain = true;
  event.message = message;
  event.message_type = nvspan::trace::MessageType::ascii;
  return event;
}

struct Writer {
  explicit Writer(nvspan::record::RecordOptions options) {
    const std::string path = folder.path();
    options.path = path;
    EXPECT(recorder.open(options));
  }
  std::vector<std::uint64_t> words() const {
    std::ifstream file(folder.path(), std::ios::binary | std::ios::ate);
    std::vector<std::uint64_t> read(static_cast<std::size_t>(file.tellg()) / 8);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(read.data()), static_cast<std::streamsize>(8 * read.size()));
    return read;
  }

  Folder folder;
  nvspan::core::PagePool pool;
  nvspan::trace::SchemaTable schemas{pool};
  nvspan::trace::PayloadNames names;
  nvspan::record::Recorder recorder{pool, schemas, names};
};

}  // namespace nvspan_test
