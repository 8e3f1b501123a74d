// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The table of ranges: to sort and to search.
import { add, button, manyText, percentText, timeText } from "./format.js";

/**
 * @typedef {import("./model.js").Model} Model
 * @typedef {(string | number | null)[]} Row
 * @typedef {{columns: string[], times: string[], rows: Row[]}} TableData
 */

const FEW = 40, SHOWN = 500, FLAGGED = 0.1;

export class RangeTable {
  /** @param {HTMLElement} head @param {HTMLElement} body @param {HTMLElement} count @param {TableData} data @param {Model} model */
  constructor(head, body, count, data, model) {
    this.head = head;
    this.body = body;
    this.count = count;
    this.data = data;
    this.model = model;
    this.key = data.columns.indexOf("total");
    this.way = -1;
    this.most = FEW;
    this.more = button(/** @type {HTMLElement} */ (count.parentElement), "", "", () => {
      this.most = this.most === FEW ? SHOWN : FEW;
      this.fill();
    });
    // Paper has no button to press.
    addEventListener("beforeprint", () => { this.most = SHOWN; this.fill(); });
    data.columns.forEach((column, i) => {
      const cell = add(head, "th");
      const sort = /** @type {HTMLButtonElement} */ (add(cell, "button", "", column));
      sort.type = "button";
      cell.onclick = () => {
        this.way = this.key === i ? -this.way : i === 0 ? 1 : -1;
        this.key = i;
        this.fill();
      };
    });
    model.listen(what => { if (what === "search") this.fill(); });
    this.fill();
  }
  /** @param {string | number | null} value @param {string} column */
  text(value, column) {
    if (value === null) return "";
    if (column === "share" || column === "gpu_share") return percentText(Number(value));
    if (column === "overhead") return Number(value) > FLAGGED ? `! ${Math.min(Math.round(100 * Number(value)), 100)}%` : "";
    return this.data.times.includes(column) ? timeText(Number(value)) : String(value);
  }
  fill() {
    const { data, key, way, model } = this;
    const rows = model.query === "" ? [...data.rows] : data.rows.filter(row => model.matches(String(row[0])));
    rows.sort((one, other) => {
      const [a, b] = [one[key], other[key]];
      return a === b ? 0 : a === null ? way * -1 : b === null ? way : (a < b ? -1 : 1) * way;
    });
    const body = document.createDocumentFragment();
    for (const row of rows.slice(0, this.most)) {
      const line = add(body, "tr", Number(row[data.columns.length - 1]) > FLAGGED ? "flag" : "");
      row.forEach((value, i) => add(line, "td", "", this.text(value, data.columns[i])));
    }
    this.body.replaceChildren(body);
    this.count.textContent = rows.length > this.most ? `${this.most} of ${manyText(rows.length, "range")}` : manyText(rows.length, "range");
    this.more.hidden = rows.length <= FEW;
    this.more.textContent = this.most === FEW ? `Show ${rows.length > SHOWN ? SHOWN : "all"}` : `Show ${FEW}`;
    [...this.head.children].forEach((head, i) => {
      if (i === key) head.setAttribute("aria-sort", way < 0 ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }
}
