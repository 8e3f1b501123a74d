// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// A counter's values over time.
import { add, timeText, valueText } from "./format.js";

/**
 * @typedef {import("./decode.js").Counter} Counter
 * @typedef {import("./timeline.js").Timeline} Timeline
 */

const HEIGHT = 44;

export class CounterLane {
  /** @param {Timeline} timeline @param {Counter} counter @param {HTMLElement} parent */
  constructor(timeline, counter, parent) {
    this.timeline = timeline;
    this.counter = counter;
    this.element = add(parent, "div", "lane");
    this.element.dataset.kind = "counter";
    const label = add(this.element, "div", "lane-label", counter.label);
    this.unit = counter.unit ? " " + counter.unit : "";
    this.least = counter.least || counter.last;
    this.greatest = counter.greatest || counter.last;
    this.low = Math.min(0, ...this.least);
    this.high = Math.max(...this.greatest);
    if (this.high === this.low) this.high = this.low + 1;
    label.title = `${counter.label}: ${counter.samples} samples, up to ${valueText(this.high)}${this.unit}`;
    add(label, "span", "soft", ` ${valueText(Math.max(...this.greatest))}${this.unit}`);
    this.canvas = /** @type {HTMLCanvasElement} */ (add(this.element, "canvas"));
    this.canvas.style.height = HEIGHT + "px";
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label.title);
    this.inView = false;
    let at = 0;
    this.times = Float64Array.from(counter.times, by => at += by);
  }
  /**
   * The last sample at a time or before it, -1: none.
   * @param {number} time
   */
  indexAt(time) {
    let low = 0, high = this.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] <= time) low = middle + 1; else high = middle;
    }
    return low - 1;
  }
  draw() {
    const { canvas, timeline, times } = this, { model, theme, log } = timeline;
    const width = canvas.clientWidth, ratio = devicePixelRatio || 1;
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = HEIGHT * ratio;
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    const scale = width / (model.to - model.from), base = HEIGHT - 3;
    const y = (/** @type {number} */ value) => base - (value - this.low) / (this.high - this.low) * (HEIGHT - 8);
    pen.fillStyle = pen.strokeStyle = theme.accent;
    for (let i = Math.max(this.indexAt(model.from), 0); i < times.length && times[i] <= model.to; i++) {
      const left = Math.max((times[i] - model.from) * scale, 0);
      const next = i + 1 < times.length ? times[i + 1] : this.timeline.model.whole;
      const right = Math.min((next - model.from) * scale, width), top = y(this.counter.last[i]);
      pen.globalAlpha = 0.3;
      pen.fillRect(left, Math.min(top, y(0)), Math.max(right - left, 0.7), Math.max(Math.abs(y(0) - top), 1));
      pen.globalAlpha = 1;
      pen.fillRect(left, top - 0.5, Math.max(right - left, 1), 1.2);
      if (this.counter.least) pen.fillRect(left, y(this.greatest[i]), 1, Math.max(y(this.least[i]) - y(this.greatest[i]), 1));
      if (log) log.push({ lane: this.counter.label, level: 0, index: i, x: left, y: top, width: right - left, height: base - top,
        name: this.counter.label, count: 1, fill: theme.accent, state: "counter" });
    }
  }
  /** @param {number} x */
  tip(x) {
    const { model, data } = this.timeline;
    const at = model.from + x * (model.to - model.from) / this.canvas.clientWidth, i = this.indexAt(at);
    if (i < 0) return [];
    const value = this.least[i] === this.greatest[i] ? valueText(this.counter.last[i])
      : `${valueText(this.least[i])} to ${valueText(this.greatest[i])}`;
    return [`${this.counter.label}: ${value}${this.unit}`, `since ${timeText(this.times[i] + data.offset)}`];
  }
}
