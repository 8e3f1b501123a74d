// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The page: what stands on top of it, the timeline, the flame graph, the table.
import { paintPhases, showAnswers } from "./answers.js";
import { isDark, paintOf } from "./colors.js";
import { add } from "./format.js";
import { Icicle } from "./icicle.js";
import { Model, searchField } from "./model.js";
import { RangeTable } from "./table.js";
import { Timeline } from "./timeline.js";

/**
 * @typedef {import("./table.js").TableData & {title: string, when: string, facts: [string, string][],
 *   notes: string[], footnotes: string, answers: import("./answers.js").Answers,
 *   timeline: import("./decode.js").TimelineData, icicle: import("./tree.js").FlameData}} PageData
 */

// What the ranges are called whose phase has another name.
/** @type {Record<string, string | undefined>} */
const RANGES = { "data wait": "dataloader.next", optimizer: "optimizer.step" };

export function mountPage() {
  const of = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
  /** @type {PageData} */
  const data = JSON.parse(of("data").textContent || "");
  of("title").textContent = document.title = data.title;
  of("when").textContent = data.when;
  for (const [name, value] of data.facts) {
    const box = add(of("facts"), "div");
    add(box, "b", "", value);
    add(box, "span", "", name);
  }
  of("notes").textContent = data.notes.join("\n");
  of("footnotes").textContent = data.footnotes;
  const model = new Model(data.timeline.last - data.timeline.first);
  const timeline = new Timeline(of("timeline"), data.timeline, model, document);
  const icicle = new Icicle(of("icicle"), data.icicle, model);
  searchField(of("table-tools"), model, "Search names").id = "search";
  const count = add(of("table-tools"), "span", "soft");
  count.id = "count";
  const table = new RangeTable(of("head"), of("body"), count, data, model);
  const colorOf = (/** @type {string} */ phase) => {
    const name = RANGES[phase] || phase, key = timeline.keys.find(({ short, kind }) => short === name && kind === "");
    if (!key && phase === "other") return "var(--line)";
    return paintOf(key ? key.label : phase, key ? key.color : null, isDark(document.body)).fill;
  };
  showAnswers(data.answers, (start, end) => {
    const margin = 0.05 * (end - start), first = data.timeline.first;
    model.show(start - first - margin, end - first + margin);
    of("timeline").scrollIntoView({ behavior: "smooth", block: "start" });
  }, colorOf);
  const recolor = () => { if (data.answers.steps) paintPhases(data.answers.steps.phases, colorOf); };
  model.listen(what => { if (what === "theme") recolor(); });
  for (const event of ["beforeprint", "afterprint"]) addEventListener(event, recolor);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
  of("theme").onclick = () => {
    document.body.dataset.theme = isDark(document.body) ? "light" : "dark";
    model.tell("theme");
  };
  Object.assign(window, { nvspan: { model, timeline, icicle, table } });
}
