// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// Samples of stacks: ranges with the functions in them, and the lines of each function.
import { Numbers } from "./decode.js";
import { newNode } from "./tree.js";

/**
 * @typedef {import("./tree.js").Node} Node
 * @typedef {import("./tree.js").Look} Look
 * @typedef {{samples: number, ns: number[]}} Times ns: on a core, waiting for one, waiting
 * @typedef {{total: Times, self: Times, text: string, margin: number}} Line margin: of the share of all threads'
 *   total in the node's, in hundredths of a percent
 * @typedef {Map<string, number>} Margins of lines' self time, likewise, by look and line
 * @typedef {Node & {times: Times, own: Times, lines: Map<number, Line>, hot: Margins, children: SampledNode[]}} SampledNode
 * @typedef {{process: number, label: string, children: SampledNode[]}} SampledRoot
 * @typedef {{looks: Look[], processes: string[], roots: [number, string][], count: number, nodes: string,
 *   lineCount: number, lines: string, hotCount: number, hottest: string, texts: string[], least: number,
 *   facts: string, note: string}} SampledData least: samples of which a share is said
 */

export const EVERYTHING = 0;
export const ON_CORE = 1;
export const WAITING = 2;
export const READY = 3;

/** @param {Times} times @param {number} kind one of the above */
export const timeOf = ({ ns }, kind) => kind === EVERYTHING ? ns[0] + ns[1] + ns[2] : ns[[0, 0, 2, 1][kind]];

/** @returns {Times} */
const noTimes = () => ({ samples: 0, ns: [0, 0, 0] });

/** @param {Times} into @param {Times} times */
function addTimes(into, times) {
  into.samples += times.samples;
  for (let i = 0; i < 3; i++) into.ns[i] += times.ns[i];
}

/** @param {Numbers} from @returns {Times} */
const readTimes = from => ({ samples: from.next(), ns: [from.next(), from.next(), from.next()] });

/** @param {number} look @param {SampledNode | null} parent @param {number} order @returns {SampledNode} */
const sampledNode = (look, parent, order) =>
  ({ ...newNode(look, parent, order), times: noTimes(), own: noTimes(), lines: new Map(), hot: new Map(), children: [] });

/** @param {Map<number, Line>} lines @param {number} number @param {Line} line */
function addLine(lines, number, { total, self, text, margin }) {
  let into = lines.get(number);
  if (!into) lines.set(number, into = { total: noTimes(), self: noTimes(), text, margin });
  addTimes(into.total, total);
  addTimes(into.self, self);
}

/** @param {number} look @param {number} line */
export const hotKey = (look, line) => `${look} ${line}`;

/** @param {SampledData} raw @returns {{roots: SampledRoot[], hot: Margins}} hot: in all */
export function readSampled(raw) {
  const from = new Numbers(raw.nodes), nodes = [];
  /** @type {SampledRoot[]} */
  const roots = raw.roots.map(([process, label]) => ({ process, label, children: [] }));
  for (let i = 0; i < raw.count; i++) {
    const up = from.next(), parent = up ? nodes[i - up] : null;
    const into = up ? /** @type {SampledNode} */ (parent).children : roots[from.next()].children;
    const node = sampledNode(from.next(), parent, i);
    node.times = readTimes(from);
    node.own = readTimes(from);
    node.folded = from.next();
    into.push(node);
    nodes.push(node);
  }
  const lines = new Numbers(raw.lines);
  for (let i = 0, at = 0; i < raw.lineCount; i++) {
    at += lines.next();
    const number = lines.next(), total = readTimes(lines), self = readTimes(lines);
    addLine(nodes[at].lines, number, { total, self, text: raw.texts[lines.next()], margin: lines.next() });
  }
  const hot = new Map(), hottest = new Numbers(raw.hottest);
  for (let i = 0, at = 0; i < raw.hotCount; i++) {
    at += hottest.next();
    const key = hotKey(hottest.next(), hottest.next());
    (at ? nodes[at - 1].hot : hot).set(key, hottest.next());
  }
  return { roots, hot };
}

/**
 * One tree of those of several threads, as wide as its time of a kind.
 * @param {SampledRoot[]} roots @param {string} label @param {number} kind
 */
export function weighed(roots, label, kind) {
  const top = sampledNode(-1, null, 0);
  /** @param {SampledNode} into @param {SampledNode[]} children */
  const take = (into, children) => {
    for (const child of children) {
      let node = into.children.find(each => each.look === child.look);
      if (!node) into.children.push(node = sampledNode(child.look, into, into.children.length));
      addTimes(node.times, child.times);
      addTimes(node.own, child.own);
      node.folded += child.folded;
      for (const [key, margin] of child.hot) node.hot.set(key, margin);
      for (const [number, line] of child.lines) addLine(node.lines, number, line);
      take(node, child.children);
      node.total = timeOf(node.times, kind);
      node.self = timeOf(node.own, kind);
    }
  };
  for (const root of roots) take(top, root.children);
  for (const child of top.children) addTimes(top.times, child.times);
  top.total = timeOf(top.times, kind);
  return { top, label };
}

/**
 * The lines in which the time of a node is, with all that is within it: of which look, and the times in the line itself.
 * @param {SampledNode} node @returns {{look: number, number: number, line: Line}[]}
 */
export function linesWithin(node) {
  /** @type {Map<number, Map<number, Line>>} */
  const found = new Map();
  /** @param {SampledNode} at */
  const visit = at => {
    for (const [number, line] of at.lines) {
      let of = found.get(at.look);
      if (!of) found.set(at.look, of = new Map());
      addLine(of, number, line);
    }
    at.children.forEach(visit);
  };
  visit(node);
  return [...found].flatMap(([look, lines]) => [...lines].map(([number, line]) => ({ look, number, line })));
}
