// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The timeline and the flame graph as a fragment of any document.
import { contrast } from "./colors.js";
import { add } from "./format.js";
import { Icicle } from "./icicle.js";
import { Model } from "./model.js";
import { Timeline } from "./timeline.js";

/**
 * @typedef {{parts: string[], timeline?: import("./decode.js").TimelineData,
 *   icicle?: import("./tree.js").FlameData}} WidgetData
 */

/**
 * Whether the document around an element is dark, where its background says so.
 * @param {HTMLElement} element
 */
function themeAround(element) {
  for (let at = element.parentElement; at; at = at?.parentElement || null) {
    const parts = getComputedStyle(at).backgroundColor.match(/[\d.]+/g) || ["0", "0", "0", "0"];
    if (parts.length > 3 && Number(parts[3]) === 0) continue;
    const [r, g, b] = parts.map(part => Math.round(Number(part)).toString(16).padStart(2, "0"));
    return contrast(`#${r}${g}${b}`) === "#ffffff" ? "dark" : "light";
  }
  return null;
}

/**
 * Fills the first element of that token that is empty still.
 * @param {string} token
 */
export function mountWidget(token) {
  const host = /** @type {HTMLElement | null} */ (document.querySelector(`[data-nvspan="${token}"]:not([data-mounted])`));
  const held = host?.querySelector("script"), style = host?.querySelector("template");
  if (!host || !held || !style) return;
  host.dataset.mounted = "";
  /** @type {WidgetData} */
  const data = JSON.parse(held.textContent || "");
  const shadow = host.attachShadow({ mode: "open" });
  shadow.appendChild(style.content.cloneNode(true));
  const root = add(shadow, "div", "nvspan");
  root.tabIndex = 0;
  const theme = themeAround(host);
  if (theme) root.dataset.theme = theme;
  const { timeline, icicle } = data, model = new Model(timeline ? timeline.last - timeline.first : 1);
  /** @type {Record<string, Timeline | Icicle>} */
  const parts = {};
  for (const part of data.parts) {
    const section = add(root, "section");
    if (part === "timeline" && timeline) parts[part] = new Timeline(section, timeline, model, root);
    if (part === "icicle" && icicle) parts[part] = new Icicle(section, icicle, model);
  }
  Object.assign(host, { nvspan: { model, ...parts } });
}
