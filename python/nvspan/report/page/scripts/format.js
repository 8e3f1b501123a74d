// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// Times, numbers and elements.

/**
 * Three significant digits, as recording/time_text.py writes them.
 * @param {number} ns
 */
export function timeText(ns) {
  for (const [unit, size] of /** @type {[string, number][]} */ ([["s", 1e9], ["ms", 1e6], ["us", 1e3]])) {
    const value = ns / size, height = Math.abs(value);
    if (height >= 0.9995)
      return (height < 999.5 ? value.toPrecision(3) : value.toFixed(0)) + " " + unit;
  }
  return Math.round(ns) + " ns";
}

/** @param {number} share of 1 */
export const percentText = share =>
  (100 * share).toFixed(Math.abs(share) >= 0.0005 && Math.abs(share) < 0.0995 ? 1 : 0) + "%";

/**
 * The half of an interval, as report/lines.py writes it.
 * @param {number} hundredths of a percent, rounded up
 */
export const marginText = hundredths => (hundredths > 90 ? Math.ceil(hundredths / 100) : Math.ceil(hundredths / 10) / 10) + "%";

/** @param {number} count */
export const countText = count => count.toLocaleString("en-US");

/** @param {number} count @param {string} word */
export const manyText = (count, word) => `${countText(count)} ${word}${count === 1 ? "" : "s"}`;

/** @param {number} value */
export const valueText = value => Number.isInteger(value) ? countText(value) : String(+value.toPrecision(6));

/**
 * A name as a block has room for it: without its domain, of `file.py:3(function)` the function first.
 * @param {string} label @param {number} prefix
 */
export function shortName(label, prefix) {
  const name = label.slice(prefix), place = name.match(/^(.+:\d+)\((.+)\)$/);
  return place ? `${place[2]} (${place[1]})` : name;
}

/**
 * A new element within `parent`.
 * @param {Element | DocumentFragment} parent @param {string} tag @param {string} [name] its class
 * @param {string} [text]
 */
export function add(parent, tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

const DRAWN = document.createElement("div");
DRAWN.innerHTML = "<svg></svg>";
const SVG = /** @type {Element} */ (DRAWN.firstElementChild).namespaceURI;

/**
 * A new element of SVG.
 * @param {Element} parent @param {string} tag @param {Record<string, string | number>} attributes
 * @param {string} [text]
 */
export function shape(parent, tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

/** @param {HTMLElement} bar @param {string} text @param {string} title @param {() => void} act */
export function button(bar, text, title, act) {
  const made = /** @type {HTMLButtonElement} */ (add(bar, "button", "", text));
  made.type = "button";
  made.title = title;
  made.onclick = act;
  return made;
}
