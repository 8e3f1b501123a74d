// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The flame graph of samples: ranges above, functions below, and the lines of the one that is clicked.
import { paintOf, paintOfFunction } from "./colors.js";
import { FlameGraph, selector } from "./flame.js";
import { add, countText, manyText, marginText, percentText, timeText } from "./format.js";
import { EVERYTHING, hotKey, linesWithin, ON_CORE, READY, readSampled, timeOf, WAITING, weighed } from "./sampled.js";

/**
 * @typedef {import("./sampled.js").SampledNode} SampledNode
 * @typedef {import("./sampled.js").SampledRoot} SampledRoot
 * @typedef {import("./sampled.js").SampledData} SampledData
 * @typedef {import("./sampled.js").Line} Line
 */

const KINDS = [[EVERYTHING, "all time"], [ON_CORE, "on a core"], [WAITING, "waiting"], [READY, "waiting for a core"]];
const MOST_HOTTEST = 10, MOST_LINES = 200, LEAST_PART = 0.01;

export class SampledFlame extends FlameGraph {
  /** @param {HTMLElement} root @param {SampledData} data @param {import("./model.js").Model} model */
  constructor(root, data, model) {
    super(root, data.looks, model,
      "width: time of the samples, of all threads that are shown · click: zoom, and the lines · a function that calls itself is one", data.note);
    this.data = data;
    const { roots, hot } = readSampled(data);
    this.roots = roots;
    this.hot = hot;
    const all = weighed(this.roots, "", EVERYTHING).top;
    this.kinds = KINDS.filter(([kind]) => kind === EVERYTHING || timeOf(all.times, Number(kind)) >= LEAST_PART * all.total);
    this.kind = selector(this.choices, "time on a core, or waiting", () => this.load());
    for (const [, label] of this.kinds) add(this.kind, "option", "", String(label));
    this.where = selector(this.choices, "thread or process", () => this.load());
    this.listed = this.listThreads();
    for (const choice of this.listed) add(this.where, "option", "", choice.label);
    this.where.hidden = this.listed.length < 2;
    this.panel = add(root, "div", "hot-lines");
    add(root, "p", "soft", data.facts);
    this.load();
  }
  /** @returns {{label: string, roots: SampledRoot[]}[]} */
  listThreads() {
    const { roots, data } = this, found = [{ label: "All threads", roots }];
    const shown = [...new Set(roots.map(root => root.process))], several = shown.length > 1;
    for (const process of several ? shown : [])
      found.push({ label: data.processes[process], roots: roots.filter(root => root.process === process) });
    /** @type {Map<string, SampledRoot[]>} */
    const single = new Map();
    for (const root of roots) {
      const label = (several ? `${data.processes[root.process]}: ` : "") + root.label;
      single.set(label, [...single.get(label) || [], root]);
    }
    if (roots.length > 1) for (const [label, of] of single) found.push({ label, roots: of });
    return found;
  }
  /** The kind of time that is chosen. */
  chosen() { return Number(this.kinds[Math.max(this.kind.selectedIndex, 0)][0]); }
  load() {
    const choice = this.listed[Math.max(this.where.selectedIndex, 0)];
    const kind = this.kind.selectedIndex > 0 ? `, ${this.kind.value}` : "";
    const tree = weighed(choice.roots, choice.label + kind, this.chosen());
    tree.top.hot = this.hot;
    this.show(tree);
  }
  /** @param {import("./tree.js").Node} node */
  zoomTo(node) {
    super.zoomTo(node);
    this.showLines(/** @type {SampledNode} */ (node));
  }
  /** @param {import("./tree.js").Look} look */
  paintOf(look) {
    const [label, , color, , file] = look;
    return file === undefined ? paintOf(label, color, this.dark) : paintOfFunction(label, file, this.dark);
  }
  /** @param {import("./flame.js").Cell} cell */
  tip({ node, rest }) {
    const { times, own, folded } = /** @type {SampledNode} */ (node), name = this.name(node), whole = timeOf(times, EVERYTHING) || 1;
    if (rest) return [`what is too narrow to draw within ${name}`, ...(folded ? [`and ${manyText(folded, "path")} that the page does not hold`] : [])];
    const lines = [name, `${timeText(node.total)}, ${percentText(node.total / (this.top.total || 1))} of ${this.label}`];
    if (node.parent && node.parent !== this.top) lines.push(`${percentText(node.total / (node.parent.total || 1))} of ${this.name(node.parent)}`);
    const states = [["on a core", ON_CORE], ["waiting", WAITING], ["waiting for a core", READY]].flatMap(([label, kind]) => {
      const part = timeOf(times, Number(kind)) / whole;
      return part >= LEAST_PART ? [`${percentText(part)} ${label}`] : [];
    });
    lines.push([`self ${timeText(timeOf(own, this.chosen()))}`, manyText(times.samples, "sample"), ...states].join(" · "));
    return lines;
  }
  /**
   * The part of a line in a node; its interval is known of all threads and all time.
   * @param {SampledNode} node @param {number} part @param {number | undefined} margin
   */
  share(node, part, margin) {
    if (node.times.samples < this.data.least) return "";
    const isKnown = margin !== undefined && this.where.selectedIndex <= 0 && this.chosen() === EVERYTHING;
    return percentText(part) + (isKnown ? ` ±${marginText(margin)}` : "");
  }
  /**
   * Of a function its lines, with what they called; else the lines in which the time within it is.
   * @param {SampledNode} node
   */
  showLines(node) {
    const { panel } = this, kind = this.chosen(), isFunction = node.look >= 0 && this.looks[node.look][4] !== undefined;
    panel.replaceChildren();
    const lines = isFunction ? [...node.lines].map(([number, line]) => ({ look: node.look, number, line })) : linesWithin(node);
    const of = (/** @type {Line} */ line) => timeOf(isFunction ? line.total : line.self, kind);
    const sorted = lines.filter(({ line }) => of(line) > 0).sort((a, b) => of(b.line) - of(a.line));
    const shown = sorted.slice(0, isFunction ? MOST_LINES : MOST_HOTTEST);
    if (!shown.length) return;
    add(panel, "b", "", isFunction ? `Lines of ${this.name(node)}` : `Hottest lines of ${this.name(node)}`);
    const table = add(add(panel, "div", "scroll fit"), "table"), head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
    for (const title of ["line", isFunction ? "total" : "self", "share", ...isFunction ? ["self"] : [], "on core", "waiting", "samples"]) add(head, "th", "", title);
    const hasText = shown.some(({ line }) => line.text !== "");
    if (hasText) add(head, "th", "words", "text");
    const whole = node.total || 1, cell = (/** @type {number} */ ns) => ns ? timeText(ns) : "";
    for (const { look, number, line } of shown) {
      const row = add(body, "tr"), { total, self } = line, times = isFunction ? total : self;
      const cells = [`${this.looks[look][4]}${number ? ":" + number : ""}`, cell(of(line)),
        this.share(node, of(line) / whole, isFunction ? line.margin : node.hot.get(hotKey(look, number))),
        ...isFunction ? [cell(timeOf(self, kind))] : [], cell(timeOf(times, ON_CORE)), cell(timeOf(times, WAITING)), countText(times.samples)];
      for (const text of cells) add(row, "td", "", text);
      if (hasText) add(row, "td", "words code", line.text);
    }
    const rest = whole - shown.reduce((sum, { line }) => sum + of(line), 0);
    if (rest >= LEAST_PART * whole) add(panel, "p", "soft", `${timeText(rest)} (${percentText(rest / whole)}) in other lines`);
  }
}
