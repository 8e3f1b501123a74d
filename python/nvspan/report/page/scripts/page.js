// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The page: what stands on top of it, the timeline, the flame graph, the table.
import { paintPhases, showAnswers } from "./answers.js";
import { isDark, paintOf } from "./colors.js";
import { add, button } from "./format.js";
import { Icicle } from "./icicle.js";
import { Model, searchField } from "./model.js";
import { SampledFlame } from "./sampled_flame.js";
import { RangeTable } from "./table.js";
import { Timeline } from "./timeline.js";

/**
 * @typedef {import("./table.js").TableData & {title: string, when: string, facts: [string, string][],
 *   notes: string[], footnotes: string, answers: import("./answers.js").Answers,
 *   timeline: import("./decode.js").TimelineData, icicle: import("./tree.js").FlameData,
 *   sampled?: import("./sampled.js").SampledData}} PageData
 */

// What the ranges are called whose phase has another name.
/** @type {Record<string, string | undefined>} */
const RANGES = { "data wait": "dataloader.next", optimizer: "optimizer.step" };

/**
 * The flame graph of samples in place of that of ranges, which a button shows. Without any range it
 * is what the page shows first.
 * @param {(id: string) => HTMLElement} of @param {boolean} hasRanges @param {Model} model
 */
function placeSampled(of, hasRanges, model) {
  const tools = of("flame-tools");
  of("sampled").hidden = false;
  of("icicle").hidden = true;
  if (!hasRanges) {
    of("stands-out").before(of("icicle-heading"), of("sampled"));
    of("ranges").hidden = true;
    return;
  }
  tools.hidden = false;
  for (const [label, id] of [["Ranges and functions", "sampled"], ["Ranges", "icicle"]]) {
    const tab = button(tools, label, "", () => {
      for (const each of ["sampled", "icicle"]) of(each).hidden = each !== id;
      for (const each of tools.children) each.setAttribute("aria-pressed", String(each === tab));
      model.tell("shown");
    });
    tab.setAttribute("aria-pressed", String(id === "sampled"));
  }
}

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
  if (data.sampled) placeSampled(of, data.rows.length > 0, model);
  const icicle = new Icicle(of("icicle"), data.icicle, model);
  const sampled = data.sampled ? new SampledFlame(of("sampled"), data.sampled, model) : null;
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
  Object.assign(window, { nvspan: { model, timeline, icicle, sampled, table } });
}
