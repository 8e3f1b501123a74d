// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The timeline's data: bytes into blocks. See reader/page/timeline_bytes.hpp for their layout.
import { shortName } from "./format.js";

/**
 * @typedef {{label: string, short: string, kind: string, color: string | null, category: string | null,
 *   calls: number, sum: number, durations: number[] | null, file?: string}} Key
 * @typedef {{start: Float64Array, end: Float64Array, key: Uint32Array, flags: Uint8Array,
 *   count: Uint32Array, busy: Float64Array, longest: Float64Array, names: Uint32Array,
 *   launcher: Int32Array, launched: Float64Array, texts: Map<number, number>}} Level
 * @typedef {{label: string, kind: string, process: number, ranges: number, main: boolean, data: string,
 *   shift?: number, keys?: number, names?: number, below?: number}} RawTrack times, keys and sets of names count from
 *   those; a track stands below that of that number
 * @typedef {{label: string, kind: string, process: number, ranges: number, levels: Level[],
 *   marks: Level}} Track
 * @typedef {{label: string, unit: string | null, process: number, samples: number, times: number[],
 *   last: number[], least?: number[], greatest?: number[]}} Counter
 * @typedef {{first: number, last: number, offset: number, resolution: number, note: string,
 *   processes: string[], keys: [string, string, string | null, string | null, number, number,
 *   number[] | null, number, string?][], names: number[][], texts: string[], tracks: RawTrack[],
 *   counters: Counter[]}} TimelineData
 */

/** Numbers of seven bits a byte, the least first; the eighth says that more follow. */
export class Numbers {
  /** @param {string} base64 */
  constructor(base64) {
    const text = atob(base64);
    this.bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) this.bytes[i] = text.charCodeAt(i);
    this.at = 0;
  }
  next() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127, scale = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }
  signed() {
    const value = this.next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

export const UNCLOSED = 2;

/** @param {Numbers} from @param {RawTrack} track @returns {Level} */
function readLevel(from, { kind, shift = 0, keys = 0, names = 0 }) {
  const size = from.next(), isDevice = kind === "device";
  /** @type {Level} */
  const level = {
    start: new Float64Array(size), end: new Float64Array(size), key: new Uint32Array(size),
    flags: new Uint8Array(size), count: new Uint32Array(size).fill(1),
    busy: new Float64Array(size), longest: new Float64Array(size), names: new Uint32Array(size),
    launcher: new Int32Array(isDevice ? size : 0), launched: new Float64Array(isDevice ? size : 0),
    texts: new Map(),
  };
  let at = shift;
  for (let i = 0; i < size; i++) {
    at += from.next();
    const length = from.next(), word = from.next();
    level.start[i] = at;
    level.end[i] = at + length;
    level.flags[i] = word % 4;
    level.key[i] = keys + Math.floor(word / 4);
    level.busy[i] = level.longest[i] = length;
    if (word % 2) {
      level.count[i] = from.next() + 1;
      level.busy[i] = from.next();
      level.longest[i] = from.next();
      level.names[i] = names + from.next();
    }
    if (!isDevice) continue;
    level.launcher[i] = from.next() - 1;
    if (level.launcher[i] >= 0) level.launched[i] = at - from.signed();
  }
  return level;
}

/** @param {RawTrack} raw @returns {Track} */
export function readTrack(raw) {
  const from = new Numbers(raw.data);
  const { label, kind, process, ranges } = raw, count = from.next();
  const levels = [];
  for (let i = 0; i < count; i++) levels.push(readLevel(from, raw));
  const marks = readLevel(from, raw), texts = from.next();
  let last = -1, block = 0;
  for (let i = 0; i < texts; i++) {
    const level = from.next();
    if (level !== last) block = 0;
    last = level;
    block += from.next();
    (levels[level] || marks).texts.set(block, from.next());
  }
  return { label, kind, process, ranges, levels, marks };
}

/** @param {TimelineData["keys"][0]} raw @returns {Key} */
export function readKey([label, kind, color, category, calls, sum, durations, prefix, file]) {
  const short = file === undefined ? shortName(label, prefix) : label.split("  ")[0];
  return { label, short, kind, color, category, calls, sum, durations, file };
}

/**
 * The first block of a level that ends after `from`.
 * @param {Level} level @param {number} from
 */
export function firstAfter(level, from) {
  let low = 0, high = level.end.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (level.end[middle] < from) low = middle + 1; else high = middle;
  }
  return low;
}

/**
 * The block of a level that is open at a time, or -1.
 * @param {Level} level @param {number} time
 */
export function blockAt(level, time) {
  const i = firstAfter(level, time);
  return i < level.start.length && level.start[i] <= time ? i : -1;
}
