// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// Paths of ranges, of which the flame graph shows those of some threads or streams together.
import { Numbers } from "./decode.js";

/**
 * @typedef {{roots: [number, number, string, string][], count: number, nodes: string}} RawPart
 * @typedef {[string, string, string | null, number, string?]} Look label, kind, color, how much of the
 *   label is the domain, and the file of a function
 * @typedef {{looks: Look[], processes: string[], parts: RawPart[], groups: string[], note: string}} FlameData
 * @typedef {{look: number, calls: number, total: number, self: number, unclosed: number, folded: number,
 *   order: number, parent: Node | null, children: Node[]}} Node
 * @typedef {{group: number, process: number, kind: string, label: string, children: Node[]}} Root
 */

/** @param {number} look @param {Node | null} parent @param {number} order @returns {Node} */
export const newNode = (look, parent, order) =>
  ({ look, calls: 0, total: 0, self: 0, unclosed: 0, folded: 0, order, parent, children: [] });

/** @param {RawPart} raw @returns {Root[]} */
export function readPart(raw) {
  const from = new Numbers(raw.nodes), nodes = [];
  /** @type {Root[]} */
  const roots = raw.roots.map(([group, process, kind, label]) => ({ group, process, kind, label, children: [] }));
  for (let i = 0; i < raw.count; i++) {
    const up = from.next(), parent = up ? nodes[i - up] : null;
    const into = up ? /** @type {Node} */ (parent).children : roots[from.next()].children;
    const node = newNode(from.next(), parent, i);
    node.calls = from.next();
    node.total = from.next();
    node.self = from.next();
    const word = from.next();
    node.unclosed = Math.floor(word / 2);
    if (word % 2) node.folded = from.next();
    into.push(node);
    nodes.push(node);
  }
  return roots;
}

/**
 * One tree of several, whose paths of the same names are one.
 * @param {Root[]} roots @param {string} label
 */
export function merged(roots, label) {
  const top = newNode(-1, null, 0);
  /** @param {Node} into @param {Node[]} children */
  const take = (into, children) => {
    for (const child of children) {
      let node = into.children.find(each => each.look === child.look);
      if (!node) into.children.push(node = newNode(child.look, into, into.children.length));
      node.calls += child.calls;
      node.total += child.total;
      node.self += child.self;
      node.unclosed += child.unclosed;
      node.folded += child.folded;
      take(node, child.children);
    }
  };
  for (const root of roots) take(top, root.children);
  top.total = top.children.reduce((sum, child) => sum + child.total, 0);
  return { top, label };
}

/** @param {Root[]} roots @param {string[]} processes @returns {{label: string, roots: Root[]}[]} what can be chosen */
export function choices(roots, processes) {
  const found = [], kinds = [["thread", "All threads"], ["device", "All GPU streams"], ["spans", "All start/end ranges"]];
  for (const [kind, label] of kinds) {
    const of = roots.filter(root => root.kind === kind);
    if (of.length) found.push({ label, roots: of });
  }
  const shown = [...new Set(roots.map(root => root.process))], several = shown.length > 1;
  for (const process of several ? shown : []) {
    const of = roots.filter(root => root.process === process);
    if (of.some(root => root.kind === "thread")) found.push({ label: `${processes[process]}: threads`, roots: of.filter(root => root.kind === "thread") });
    if (of.some(root => root.kind === "device")) found.push({ label: `${processes[process]}: GPU`, roots: of.filter(root => root.kind === "device") });
  }
  /** @type {Map<string, Root[]>} */
  const single = new Map();
  for (const root of roots) {
    const label = (several ? `${processes[root.process]}: ` : "") + root.label;
    single.set(label, [...single.get(label) || [], root]);
  }
  if (roots.length > 1) for (const [label, of] of single) found.push({ label, roots: of });
  return found;
}
