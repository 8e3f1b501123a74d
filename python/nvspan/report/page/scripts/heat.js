// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The heat map of ranks and steps: a pixel has the largest value of what lies in it, and cells that
// are much above the others are drawn large enough to be seen.
import { isDark, themeOf } from "./colors.js";
import { add, button, timeText } from "./format.js";
import { HeatBins } from "./heat_bins.js";
import { showTip } from "./input.js";

/**
 * @typedef {import("./heat_bins.js").Metric} Metric
 * @typedef {{row: number, column: number, x: number, y: number, width: number, height: number, value: number,
 *   fill: string}} DrawnCell
 */

const LEFT = 64, BOTTOM = 24, ROW_HEIGHT = 18, MOST_HEIGHT = 520, LEAST_CELL = 5, MOST_OUTLIERS = 30, OUTLIER = 0.25;
// From what is usual to what is slow: each is darker than the one before (in the dark: lighter), so
// that the order is seen without telling hues apart.
const HEAT_STOPS = { light: ["#f2f4f7", "#fbd98b", "#ee8a4a", "#b03a5b", "#35105f"],
  dark: ["#20262d", "#5b2f86", "#b8436a", "#f0924f", "#fff0a8"] };
const METRICS = /** @type {[Metric, string, string][]} */ ([
  ["late", "Arrival", "how much later than the median rank it came to a collective of the step"],
  ["duration", "Step", "how long the step took"]]);

/** @param {string} color */
const partsOf = color => [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16));

/** @param {number} part 0 to 1 @param {boolean} dark */
export function heatColor(part, dark) {
  const stops = dark ? HEAT_STOPS.dark : HEAT_STOPS.light;
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2);
  const [from, to] = [partsOf(stops[low]), partsOf(stops[low + 1])];
  return from.map((value, i) => Math.round(value + (to[i] - value) * (at - low)));
}

/** @param {number[]} numbers @param {string} word */
export function namesOf(numbers, word) {
  const [first, last] = [numbers[0], numbers[numbers.length - 1]];
  return numbers.length === 1 ? `${word} ${first}` : `${word}s ${first} to ${last}`;
}

