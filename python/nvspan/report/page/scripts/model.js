// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// What the timeline, the flame graph and the table share: what is searched for, what is shown.

export class Model {
  /** @param {number} whole ns */
  constructor(whole) {
    this.whole = Math.max(whole, 1);
    this.from = 0;
    this.to = this.whole;
    this.query = "";
    /** @type {((what: string) => void)[]} */
    this.listeners = [];
  }
  /** @param {(what: string) => void} listener */
  listen(listener) { this.listeners.push(listener); }
  /** @param {string} what */
  tell(what) { for (const listener of this.listeners) listener(what); }

  /**
   * Shows a span of time, within the whole.
   * @param {number} from @param {number} to
   */
  show(from, to) {
    const size = Math.min(Math.max(to - from, 20), this.whole);
    this.from = Math.min(Math.max(from, 0), this.whole - size);
    this.to = this.from + size;
    this.tell("view");
  }
  showAll() { this.show(0, this.whole); }
  /** @param {number} scale of the span that is shown @param {number} part of it that stays in place */
  zoom(scale, part = 0.5) {
    const size = this.to - this.from, at = this.from + part * size;
    const made = Math.min(Math.max(size * scale, 20), this.whole);
    this.show(at - part * made, at + (1 - part) * made);
  }
  /** @param {number} part of the span that is shown */
  pan(part) {
    const by = part * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }
  /** @param {string} query */
  search(query) {
    if (query === this.query) return;
    this.query = query;
    this.tell("search");
  }
  /**
   * Whether a name is searched for.
   * @param {string} name
   */
  matches(name) { return this.query !== "" && name.toLowerCase().includes(this.query.toLowerCase()); }
}

/**
 * A field to search with. Every field of a model shows the same text.
 * @param {HTMLElement} bar @param {Model} model @param {string} label
 */
export function searchField(bar, model, label) {
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = label;
  field.title = "/ goes here, Enter to the next one, Esc leaves";
  field.setAttribute("aria-label", label);
  bar.appendChild(field);
  field.oninput = () => model.search(field.value);
  field.onkeydown = event => {
    if (event.key === "Enter") model.tell(event.shiftKey ? "previous" : "next");
    if (event.key === "Escape") {
      field.value = "";
      model.search("");
      field.blur();
    }
    event.stopPropagation();
  };
  model.listen(what => { if (what === "search" && field.value !== model.query) field.value = model.query; });
  return field;
}
