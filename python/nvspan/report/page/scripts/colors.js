// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// Colors: a range's own, or one by its name.

/** @typedef {{fill: string, soft: string, text: string}} Paint */

/** @param {string} name */
export function hueOf(name) {
  let hash = 7;
  for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return hash % 360;
}

/**
 * Black or white, whichever can be read on "#rrggbb".
 * @param {string} color
 */
export function contrast(color) {
  const [r, g, b] = [1, 3, 5].map(i => {
    const part = parseInt(color.slice(i, i + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#111111" : "#ffffff";
}

/** @param {number} hue @param {number} saturation @param {number} light */
function rgb(hue, saturation, light) {
  const amount = saturation * Math.min(light, 1 - light);
  const part = (/** @type {number} */ n) => {
    const k = (n + hue / 30) % 12;
    const value = light - amount * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(255 * value).toString(16).padStart(2, "0");
  };
  return `#${part(0)}${part(8)}${part(4)}`;
}

/**
 * How a range looks; `soft` is for several that are drawn as one.
 * @param {string} name @param {string | null} color @param {boolean} dark @returns {Paint}
 */
export function paintOf(name, color, dark) {
  const hue = hueOf(name);
  const fill = color || rgb(hue, 0.55, dark ? 0.42 : 0.7);
  const soft = color || rgb(hue, 0.28, dark ? 0.42 : 0.7);
  return { fill, soft, text: contrast(fill) };
}

/**
 * Whether the element is shown dark: as its theme says, or else as the reader's system does.
 * @param {HTMLElement} element
 */
export function isDark(element) {
  const themed = /** @type {HTMLElement | null} */ (element.closest("[data-theme]"));
  if (printing) return false;
  return themed ? themed.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

let printing = false;

/**
 * Paper is light.
 * @param {boolean} now
 */
export function setPrinting(now) { printing = now; }

/**
 * What the style sheet says.
 * @param {HTMLElement} element
 */
export function themeOf(element) {
  const style = getComputedStyle(element);
  const of = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return { text: printing ? "#1b1f24" : of("--text"), soft: printing ? "#5b6570" : of("--soft"),
    line: printing ? "#d8dee4" : of("--line"), accent: printing ? "#0b63ce" : of("--accent"),
    mark: of("--mark") };
}
