// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// What is known of the selected range, and a histogram of how long the ranges of its name took.
import { add, countText, manyText, shape, timeText } from "./format.js";

/** @typedef {import("./decode.js").Key} Key */

/**
 * Where a bucket of durations begins: four for each power of two.
 * @param {number} bucket
 */
const bucketBegin = bucket => bucket ? 2 ** Math.floor(bucket / 4) * (1 + bucket % 4 / 4) : 0;

/** @param {number} ns */
function bucketOf(ns) {
  if (ns < 1) return 0;
  const octave = Math.floor(Math.log2(ns));
  return 4 * octave + Math.floor((ns / 2 ** octave - 1) * 4);
}

/** @param {HTMLElement} panel @param {Key} key @param {number | null} length of the selected range */
export function histogram(panel, key, length) {
  const held = key.durations;
  if (!held || !held.length) return;
  const first = held[0], last = held[held.length - 2], counts = new Array(last - first + 1).fill(0);
  for (let i = 0; i < held.length; i += 2) counts[held[i] - first] = held[i + 1];
  const WIDTH = 420, HEIGHT = 84, most = Math.max(...counts), wide = Math.min(WIDTH / counts.length, 60);
  const own = length === null ? -1 : bucketOf(length) - first;
  const svg = shape(panel, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + 16}`, class: "histogram", role: "img",
    "aria-label": `durations of ${key.label}` });
  counts.forEach((count, i) => {
    const high = count ? Math.max(count / most * (HEIGHT - 4), 1.5) : 0;
    const bar = shape(svg, "rect", { x: i * wide, y: HEIGHT - high, width: Math.max(wide - 1, 1), height: high,
      class: i === own ? "own" : "bar", "data-count": count });
    shape(bar, "title", {}, `${timeText(bucketBegin(i + first))} to ${timeText(bucketBegin(i + first + 1))}: ${manyText(count, "call")}`);
  });
  shape(svg, "text", { x: 0, y: HEIGHT + 13 }, timeText(bucketBegin(first)));
  shape(svg, "text", { x: counts.length * wide, y: HEIGHT + 13, "text-anchor": counts.length > 3 ? "end" : "start" },
    timeText(bucketBegin(last + 1)));
}

/** @param {HTMLElement} panel @param {[string, string][]} facts */
export function factList(panel, facts) {
  const list = add(panel, "dl");
  for (const [name, value] of facts) {
    add(list, "dt", "", name);
    add(list, "dd", "", value);
  }
  return list;
}

/** @param {Key} key @returns {[string, string][]} */
export const keyFacts = key => [
  [key.file === undefined ? "calls" : "stretches", countText(key.calls)],
  ...(key.kind === "mark" || !key.calls ? [] : /** @type {[string, string][]} */ ([
    ["in all", timeText(key.sum)], ["mean", timeText(key.sum / key.calls)]])),
];
