// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The page about the ranks of a job: the verdict, the heat map, when the ranks came, the tables.
import { isDark } from "./colors.js";
import { add, button, shape, timeText } from "./format.js";
import { HeatMap, heatColor, namesOf } from "./heat.js";

/**
 * @typedef {{title: string, note: string, heads: string[], text: number, rows: string[][]}} RankTable
 * @typedef {{title: string, when: string, facts: [string, string][], verdict: {kind: string, text: string,
 *   evidence: string[], limits: string[], next: string}, heat: import("./heat_bins.js").HeatData | null,
 *   heatNote: string, tables: RankTable[], notes: string[]}} RanksData
 */

const MOST_LATEST = 5, BARS_HEIGHT = 120, BARS_WIDTH = 1000;

/** @param {HTMLElement} parent @param {RankTable} data */
function rankTable(parent, data) {
  add(parent, "h2", "", data.title);
  if (data.note) add(parent, "p", "soft", data.note);
  const table = add(add(parent, "div", "scroll fit"), "table"), head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  // The last columns are text.
  const last = data.heads.length - data.text;
  data.heads.forEach((text, i) => add(head, "th", i >= last ? "words" : "", text));
  for (const row of data.rows) {
    const line = add(body, "tr");
    row.forEach((text, i) => add(line, "td", i >= last ? "words" : "", text));
  }
}

/**
 * When the ranks came in the steps of a column.
 * @param {HTMLElement} parent @param {HeatMap} map @param {number} column @param {number} row
 */
function arrivals(parent, map, column, row) {
  const { bins } = map, steps = bins.stepsOf(column), dark = isDark(parent);
  const cells = Array.from({ length: bins.rows }, (_, i) => bins.cell(i, column, "late"));
  const most = Math.max(...cells.map(cell => cell.value), 1);
  parent.hidden = false;
  parent.replaceChildren();
  const head = add(parent, "div", "panel-head"), name = namesOf(steps, "step");
  add(head, "b", "", `${name[0].toUpperCase()}${name.slice(1)}: when the ranks came`);
  button(head, "Close", "", () => { parent.hidden = true; }).className = "close";
  const latest = [...cells].sort((a, b) => b.value - a.value).filter(cell => cell.value).slice(0, MOST_LATEST);
  add(parent, "p", "soft", latest.length ? "latest: " + latest.map(cell => `rank ${cell.rank} ${timeText(cell.value)}`).join(", ") +
    " after the median rank" : "no rank came later than the median one");
  const svg = shape(parent, "svg", { viewBox: `0 0 ${BARS_WIDTH} ${BARS_HEIGHT}`, class: "arrivals", role: "img", preserveAspectRatio: "none",
    "aria-label": "by rank, how much later it came than the median rank" });
  const wide = BARS_WIDTH / cells.length;
  cells.forEach((cell, i) => {
    const high = cell.value ? Math.max(cell.value / most * (BARS_HEIGHT - 4), 1.5) : 0;
    const bar = shape(svg, "rect", { x: i * wide, y: BARS_HEIGHT - high, width: Math.max(wide * 0.9, 0.5), height: high,
      class: i === row ? "own" : "bar", fill: `rgb(${heatColor(Math.sqrt(cell.value / most), dark)})` });
    shape(bar, "title", {}, `rank ${cell.rank}: ${timeText(cell.value)} after the median rank`);
  });
  const ends = add(parent, "p", "soft ends");
  add(ends, "span", "", `rank ${bins.ranks[0]}`);
  add(ends, "span", "", `rank ${bins.ranks[bins.ranks.length - 1]}`);
  for (const step of [bins.cell(row, column, "duration")].filter(cell => cell.value))
    add(parent, "p", "soft", `step ${step.step} took ${timeText(step.value)} on rank ${step.rank}`);
}

export function mountRanks() {
  const of = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
  /** @type {RanksData} */
  const data = JSON.parse(of("data").textContent || "");
  of("title").textContent = document.title = data.title;
  of("when").textContent = data.when;
  const box = of("verdict"), { verdict } = data;
  box.dataset.kind = verdict.kind;
  add(box, "b", "", verdict.text);
  const list = add(box, "ul");
  for (const text of verdict.evidence) add(list, "li", "", text);
  for (const text of verdict.limits) add(list, "li", "limit", `cannot tell: ${text}`);
  if (verdict.next) add(box, "p", "", `Next: ${verdict.next}`);
  for (const [name, value] of data.facts) {
    const fact = add(of("facts"), "div");
    add(fact, "b", "", value);
    add(fact, "span", "", name);
  }
  of("notes").textContent = data.notes.join("\n");
  /** @type {HeatMap | null} */
  let heat = null;
  if (data.heat) {
    of("heat-section").hidden = false;
    of("heat-note").textContent = data.heatNote;
    /** @type {HeatMap} */
    const map = heat = new HeatMap(of("heat"), data.heat, (column, row) => arrivals(of("arrivals"), map, column, row));
  }
  for (const table of data.tables) rankTable(of("tables"), table);
  of("theme").onclick = () => {
    document.body.dataset.theme = isDark(document.body) ? "light" : "dark";
    if (!heat) return;
    heat.draw();
    if (heat.chosen && !of("arrivals").hidden) heat.select(...heat.chosen);
  };
  Object.assign(window, { nvspan: { heat } });
}
