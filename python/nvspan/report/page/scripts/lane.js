// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// A lane of the timeline: the ranges of a thread or of a stream, level below level, and its marks.
import { UNCLOSED, blockAt, firstAfter } from "./decode.js";
import { add, countText, manyText, timeText } from "./format.js";

/**
 * @typedef {import("./decode.js").Track} Track
 * @typedef {import("./decode.js").Level} Level
 * @typedef {import("./timeline.js").Timeline} Timeline
 * @typedef {{lane: Lane, level: number, index: number}} Hit a block; level -1: a mark
 */

const ROW = 17, MARKS = 12, DEEP = 8, TEXT = 22;
const OUTER = 4, THIN = 6, THINNEST = 2, FOLDED = 40;  // of a lane that is folded
const NO_MATCH = 0, MATCH = 1, MAYBE = 2;

export class Lane {
  /** @param {Timeline} timeline @param {Track} track @param {number} index @param {HTMLElement} parent */
  constructor(timeline, track, index, parent) {
    this.timeline = timeline;
    this.track = track;
    this.index = index;
    this.element = add(parent, "div", "lane");
    this.element.dataset.kind = track.kind;
    this.top = track.marks.start.length ? MARKS : 0;
    this.canFold = track.levels.length > 1;
    this.folded = track.levels.length > DEEP;
    const label = add(this.element, this.canFold ? "button" : "div", "lane-label");
    this.label = label;
    label.onclick = () => { if (this.canFold) this.fold(!this.folded); };
    this.canvas = /** @type {HTMLCanvasElement} */ (add(this.element, "canvas"));
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${track.label}: ${this.sizeText()}`);
    this.inView = false;
    this.fold(this.folded);
  }
  /** How much the track holds. */
  sizeText() {
    const { kind, ranges } = this.track;
    return kind === "samples" ? `samples, ${manyText(ranges, "change")}` : manyText(ranges, "range");
  }
  /** How many levels have room for names. */
  get wide() {
    const levels = this.track.levels.length;
    return !this.folded ? Math.max(levels, this.top ? 0 : 1) : levels > DEEP ? OUTER : 1;
  }
  get thin() {
    return Math.max(THINNEST, Math.min(THIN, Math.floor(FOLDED / Math.max(this.track.levels.length - this.wide, 1))));
  }
  /** @param {number} level */
  rowOf(level) { return level < this.wide ? ROW : this.thin; }
  /** @param {number} level */
  topOf(level) { return this.top + Math.min(level, this.wide) * ROW + Math.max(level - this.wide, 0) * this.thin; }
  get height() { return this.topOf(Math.max(this.track.levels.length, this.wide)) + 4; }
  /** @param {boolean} folded */
  fold(folded) {
    this.folded = folded;
    const { label, levels } = this.track, sign = this.canFold ? folded ? "▸ " : "▾ " : "";
    this.label.textContent = sign + label;
    this.label.title = `${label}: ${manyText(levels.length, "level")}, ${this.sizeText()}`;
    if (this.canFold) this.label.setAttribute("aria-expanded", String(!folded));
    if (folded) add(this.label, "span", "soft", ` ${levels.length} levels`);
    this.canvas.style.height = this.height + "px";
    this.timeline.redraw();
  }
  /**
   * What the blocks of a level are.
   * @param {number} level
   */
  noun(level) { return level < 0 ? "marks" : this.track.kind === "samples" ? "stretches" : "ranges"; }
  /** @param {number} level */
  blocks(level) { return level < 0 ? this.track.marks : this.track.levels[level]; }
  /**
   * The middle of a level in the canvas.
   * @param {number} level
   */
  yOf(level) { return level < 0 ? this.top / 2 : this.topOf(level) + this.rowOf(level) / 2 + 1; }
  /**
   * The innermost block at a time, as the CPU's launches are looked up.
   * @param {number} time @returns {Hit | null}
   */
  innermost(time) {
    for (let level = this.track.levels.length - 1; level >= 0; level--) {
      const index = blockAt(this.track.levels[level], time);
      if (index >= 0) return { lane: this, level, index };
    }
    return null;
  }
  /**
   * The block at a place of the canvas.
   * @param {number} x @param {number} y @returns {Hit | null}
   */
  hit(x, y) {
    const { model } = this.timeline, scale = (model.to - model.from) / this.canvas.clientWidth;
    const isMark = y < this.top, slack = (isMark ? 5 : 2) * scale, at = model.from + x * scale;
    const down = y - this.top - 1, past = down - this.wide * ROW;
    const level = isMark ? -1 : past < 0 ? Math.floor(down / ROW) : this.wide + Math.floor(past / this.thin);
    const blocks = this.blocks(level);
    if (!blocks) return null;
    let best = -1, distance = Infinity;
    for (let i = firstAfter(blocks, at - slack); i < blocks.start.length && blocks.start[i] <= at + slack; i++) {
      const away = Math.max(blocks.start[i] - at, at - blocks.end[i], 0);
      if (away < distance) [best, distance] = [i, away];
    }
    return best < 0 ? null : { lane: this, level, index: best };
  }
  /**
   * Whether a block is searched for; of several ranges it may not be known.
   * @param {Level} blocks @param {number} i
   */
  state(blocks, i) {
    const { matching, matchingSets } = this.timeline;
    return blocks.count[i] > 1 ? matchingSets[blocks.names[i]] : matching[blocks.key[i]];
  }
  draw() {
    const { canvas, timeline } = this, { model, theme } = timeline;
    const width = canvas.clientWidth, height = this.height, ratio = devicePixelRatio || 1;
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.fillStyle = theme.line;
    pen.globalAlpha = 0.5;
    for (const mark of timeline.ticks) pen.fillRect(Math.round(mark.x), 0, 1, height);
    pen.globalAlpha = 1;
    const states = model.query === "" ? [-1] : [NO_MATCH, MAYBE, MATCH];
    for (const state of states) {
      this.track.levels.forEach((_, level) => this.drawLevel(pen, level, width, state));
      this.drawMarks(pen, width, state);
    }
    this.drawSelected(pen, width);
  }
  /** @param {CanvasRenderingContext2D} pen @param {number} level @param {number} width @param {number} wanted */
  drawLevel(pen, level, width, wanted) {
    const { timeline } = this, { model, paints, keys, theme, log } = timeline;
    const blocks = this.track.levels[level], row = this.rowOf(level);
    const top = this.topOf(level) + 1, high = Math.max(row - 1, 1);
    const scale = width / (model.to - model.from), least = wanted > 0 ? 2 : 0.8;
    let last = -10;
    for (let i = firstAfter(blocks, model.from); i < blocks.start.length; i++) {
      if (blocks.start[i] > model.to) break;
      if (wanted >= 0 && this.state(blocks, i) !== wanted) continue;
      const left = Math.max((blocks.start[i] - model.from) * scale, -2);
      const right = Math.min((blocks.end[i] - model.from) * scale, width + 2);
      const wide = Math.max(right - left - (right - left > 3 ? 0.7 : 0), least);
      if (left + wide < last + 0.7) continue;  // nothing of it would be seen
      last = left + wide;
      const key = blocks.key[i], many = blocks.count[i] > 1, paint = paints(key);
      const busy = blocks.busy[i] / (blocks.end[i] - blocks.start[i] || 1);
      pen.globalAlpha = wanted === NO_MATCH ? 0.2 : many ? 0.45 + 0.55 * Math.min(busy, 1)
        : blocks.flags[i] & UNCLOSED ? 0.65 : 1;
      pen.fillStyle = many ? paint.soft : paint.fill;
      pen.fillRect(left, top, wide, high);
      if (wanted > 0 && wide > 2.5 && row > 4) {
        pen.globalAlpha = 1;
        pen.strokeStyle = theme.mark;
        pen.setLineDash(wanted === MAYBE ? [3, 3] : []);
        pen.lineWidth = 1.5;
        pen.strokeRect(left + 0.75, top + 0.75, wide - 1.5, high - 1.5);
        pen.setLineDash([]);
      }
      if (wide > TEXT && row >= 12 && wanted !== NO_MATCH) {
        pen.globalAlpha = 1;
        pen.fillStyle = many ? theme.text : paint.text;
        const text = (many ? `${blocks.count[i]}x ` : "") + keys[key].short + (blocks.flags[i] & UNCLOSED ? " (did not end)" : "");
        clipped(pen, text, Math.max(left, 0) + 4, Math.min(left + wide, width) - 3, top + high / 2 + 0.5);
      }
      if (log) log.push({ lane: this.track.label, level, index: i, x: left, y: top, width: wide, height: high,
        name: keys[key].label, count: blocks.count[i], fill: many ? paint.soft : paint.fill,
        state: wanted < 0 ? "" : ["faded", "match", "maybe"][wanted] });
    }
    pen.globalAlpha = 1;
  }
  /** @param {CanvasRenderingContext2D} pen @param {number} width @param {number} wanted */
  drawMarks(pen, width, wanted) {
    const { model, paints, keys, log } = this.timeline, marks = this.track.marks;
    const scale = width / (model.to - model.from), half = MARKS / 2;
    let last = -10;
    for (let i = firstAfter(marks, model.from - 5 / scale); i < marks.start.length; i++) {
      const x = (marks.start[i] - model.from) * scale;
      if (x > width + 5) break;
      if (wanted >= 0 && this.state(marks, i) !== wanted) continue;
      if (x < last + 1.5) continue;
      last = x;
      pen.globalAlpha = wanted === NO_MATCH ? 0.25 : 1;
      pen.fillStyle = paints(marks.key[i]).fill;
      pen.beginPath();
      pen.moveTo(x, MARKS - 1);
      pen.lineTo(x - half + 1, half);
      pen.lineTo(x, 1);
      pen.lineTo(x + half - 1, half);
      pen.fill();
      if (log) log.push({ lane: this.track.label, level: -1, index: i, x, y: 1, width: 0, height: MARKS,
        name: keys[marks.key[i]].label, count: marks.count[i], fill: paints(marks.key[i]).fill,
        state: wanted < 0 ? "" : ["faded", "match", "maybe"][wanted] });
    }
    pen.globalAlpha = 1;
  }
  /**
   * Outlines what is selected, and dashed what launched it or what it launched.
   * @param {CanvasRenderingContext2D} pen @param {number} width
   */
  drawSelected(pen, width) {
    const { selected, tied, theme } = this.timeline;
    if (!selected) return;
    pen.lineWidth = 2;
    pen.strokeStyle = theme.mark;
    pen.setLineDash([4, 3]);
    for (const hit of tied) if (hit.lane === this) this.outline(pen, width, hit);
    pen.setLineDash([]);
    pen.strokeStyle = theme.text;
    if (selected.lane === this) this.outline(pen, width, selected);
  }
  /** @param {CanvasRenderingContext2D} pen @param {number} width @param {Hit} hit */
  outline(pen, width, { level, index }) {
    const { model } = this.timeline, blocks = this.blocks(level), scale = width / (model.to - model.from);
    const left = Math.max((blocks.start[index] - model.from) * scale, -4);
    const right = Math.min((blocks.end[index] - model.from) * scale, width + 4);
    if (right < -4 || left > width + 4) return;
    const isMark = level < 0, row = isMark ? MARKS : this.rowOf(level), top = isMark ? 0 : this.topOf(level);
    pen.strokeRect(left - (isMark ? 6 : 1), top + 1, Math.max(right - left, 1) + (isMark ? 12 : 2), Math.max(row - 1, 3));
  }
  /** @param {Hit} hit */
  tip(hit) {
    const blocks = this.blocks(hit.level), i = hit.index, { keys, data } = this.timeline;
    const key = keys[blocks.key[i]], length = blocks.end[i] - blocks.start[i];
    const at = timeText(blocks.start[i] + data.offset), lines = [];
    if (blocks.count[i] > 1) {
      lines.push(`${countText(blocks.count[i])} ${this.noun(hit.level)} in ${timeText(length)}, at ${at}`);
      if (hit.level >= 0) lines.push(`${timeText(blocks.busy[i])} in them; the longest: ${key.label}, ${timeText(blocks.longest[i])}`);
      const names = data.names[blocks.names[i]];
      lines.push(names.length ? `of ${names.map(name => keys[name].label).join(", ")}` : "of many names");
      return lines;
    }
    lines.push(key.label + (hit.level < 0 ? ` (mark) at ${at}` : ` — ${timeText(length)} at ${at}`));
    if (blocks.flags[i] & UNCLOSED) lines.push("did not end: drawn until the last known moment");
    const text = blocks.texts.get(i);
    if (text !== undefined) lines.push(`payload: ${data.texts[text]}`);
    const parent = this.parent(hit);
    if (parent) lines.push(`in: ${parent}`);
    if (key.category !== null) lines.push(`category: ${key.category}`);
    return lines;
  }
  /**
   * What is around a block.
   * @param {Hit} hit
   */
  parent(hit) {
    const { keys } = this.timeline, time = this.blocks(hit.level).start[hit.index];
    for (let level = (hit.level < 0 ? this.track.levels.length : hit.level) - 1; level >= 0; level--) {
      const blocks = this.track.levels[level], i = blockAt(blocks, time);
      if (i >= 0) return blocks.count[i] > 1 ? `${blocks.count[i]} ${this.noun(level)}` : keys[blocks.key[i]].label;
    }
    return "";
  }
}

/**
 * What a text can be shortened to, the most of it first: `h.0.mlp (backward) · 3 ms` to `h.0.mlp` and `.mlp`.
 * @param {string} text
 */
function shorter(text) {
  const timed = text.replace(/ · .*$/, ""), named = timed.replace(/ \([^()]*\)$/, "");
  return [...new Set([timed, named, named.replace(/^(?:\w+\.)*\d+(?=\.[A-Za-z_]\w*$)/, "")])];
}

/**
 * Text that ends before `right`: as much of it as there is room for.
 * @param {CanvasRenderingContext2D} pen @param {string} text @param {number} left @param {number} right @param {number} y
 */
export function clipped(pen, text, left, right, y) {
  const room = right - left, fits = (/** @type {string} */ part) => pen.measureText(part).width <= room;
  if (room < 8) return;
  if (!fits(text)) {
    const parts = shorter(text), part = parts.find(fits);
    text = part === undefined ? parts[parts.length - 1] : part;
    if (part === undefined) {
      let low = 0, high = text.length;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (fits(text.slice(0, middle) + "…")) low = middle; else high = middle - 1;
      }
      if (low < 2) return;
      text = text.slice(0, low) + "…";
    }
  }
  pen.fillText(text, left, y);
}
