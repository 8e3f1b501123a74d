// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a file defines, and the numbers that it gets beside other files: names, domains, sites,
// threads, counters, losses; definitions that are damaged, missing, or make no sense.

#include <cstdint>
#include <string>
#include <vector>

#include "expect.hpp"
#include "reader/file/chunk_scan.hpp"
#include "reader/file/recording.hpp"
#include "reader/file/schemas.hpp"
#include "recording_bytes.hpp"

using nvspan::reader::ChunkScan;
using nvspan::reader::ReadSite;
using nvspan::reader::Recording;
using nvspan::reader::scan_chunk;
using nvspan::reader::unknown_site;
using nvspan::record::DefinitionType;
using nvspan::record::EntryKind;
using nvspan::record::LossReason;
using nvspan::record::LossWindow;
using nvspan::record::make_entry;
using nvspan::record::no_string;
using nvspan_test::RecordingBytes;

namespace {

namespace record = nvspan::record;

std::string name(const Recording& recording, std::int32_t number) {
  return number < 0 ? "-" : std::string(recording.strings()[static_cast<std::size_t>(number)]);
}

std::string domain(const Recording& recording, std::uint32_t number) {
  return name(recording, recording.domains()[number]);
}

// The sites but the first, which stands for those that are not defined.
std::string sites(const Recording& recording) {
  std::string text;
  for (std::size_t i = 1; i < recording.sites().size(); ++i) {
    const ReadSite& site = recording.sites()[i];
    text += domain(recording, site.domain) + '.' + name(recording, site.name) + ' ' +
            std::to_string(site.category) + '=' + name(recording, site.category_name) +
            (site.is_others ? " others" : "") + '\n';
  }
  return text;
}

std::string problems(const Recording& recording) {
  std::string text;
  for (const std::string& problem : recording.problems()) text += problem + '\n';
  return text;
}

record::SiteDefinition site_of(std::uint32_t id, std::uint32_t domain, std::uint32_t message) {
  record::SiteDefinition definition = {};
  definition.id = id;
  definition.domain = domain;
  definition.message = message;
  definition.message_type = 1;
  return definition;
}

void define_names(RecordingBytes& bytes, const char* first, const char* second) {
  bytes.string(0, first);
  bytes.string(1, second);
  bytes.define(DefinitionType::domain, record::DomainDefinition{0, no_string});
  bytes.define(DefinitionType::domain, record::DomainDefinition{1, 0});
  bytes.define(DefinitionType::site, site_of(0, 1, 1));
}

void files_share_names_and_domains() {
  RecordingBytes one;
  one.start_definitions();
  define_names(one, "lib", "step");
  RecordingBytes two;
  two.start_definitions();
  define_names(two, "step", "lib");
  Recording recording;
  EXPECT(read(recording, one) && read(recording, two, "b.nvspan"));
  EXPECT_EQUAL(sites(recording), "lib.step 0=-\nstep.lib 0=-\n");
  EXPECT(recording.strings().size() == 2);
  EXPECT(recording.domains().size() == 3);  // the default one is of both
  EXPECT(recording.processes()[1].domains == std::vector<std::uint32_t>({0, 2}));
  EXPECT(recording.processes()[1].sites == std::vector<std::uint32_t>({2}));
  EXPECT_EQUAL(problems(recording), "");
}

void a_category_is_of_its_domain() {
  RecordingBytes bytes;
  bytes.start_definitions();
  define_names(bytes, "lib", "step");
  for (std::uint32_t in = 0; in < 2; ++in) {
    record::SiteDefinition definition = site_of(1 + in, in, 1);
    definition.category = 4;
    bytes.define(DefinitionType::site, definition);
  }
  bytes.define(DefinitionType::category, record::CategoryDefinition{1, 4, 0, 0});
  record::SiteDefinition others = site_of(3, 0, 1);
  others.message_type = record::message_of_others;
  bytes.define(DefinitionType::site, others);
  Recording recording;
  EXPECT(read(recording, bytes));
  EXPECT_EQUAL(sites(recording), "lib.step 0=-\n-.step 4=-\nlib.step 4=lib\n-.step 0=- others\n");
}

// A number without a definition is known to be there, and of nothing.
void gaps_are_unknown() {
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.string(2, "named");
  bytes.define(DefinitionType::site, site_of(2, 9, 2));
  bytes.define(DefinitionType::site, site_of(3, 0, 77));
  bytes.define(DefinitionType::site, site_of(0x40000000, 0, 2));  // more than the file has words
  bytes.define(static_cast<DefinitionType>(200), record::DomainDefinition{0, 0});
  Recording recording;
  EXPECT(read(recording, bytes));
  EXPECT_EQUAL(sites(recording), "-.named 0=-\n-.- 0=-\n");
  EXPECT(recording.processes()[0].sites ==
         std::vector<std::uint32_t>({unknown_site, unknown_site, 1, 2}));
}

void threads_have_the_name_of_their_time() {
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.string(0, "early");
  bytes.string(1, "late");
  // One tid after the other's end, as systems use them again.
  bytes.define(DefinitionType::thread, record::ThreadDefinition{0, 50, 2000});
  bytes.define(DefinitionType::thread, record::ThreadDefinition{1, 50, 5000});
  bytes.define(DefinitionType::thread, record::ThreadDefinition{2, 51, 2000});
  bytes.define(DefinitionType::thread_name, record::ThreadName{50, 0, 3000});
  bytes.define(DefinitionType::thread_name, record::ThreadName{50, 1, 5500});
  Recording recording;
  EXPECT(read(recording, bytes));
  std::string text;
  for (const auto& thread : recording.threads()) {
    text += std::to_string(thread.tid) + ' ' + name(recording, thread.name) + ' ' +
            std::to_string(thread.start_ticks) + '\n';
  }
  EXPECT_EQUAL(text, "50 early 2000\n51 - 2000\n50 late 5000\n");
}

void counters_know_their_unit() {
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.string(0, "memory");
  bytes.string(1, "bytes");
  bytes.define(DefinitionType::counter, record::CounterDefinition{0, 0, 1234, 0, 0});
  record::CounterMeaningDefinition meaning = {};
  meaning.schema = 18;  // a single number
  meaning.meaning.unit = 1;
  meaning.description = meaning.scope_path = no_string;
  bytes.define(DefinitionType::counter_meaning, meaning);
  meaning.counter = 5;  // which is not defined
  bytes.define(DefinitionType::counter_meaning, meaning);
  Recording recording;
  EXPECT(read(recording, bytes));
  EXPECT(recording.counters().size() == 1 && recording.counters()[0].id == 1234);
  EXPECT_EQUAL(name(recording, recording.counters()[0].name), "memory");
  EXPECT_EQUAL(name(recording, recording.counters()[0].unit), "bytes");
}

void schemas_are_of_their_process() {
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.string(0, "loss");
  constexpr std::uint64_t id = 1 << 24;
  struct {
    record::SchemaDefinition schema;
    record::SchemaEntryDefinition entries[1];
  } definition = {};
  definition.schema = record::SchemaDefinition{id, 1, 0, 0, 0, 3, no_string};
  definition.entries[0].type = 44;  // float64
  definition.entries[0].name = 0;
  definition.entries[0].meaning.unit = no_string;
  bytes.define(DefinitionType::schema, definition);
  bytes.define(DefinitionType::cited_string, record::CitedString{0xABC, 0, 0});
  Recording recording;
  EXPECT(read(recording, bytes));
  const auto& schemas = *recording.processes()[0].schemas;
  const nvspan::trace::PayloadSchema* found = schemas.table.schema(3, id);
  EXPECT(found != nullptr && found->count == 1 && found->size == 8);
  if (found != nullptr) EXPECT_EQUAL(std::string(found->entries[0].name), "loss");
  EXPECT(schemas.table.schema(0, id) == nullptr);
  EXPECT_EQUAL(std::string(schemas.string(0, 0xABC)), "loss");
  EXPECT(schemas.string(0, 0xABD).data() == nullptr);
}

// Each record has a checksum: what follows a damaged one is found again.
void a_damaged_definition_is_passed_over() {
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.string(0, "whole");
  bytes.string(1, "damaged here");
  bytes.define(DefinitionType::site, site_of(0, 0, 0));
  bytes.define(DefinitionType::site, site_of(1, 0, 1));
  std::vector<std::uint64_t> words = bytes.words();
  for (std::uint64_t& word : words) {
    if (std::memcmp(&word, "damaged ", sizeof word) == 0) word ^= 1;
  }
  Recording recording;
  const std::size_t size = words.size() * sizeof(std::uint64_t);
  EXPECT(recording.add("a.nvspan", std::move(words), size));
  EXPECT_EQUAL(sites(recording), "-.whole 0=-\n-.- 0=-\n");
  EXPECT(!recording.problems().empty());
}

void losses_of_the_header_have_their_reason() {
  RecordingBytes bytes;
  bytes.header().losses[static_cast<std::size_t>(LossReason::too_deep)] = LossWindow{3, 2000, 3000};
  Recording recording;
  EXPECT(read(recording, bytes));
  std::string text;
  for (const auto& loss : recording.losses()) {
    text += std::to_string(loss.count) + ' ' + std::string(loss.reason) + ' ' +
            std::to_string(loss.from) + ".." + std::to_string(loss.to) + '\n';
  }
  EXPECT_EQUAL(text, "3 nested too deeply 2000..3000\n");
  EXPECT_EQUAL(std::string(nvspan::reader::loss_reason_text(LossReason::reentered)),
               "signal handler");
  EXPECT_EQUAL(std::string(nvspan::reader::loss_reason_text(static_cast<LossReason>(99))),
               "unknown");
}

void a_chunk_is_counted() {
  RecordingBytes bytes;
  bytes.start_definitions();
  bytes.string(0, "x");
  bytes.define(DefinitionType::domain, record::DomainDefinition{0, no_string});
  bytes.define(DefinitionType::site, site_of(0, 0, 0));
  bytes.define(DefinitionType::thread, record::ThreadDefinition{0, 50, 2000});
  bytes.start_events(0, 50, 2000);
  bytes.add({make_entry(EntryKind::push, 0, 10), make_entry(EntryKind::mark, 6, 20),
             make_entry(EntryKind::base, 0, 0), 9000, make_entry(EntryKind::pop, 0, 5),
             make_entry(EntryKind::lost, 1, 6), 4, 2100, 2200});
  Recording recording;
  EXPECT(read(recording, bytes));
  EXPECT(recording.threads().size() == 1 && recording.threads()[0].chunks.size() == 1);
  if (nvspan_test::failures() != 0) return;
  const ChunkScan scan =
      scan_chunk(recording, recording.processes()[0], recording.threads()[0].chunks[0]);
  EXPECT(scan.events == 3 && scan.unknown == 1 && scan.lost == 4);
  EXPECT(scan.last_ticks == 9005);
  EXPECT(!scan.damaged);
}

}  // namespace

int main() {
  files_share_names_and_domains();
  a_category_is_of_its_domain();
  gaps_are_unknown();
  threads_have_the_name_of_their_time();
  counters_know_their_unit();
  schemas_are_of_their_process();
  a_damaged_definition_is_passed_over();
  losses_of_the_header_have_their_reason();
  a_chunk_is_counted();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