export class HeatMap {
  /** @param {HTMLElement} parent @param {import("./heat_bins.js").HeatData} data @param {(column: number, row: number) => void} choose */
  constructor(parent, data, choose) {
    this.bins = new HeatBins(data);
    this.choose = choose;
    /** @type {Metric} */
    this.metric = "late";
    /** @type {[number, number] | null} */
    this.chosen = null;
    /** @type {DrawnCell[]} */
    this.outliers = [];
    this.values = new Float64Array(0);
    this.most = 0;
    this.dark = false;
    const bar = add(parent, "div", "tools");
    this.buttons = METRICS.map(([metric, text, title]) => button(bar, text, title, () => this.show(metric)));
    this.meaning = add(bar, "span", "soft");
    this.legend = add(bar, "span", "span legend");
    this.canvas = /** @type {HTMLCanvasElement} */ (add(parent, "canvas", "heat"));
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.tip = add(parent, "div", "tip");
    this.canvas.onpointermove = event => this.hover(event);
    this.canvas.onpointerleave = () => showTip(this.tip, null, []);
    this.canvas.onclick = event => {
      const at = this.at(event);
      if (at) this.select(...at);
    };
    this.canvas.onkeydown = event => this.key(event);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.show("late");
  }
  /** @param {Metric} metric */
  show(metric) {
    const { bins } = this;
    this.metric = metric;
    this.values = new Float64Array(bins.rows * bins.columns);
    this.most = 0;
    for (let row = 0; row < bins.rows; row++)
      for (let column = 0; column < bins.columns; column++) {
        const value = bins.value(row, column, metric);
        this.values[row * bins.columns + column] = value;
        this.most = Math.max(this.most, value);
      }
    METRICS.forEach(([name, , meaning], i) => {
      this.buttons[i].setAttribute("aria-pressed", String(name === metric));
      if (name === metric) this.meaning.textContent = meaning;
    });
    this.canvas.setAttribute("aria-label", `heat map of ${bins.ranks.length} ranks and ${bins.steps.length} steps: ${this.meaning.textContent}`);
    this.draw();
  }
  get size() {
    const { rows, columns } = this.bins, width = Math.max(this.canvas.clientWidth - LEFT, 1);
    const height = Math.min(rows * ROW_HEIGHT, MOST_HEIGHT);
    return { width, height, wide: width / columns, high: height / rows };
  }
  /** @param {number} value */
  part(value) { return this.most ? Math.sqrt(value / this.most) : 0; }
  draw() {
    const { canvas } = this, { width, height } = this.size, ratio = devicePixelRatio || 1;
    if (!canvas.clientWidth) return;
    canvas.style.height = height + BOTTOM + "px";
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round((height + BOTTOM) * ratio);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.dark = isDark(canvas);
    pen.putImageData(this.image(pen, Math.round(width * ratio), Math.round(height * ratio)), Math.round(LEFT * ratio), 0);
    pen.scale(ratio, ratio);
    const theme = themeOf(canvas);
    this.drawOutliers(pen);
    this.drawLabels(pen, theme.soft);
    if (this.chosen) {
      const [row, column] = this.chosen, { wide, high } = this.size;
      pen.strokeStyle = theme.accent;
      pen.lineWidth = 2;
      pen.strokeRect(LEFT + column * wide, row * high, Math.max(wide, 2), Math.max(high, 2));
    }
    const ends = [0, 0.25, 0.5, 0.75, 1];
    this.legend.textContent = "0 ";
    const scale = add(this.legend, "i");
    scale.style.background = `linear-gradient(90deg, ${ends.map(end => `rgb(${heatColor(end, this.dark)})`).join(", ")})`;
    this.legend.append(` ${timeText(this.most)}`);
    this.legend.title = `the middle is ${timeText(this.most / 4)}`;
  }
  /** @param {CanvasRenderingContext2D} pen @param {number} width @param {number} height of the map in pixels of the device */
  image(pen, width, height) {
    const { rows, columns } = this.bins, largest = new Float64Array(width * height), { values } = this;
    for (let row = 0; row < rows; row++) {
      const top = Math.floor(row * height / rows), bottom = Math.max(Math.floor((row + 1) * height / rows), top + 1);
      for (let column = 0; column < columns; column++) {
        const left = Math.floor(column * width / columns), right = Math.max(Math.floor((column + 1) * width / columns), left + 1);
        const value = values[row * columns + column];
        for (let y = top; y < bottom; y++)
          for (let x = left; x < right; x++) if (value > largest[y * width + x]) largest[y * width + x] = value;
      }
    }
    const image = pen.createImageData(width, height), table = Array.from({ length: 256 }, (_, i) => heatColor(i / 255, this.dark));
    for (let i = 0; i < largest.length; i++) {
      const color = table[Math.round(255 * this.part(largest[i]))];
      image.data.set(color, 4 * i);
      image.data[4 * i + 3] = 255;
    }
    return image;
  }
  /** @param {CanvasRenderingContext2D} pen */
  drawOutliers(pen) {
    const { bins } = this, { wide, high } = this.size, { values } = this, least = this.most * OUTLIER;
    const odd = [...values.keys()].filter(i => least && values[i] >= least).sort((a, b) => values[b] - values[a]);
    const few = odd.length <= values.length / 20 ? odd.slice(0, MOST_OUTLIERS) : [];
    this.outliers = few.reverse().map(i => {
      const row = Math.floor(i / bins.columns), column = i % bins.columns;
      const width = Math.max(wide, LEAST_CELL), height = Math.max(high, LEAST_CELL);
      return { row, column, value: values[i], width, height, fill: `rgb(${heatColor(this.part(values[i]), this.dark)})`,
        x: LEFT + (column + 0.5) * wide - width / 2, y: Math.max((row + 0.5) * high - height / 2, 0) };
    });
    for (const { x, y, width, height, fill } of this.outliers) {
      pen.fillStyle = fill;
      pen.fillRect(x, y, width, height);
    }
  }
  /** @param {CanvasRenderingContext2D} pen @param {string} color */
  drawLabels(pen, color) {
    const { bins } = this, { width, height, wide, high } = this.size;
    pen.fillStyle = color;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const down = Math.ceil(14 / high), across = Math.ceil(60 / wide);
    for (let row = 0; row < bins.rows; row += down) pen.fillText(`rank ${bins.ranksOf(row)[0]}`, LEFT - 6, Math.max((row + 0.5) * high, 6));
    pen.textAlign = "left";
    for (let column = 0; column < bins.columns; column += across) {
      const x = LEFT + column * wide;
      if (x + 50 <= LEFT + width) pen.fillText(column ? String(bins.stepsOf(column)[0]) : `step ${bins.stepsOf(0)[0]}`, x, height + 13);
    }
  }
  /** @param {MouseEvent} event @returns {[number, number] | null} row and column */
  at(event) {
    const box = this.canvas.getBoundingClientRect(), { wide, high } = this.size;
    const x = event.clientX - box.left, y = event.clientY - box.top;
    // The one that was drawn last lies on top.
    const [odd] = this.outliers.filter(each => x >= each.x && x < each.x + each.width && y >= each.y && y < each.y + each.height).slice(-1);
    if (odd) return [odd.row, odd.column];
    const row = Math.floor(y / high), column = Math.floor((x - LEFT) / wide);
    return row >= 0 && row < this.bins.rows && column >= 0 && column < this.bins.columns ? [row, column] : null;
  }
  /** @param {PointerEvent} event */
  hover(event) {
    const at = this.at(event);
    showTip(this.tip, at && event, at ? this.tipOf(...at) : []);
  }
  /** @param {number} row @param {number} column */
  tipOf(row, column) {
    const { bins } = this, ranks = bins.ranksOf(row), steps = bins.stepsOf(column);
    const late = bins.cell(row, column, "late"), long = bins.cell(row, column, "duration");
    const many = ranks.length * steps.length > 1;
    const lines = [`${namesOf(ranks, "rank")}, ${namesOf(steps, "step")}`];
    const whose = (/** @type {import("./heat_bins.js").HeatCell} */ cell) => many ? ` (rank ${cell.rank}, step ${cell.step})` : "";
    lines.push(late.value ? `came ${timeText(late.value)} after the median rank${whose(late)}` : "not later than the median rank");
    lines.push(long.value ? `${many ? "the longest step" : "its step"} took ${timeText(long.value)}${whose(long)}` : "the step's duration was not recorded");
    return lines;
  }
  /** @param {number} row @param {number} column */
  select(row, column) {
    this.chosen = [row, column];
    this.draw();
    this.choose(column, row);
  }
  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, [number, number]>} */
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    const [row, column] = this.chosen || [0, 0];
    const keep = (/** @type {number} */ value, /** @type {number} */ count) => Math.min(Math.max(value, 0), count - 1);
    this.select(keep(row + move[0], this.bins.rows), keep(column + move[1], this.bins.columns));
    event.preventDefault();
  }
}
