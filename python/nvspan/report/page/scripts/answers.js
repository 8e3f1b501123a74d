// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The top of the page: headline, findings, the steps as bars, the modules.
import { add, percentText, shape, timeText } from "./format.js";

/**
 * @typedef {{text: string, certainty: string, next: string, evidence: string[]}} Finding
 * @typedef {{heading: string, limit: string, phases: string[], bars: [string, number, number[], number, number][],
 *   each: number, typical: number, heads: string[], cells: string[][]}} StepData
 * @typedef {{heading: string, heads: string[], times: number,
 *   rows: [number, string, number, ...(number | null)[]][]}} ModuleData
 * @typedef {{headline?: string, findings?: Finding[], nothing?: string, flame_first?: boolean,
 *   steps?: StepData, modules?: ModuleData}} Answers
 */

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {Answers} answers */
function showFindings({ headline = "", findings = [], nothing = "" }) {
  byId("headline").textContent = headline;
  byId("headline").hidden = !headline;
  byId("stands-out").hidden = !findings.length && !nothing;
  byId("nothing").textContent = nothing;
  for (const finding of findings) {
    const item = add(byId("findings"), "li");
    const certainty = finding.certainty === "likely" ? " (likely)" : "";
    add(item, "b", "", finding.text.charAt(0).toUpperCase() + finding.text.slice(1));
    add(item, "span", "soft", certainty);
    if (finding.evidence.length) {
      const list = add(item, "ul");
      for (const line of finding.evidence) add(list, "li", "", line);
    }
    if (finding.next) add(item, "div", "", "Next: " + finding.next);
  }
}

/** @param {string} name @param {string[]} heads @param {string[][]} rows @param {number[]} [levels] */
function fillTable(name, heads, rows, levels) {
  for (const head of heads) add(byId(name + "-head"), "th", "", head);
  rows.forEach((row, i) => {
    const line = add(byId(name + "-body"), "tr");
    row.forEach((text, k) => {
      const made = add(line, "td", "", text);
      if (levels && k === 0) made.style.paddingLeft = 10 + 18 * levels[i] + "px";
    });
  });
}

/** @param {StepData} steps @param {(start: number, end: number) => void} show @param {(phase: string) => string} colorOf */
function showSteps(steps, show, colorOf) {
  const WIDTH = 1200, HEIGHT = 150, STATES = ["", "warm-up", "outlier"], FEWEST = 16;
  byId("step-section").hidden = false;
  byId("step-heading").textContent = steps.heading;
  byId("limit").textContent = steps.limit;
  const totals = steps.bars.map(bar => bar[2].reduce((a, b) => a + b, 0));
  const top = Math.max(1.3 * steps.typical, Math.min(Math.max(...totals), 4 * steps.typical), 1);
  const svg = /** @type {Element} */ (byId("bars").firstElementChild);
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT + 10}`);
  const width = WIDTH / Math.max(steps.bars.length, FEWEST);
  const color = (/** @type {number} */ phase) => `var(--phase-${phase})`;
  paintPhases(steps.phases, colorOf);
  steps.bars.forEach(([label, state, times, start, end], i) => {
    const bar = /** @type {SVGGElement} */ (shape(svg, "g", { class: "bar", "data-state": state }));
    let base = HEIGHT;
    times.forEach((ns, phase) => {
      const height = Math.min(ns / top * HEIGHT, base);
      base -= height;
      shape(bar, "rect", { x: i * width, y: base, width: Math.max(width * 0.86, 0.5), height,
        style: `fill: ${color(phase)}` });
    });
    if (state) shape(bar, "rect", { x: i * width, y: HEIGHT + 3, width: Math.max(width * 0.86, 2), height: 5, class: "odd" });
    const parts = steps.phases.map((phase, k) => `${phase} ${timeText(times[k])}`).join(", ");
    shape(bar, "title", {}, `step ${label}${state ? ", " + STATES[state] : ""}: ${timeText(totals[i])} (${parts}); click: in the timeline`);
    bar.onclick = () => show(start, end);
  });
  const y = HEIGHT - steps.typical / top * HEIGHT;
  if (steps.typical) shape(svg, "line", { class: "typical", x1: 0, x2: width * steps.bars.length, y1: y, y2: y });
  const note = byId("bars-note");
  steps.phases.forEach((phase, i) => {
    add(note, "span", "key").style.background = color(i);
    add(note, "span", "", phase);
  });
  const cut = totals.some(total => total > top) ? `; bars are cut at ${timeText(top)}` : "";
  const typical = steps.typical ? `; dashed: the typical step, ${timeText(steps.typical)}` : "";
  add(note, "span", "", (steps.each > 1 ? ` — a bar is the mean of ${steps.each} steps` : " — a bar is a step") + typical +
    (steps.bars.some(bar => bar[1]) ? "; a mark below: warm-up or outlier" : "") + "; click: that step in the timeline" + cut);
  fillTable("step", steps.heads, steps.cells);
}

/**
 * A phase looks as its range in the timeline does, unless another one looks like that.
 * @param {string[]} phases @param {(phase: string) => string} colorOf
 */
export function paintPhases(phases, colorOf) {
  /** @type {Set<string>} */
  const taken = new Set();
  phases.forEach((phase, i) => {
    const own = colorOf(phase), color = taken.has(own) ? `hsl(${(210 + i * 67) % 360} 55% 55%)` : own;
    taken.add(color);
    byId("step-section").style.setProperty(`--phase-${i}`, color);
  });
}

/** @param {ModuleData} modules */
function showModules(modules) {
  byId("module-section").hidden = false;
  byId("module-heading").textContent = modules.heading;
  fillTable("module", modules.heads, modules.rows.map(([, name, calls, ...rest]) => [
    name, String(calls), ...rest.slice(0, -1).map(ns => ns === null ? "" : timeText(ns)),
    percentText(rest[rest.length - 1] || 0)]), modules.rows.map(row => row[0]));
}

/**
 * @param {Answers} answers @param {(start: number, end: number) => void} show a span of time
 * @param {(phase: string) => string} colorOf
 */
export function showAnswers(answers, show, colorOf) {
  showFindings(answers);
  if (answers.flame_first) byId("timeline-heading").before(
    byId("icicle-heading"), byId("flame-tools"), byId("sampled"), byId("icicle"));
  if (answers.steps) showSteps(answers.steps, show, colorOf);
  if (answers.modules) showModules(answers.modules);
}
