// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// A flame graph, the outermost on top: how wide a path is, is how long it took. What paths are of,
// and what can be chosen, is of the classes that extend it.
import { isDark, paintOf, themeOf } from "./colors.js";
import { add, button, manyText, percentText, shortName, timeText } from "./format.js";
import { showTip } from "./input.js";
import { clipped } from "./lane.js";
import { searchField } from "./model.js";
import { newNode } from "./tree.js";

/**
 * @typedef {import("./tree.js").Look} Look
 * @typedef {import("./tree.js").Node} Node
 * @typedef {import("./model.js").Model} Model
 * @typedef {{node: Node, x: number, level: number, width: number, rest: boolean}} Cell
 */

const LINE = 18, LEAST = 0.4;

/** @param {HTMLElement} bar @param {string} label @param {() => void} act */
export function selector(bar, label, act) {
  const made = document.createElement("select");
  made.setAttribute("aria-label", label);
  made.title = label;
  made.onchange = act;
  bar.appendChild(made);
  return made;
}

export class FlameGraph {
  /** @param {HTMLElement} root @param {Look[]} looks @param {Model} model @param {string} help @param {string} note */
  constructor(root, looks, model, help, note) {
    this.root = root;
    this.looks = looks;
    this.model = model;
    this.dark = false;
    /** @type {(import("./colors.js").Paint | undefined)[]} */
    this.painted = [];
    /** @type {Cell[]} */
    this.cells = [];
    this.top = this.focus = newNode(-1, null, 0);
    this.label = "";
    root.classList.add("icicle");
    const bar = add(root, "div", "tools");
    searchField(bar, model, "Search paths");
    this.found = add(bar, "span", "soft found");
    this.choices = add(bar, "span", "choices");
    this.order = selector(bar, "order of what is within a range", () => this.zoomTo(this.top));
    for (const text of ["largest first", "as they came"]) add(this.order, "option", "", text);
    this.out = button(bar, "Zoom out", "show all of it", () => this.zoomTo(this.top));
    this.canvas = /** @type {HTMLCanvasElement} */ (add(add(root, "div", "flame"), "canvas"));
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "flame graph");
    add(root, "p", "soft help", help);
    if (note) add(root, "p", "soft merged", note);
    this.box = add(root, "div", "tip");
    this.watch();
  }
  watch() {
    const { canvas, model } = this;
    canvas.onpointermove = event => {
      const cell = this.cellAt(event.offsetX, event.offsetY);
      canvas.style.cursor = cell ? "pointer" : "default";
      showTip(this.box, event, cell ? this.tip(cell) : []);
    };
    canvas.onpointerleave = () => showTip(this.box, null, []);
    canvas.onclick = event => {
      const cell = this.cellAt(event.offsetX, event.offsetY);
      if (cell && !cell.rest) this.zoomTo(cell.node);
    };
    model.listen(what => { if (["search", "theme", "shown"].includes(what)) this.draw(); });
    new ResizeObserver(() => this.draw()).observe(canvas);
    addEventListener("beforeprint", () => this.draw());
    addEventListener("afterprint", () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }
  /**
   * Another tree.
   * @param {{top: Node, label: string}} tree
   */
  show({ top, label }) {
    this.top = top;
    this.label = label;
    this.zoomTo(top);
  }
  /** @param {Node} node */
  zoomTo(node) {
    this.focus = node;
    this.out.disabled = node === this.top;
    this.draw();
  }
  /** @param {Node} node */
  name(node) { return node.look < 0 ? this.label : this.looks[node.look][0]; }
  /**
   * Without its domain.
   * @param {Node} node
   */
  short(node) { return node.look < 0 ? this.name(node) : shortName(this.name(node), this.looks[node.look][3]); }
  /**
   * Where every node stands that can be seen.
   * @param {number} width @returns {Cell[]}
   */
  layout(width) {
    /** @type {Cell[]} */
    const cells = [];
    const around = [];
    for (let node = this.focus.parent; node; node = node.parent) around.unshift(node);
    around.forEach((node, level) => cells.push({ node, x: 0, level, width, rest: false }));
    const largest = this.order.selectedIndex <= 0;
    /** @param {Node} node @param {number} x @param {number} wide @param {number} level */
    const place = (node, x, wide, level) => {
      cells.push({ node, x, level, width: wide, rest: false });
      const children = largest ? [...node.children].sort((a, b) => b.total - a.total) : node.children;
      const within = children.reduce((sum, child) => sum + child.total, 0);
      const scale = wide / Math.max(node.total, within, 1);
      let at = x, left = 0;
      for (const child of children) {
        const size = child.total * scale;
        if (size >= LEAST) place(child, at, size, level + 1); else left += size;
        at += size;
      }
      const folded = node.folded ? Math.max(node.total - node.self - within, 0) * scale : 0;
      if (left + folded > 1) cells.push({ node, x: largest ? at - left : at, level: level + 1, width: largest ? left + folded : folded, rest: true });
    };
    place(this.focus, 0, width, around.length);
    return cells;
  }
  /** Time in what is searched for, as part of what is shown: a path within another one counts once. */
  matched() {
    let time = 0, names = new Set();
    /** @param {Node} node */
    const visit = node => {
      if (node.look >= 0 && this.model.matches(this.name(node))) {
        time += node.total;
        names.add(node.look);
      } else node.children.forEach(visit);
    };
    visit(this.focus);
    return { time, names: names.size };
  }
  draw() {
    const { canvas, model, root } = this, width = canvas.clientWidth, ratio = devicePixelRatio || 1;
    if (!width) return;
    const dark = isDark(root), theme = themeOf(root);
    if (dark !== this.dark) this.painted = [];
    this.dark = dark;
    this.cells = this.layout(width);
    const height = (Math.max(...this.cells.map(cell => cell.level)) + 1) * LINE + 2;
    canvas.style.height = height + "px";
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    for (const cell of this.cells) this.drawCell(pen, cell, theme);
    const { time, names } = this.matched(), whole = this.focus.total || 1;
    this.found.textContent = model.query === "" ? "" : `${percentText(time / whole)} in ${manyText(names, "name")}`;
  }
  /** @param {CanvasRenderingContext2D} pen @param {Cell} cell @param {{text: string, line: string, soft: string, mark: string}} theme */
  drawCell(pen, cell, theme) {
    const { node, x, level, width, rest } = cell, y = level * LINE + 1, { model } = this;
    const wide = Math.max(width - (width > 3 ? 1 : 0), 0.5), isAround = width === this.canvas.clientWidth && node !== this.focus;
    const hit = !rest && node.look >= 0 && model.matches(this.name(node));
    const paint = node.look < 0 || rest ? { fill: theme.line, text: theme.text } : this.paint(node.look);
    pen.globalAlpha = model.query !== "" && !hit ? 0.25 : isAround ? 0.6 : 1;
    pen.fillStyle = paint.fill;
    pen.fillRect(x, y, wide, LINE - 1);
    if (hit && wide > 3) {
      pen.strokeStyle = theme.mark;
      pen.lineWidth = 1.5;
      pen.strokeRect(x + 0.75, y + 0.75, wide - 1.5, LINE - 2.5);
    }
    if (wide < 24) {
      pen.globalAlpha = 1;
      return;
    }
    pen.globalAlpha = model.query !== "" && !hit ? 0.6 : 1;
    pen.fillStyle = model.query !== "" && !hit ? theme.text : paint.text;
    const share = this.top.total ? ` ${percentText(node.total / this.top.total)}` : "";
    clipped(pen, rest ? "smaller ones" : this.short(node) + (wide > 160 ? ` · ${timeText(node.total)}${share}` : ""), x + 4, x + wide - 2, y + LINE / 2);
    pen.globalAlpha = 1;
  }
  /** @param {number} look */
  paint(look) { return this.painted[look] || (this.painted[look] = this.paintOf(this.looks[look])); }
  /** @param {Look} look @returns {import("./colors.js").Paint} */
  paintOf([label, , color]) { return paintOf(label, color, this.dark); }
  /** @param {number} x @param {number} y */
  cellAt(x, y) {
    const level = Math.floor((y - 1) / LINE);
    return this.cells.find(cell => cell.level === level && x >= cell.x && x <= cell.x + Math.max(cell.width, 1)) || null;
  }
  /** @param {Cell} cell @returns {string[]} */
  tip({ node }) { return [this.name(node)]; }
  /** What is drawn, for programs. */
  drawn() {
    return this.cells.map(cell => ({ name: cell.rest ? "" : this.name(cell.node), x: cell.x, level: cell.level,
      width: cell.width, total: cell.node.total, self: cell.node.self, calls: cell.node.calls, rest: cell.rest,
      match: !cell.rest && cell.node.look >= 0 && this.model.matches(this.name(cell.node)) }));
  }
}
