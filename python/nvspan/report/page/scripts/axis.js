// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The axis of time, and the part of the whole that is shown.
import { timeText } from "./format.js";

export const AXIS = 30;

/**
 * The distance of marks of which at most `most` fit into `size` ns.
 * @param {number} size @param {number} most
 */
export function tickOf(size, most) {
  const least = size / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find(factor => factor * power >= least) || 10;
  return Math.max(step * power, 1);
}

/**
 * As many digits as the distance of marks needs.
 * @param {number} ns @param {number} step
 */
export function tickText(ns, step) {
  const far = Math.max(Math.abs(ns), step);
  const [unit, size] = /** @type {[string, number]} */ (
    [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]].find(pair => far >= pair[1]) || ["ns", 1]);
  const digits = Math.min(Math.max(Math.ceil(Math.log10(size / step) - 1e-9), 0), 9);
  return `${(ns / size).toFixed(digits)} ${unit}`;
}

/**
 * @param {CanvasRenderingContext2D} pen @param {number} width @param {number} from @param {number} to
 * @param {number} offset @param {number} whole @param {{text: string, line: string, accent: string}} theme
 * @returns {{x: number, text: string}[]} the marks that it drew
 */
export function drawAxis(pen, width, from, to, offset, whole, theme) {
  const scale = width / (to - from), step = tickOf(to - from, width / 90), marks = [];
  pen.clearRect(0, 0, width, AXIS);
  pen.fillStyle = theme.line;
  pen.fillRect(0, 0, width, 4);
  pen.fillStyle = theme.accent;
  pen.fillRect(from / whole * width, 0, Math.max((to - from) / whole * width, 2), 4);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (let at = Math.ceil((from + offset) / step) * step; at <= to + offset; at += step) {
    const x = (at - offset - from) * scale, text = tickText(at, step);
    pen.fillStyle = theme.line;
    pen.fillRect(Math.round(x), AXIS - 8, 1, 8);
    pen.fillStyle = theme.text;
    const room = pen.measureText(text).width;
    pen.fillText(text, Math.min(Math.max(x - room / 2, 2), width - room - 2), 14);
    marks.push({ x, text });
  }
  return marks;
}

/**
 * What the axis says of the span.
 * @param {number} from @param {number} to @param {number} offset
 */
export const spanText = (from, to, offset) =>
  `${timeText(from + offset)} to ${timeText(to + offset)} (${timeText(to - from)})`;
