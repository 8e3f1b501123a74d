// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The three kernels that nvspan runs, one thread each, as PTX that any driver since CUDA 11.3
// compiles for any GPU since Pascal. They are written here by hand, so that building needs no CUDA.

#include <cstdint>

namespace nvspan::cuda {

// A stamp as the GPU writes it into pinned host memory: 16 bytes in one store and no fence after
// it, which would keep a multiprocessor busy for a microsecond. A reader that sees
// one half without the other notices: `word` is mixed with the time.
struct Stamp {
  uint64_t time;  // globaltimer, ns
  uint64_t word;  // stamp_word(...) ^ time * stamp_mix
};
static_assert(sizeof(Stamp) == 16, "the kernels write at these offsets");

constexpr uint64_t stamp_mix = 0x9E3779B97F4A7C15u;

// The low half counts the stamps from 1, so that a reader sees what is new and what was
// overwritten.
constexpr uint64_t stamp_word(uint32_t sequence, uint32_t range, bool is_end) {
  return sequence | static_cast<uint64_t>(range) << 33 | static_cast<uint64_t>(is_end) << 32;
}

// nvspan_stamp(Stamp* ring, uint64_t* head, uint64_t mask, uint64_t what): `what` is the stamp_word
// of
//   sequence 0
// nvspan_clock(uint64_t* out): writes globaltimer
// nvspan_ping(uint64_t* answers, uint32_t* question, uint32_t rounds, uint64_t patience_ns):
//   answers[0] = 1 when it runs; then, for i = 1..rounds, waits until *question >= i and answers
//   with globaltimer in answers[i]. Gives up after patience_ns without a question.
constexpr const char* stamp_kernels_ptx = R"(
.version 7.3
.target sm_60
.address_size 64

.visible .entry nvspan_stamp(.param .u64 p_ring, .param .u64 p_head, .param .u64 p_mask,
                             .param .u64 p_what)
{
  .reg .u64 %time, %ring, %head, %mask, %what, %index, %sequence, %offset, %slot, %mixed;
  mov.u64 %time, %globaltimer;
  ld.param.u64 %ring, [p_ring];
  ld.param.u64 %head, [p_head];
  ld.param.u64 %mask, [p_mask];
  ld.param.u64 %what, [p_what];
  cvta.to.global.u64 %ring, %ring;
  cvta.to.global.u64 %head, %head;
  mul.lo.u64 %mixed, %time, 0x9E3779B97F4A7C15;
  xor.b64 %mixed, %mixed, %what;
  atom.global.add.u64 %index, [%head], 1;
  add.u64 %sequence, %index, 1;
  and.b64 %sequence, %sequence, 0xFFFFFFFF;
  xor.b64 %mixed, %mixed, %sequence;
  and.b64 %offset, %index, %mask;
  shl.b64 %offset, %offset, 4;
  add.u64 %slot, %ring, %offset;
  st.global.v2.u64 [%slot], {%time, %mixed};
  ret;
}

.visible .entry nvspan_clock(.param .u64 p_out)
{
  .reg .u64 %time, %out;
  mov.u64 %time, %globaltimer;
  ld.param.u64 %out, [p_out];
  cvta.to.global.u64 %out, %out;
  st.volatile.global.u64 [%out], %time;
  ret;
}

.visible .entry nvspan_ping(.param .u64 p_answers, .param .u64 p_question, .param .u32 p_rounds,
                            .param .u64 p_patience)
{
  .reg .u64 %answers, %question, %patience, %one, %since, %now, %waited, %slot;
  .reg .u32 %rounds, %asked, %round;
  .reg .pred %done, %ask, %late;
  ld.param.u64 %answers, [p_answers];
  ld.param.u64 %question, [p_question];
  ld.param.u32 %rounds, [p_rounds];
  ld.param.u64 %patience, [p_patience];
  cvta.to.global.u64 %answers, %answers;
  cvta.to.global.u64 %question, %question;
  mov.u64 %one, 1;
  st.volatile.global.u64 [%answers], %one;
  membar.sys;
  mov.u32 %round, 1;
  mov.u64 %slot, %answers;
NEXT:
  setp.gt.u32 %done, %round, %rounds;
  @%done bra QUIT;
  add.u64 %slot, %slot, 8;
  mov.u64 %since, %globaltimer;
WAIT:
  ld.volatile.global.u32 %asked, [%question];
  mov.u64 %now, %globaltimer;
  setp.ge.u32 %ask, %asked, %round;
  @%ask bra ANSWER;
  sub.u64 %waited, %now, %since;
  setp.gt.u64 %late, %waited, %patience;
  @%late bra QUIT;
  bra WAIT;
ANSWER:
  mov.u64 %now, %globaltimer;
  st.volatile.global.u64 [%slot], %now;
  membar.sys;
  add.u32 %round, %round, 1;
  bra NEXT;
QUIT:
  ret;
}
)";

}  // namespace nvspan::cuda
