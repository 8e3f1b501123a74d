// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The flame graph of ranges: of threads, processes and streams, in the whole time or in steps.
import { FlameGraph, selector } from "./flame.js";
import { add, countText, manyText, percentText, timeText } from "./format.js";
import { choices, merged, readPart } from "./tree.js";

/**
 * @typedef {import("./tree.js").FlameData} FlameData
 * @typedef {import("./tree.js").Node} Node
 */

export class Icicle extends FlameGraph {
  /** @param {HTMLElement} root @param {FlameData} data @param {import("./model.js").Model} model */
  constructor(root, data, model) {
    super(root, data.looks, model,
      "width: time, of all calls together · click: zoom · ranges within one of the same name count in that one", data.note);
    this.data = data;
    this.parts = data.parts.map(readPart);
    this.when = selector(this.choices, "of the whole time, or of steps", () => this.fillWhere());
    this.where = selector(this.choices, "thread, process or stream", () => this.load());
    add(this.when, "option", "", "whole time");
    const steps = this.parts[1] || [];
    this.groups = data.groups.map((_, i) => i).filter(i => steps.some(root => root.group === i));
    for (const group of this.groups) add(this.when, "option", "", data.groups[group]);
    this.when.hidden = !this.groups.length;
    this.fillWhere();
  }
  /** The threads and streams that can be chosen, of the steps that are. */
  fillWhere() {
    const before = this.where.value, chosen = this.when.selectedIndex;
    const of = chosen <= 0 ? this.parts[0] || [] : (this.parts[1] || []).filter(root => root.group === this.groups[chosen - 1]);
    this.listed = choices(of, this.data.processes);
    this.where.textContent = "";
    for (const choice of this.listed) add(this.where, "option", "", choice.label);
    this.where.hidden = this.listed.length < 2;
    if (this.listed.some(choice => choice.label === before)) this.where.value = before;
    this.load();
  }
  load() {
    const choice = (this.listed || [])[Math.max(this.where.selectedIndex, 0)];
    const when = this.when.selectedIndex > 0 ? `, ${this.when.value}` : "";
    this.show(merged(choice ? choice.roots : [], choice ? choice.label + when : "nothing was recorded"));
  }
  /** @param {import("./flame.js").Cell} cell */
  tip({ node, rest }) {
    const share = (/** @type {number} */ part, /** @type {Node} */ of) => percentText(part / (of.total || 1));
    if (rest) return [`what is too narrow to draw within ${this.name(node)}`, ...(node.folded ? [`and ${manyText(node.folded, "path")} that the page does not hold`] : [])];
    const lines = [this.name(node) + (node.look >= 0 && this.looks[node.look][1] ? ` (${this.looks[node.look][1]})` : "")];
    lines.push(`${timeText(node.total)}, ${share(node.total, this.top)} of ${this.label}`);
    if (node.parent && node.parent !== this.top) lines.push(`${share(node.total, node.parent)} of ${this.name(node.parent)}`);
    if (node.look < 0) return lines;
    lines.push(`self ${timeText(node.self)} · ${manyText(node.calls, "call")}` + (node.calls && !node.unclosed ? `, ${timeText(node.total / node.calls)} each` : ""));
    if (node.unclosed) lines.push(`${countText(node.unclosed)} still open: counted until the end of the recording`);
    return lines;
  }
}
