// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// Colors: a range's own, or one by its name.

/** @typedef {{fill: string, soft: string, text: string}} Paint */

/**
 * All bits of it depend on each character, so that names that differ little look different. Of many
 * tried, the number that it begins with keeps the names of usual loops furthest apart.
 * @param {string} name
 */
export function hashOf(name) {
  let hash = 0x789d77b7;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  return (hash ^ hash >>> 16) >>> 0;
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

/**
 * A color of OKLCH, in which hues that differ as much look as different.
 * @param {number} light @param {number} chroma @param {number} hue degrees
 */
function rgb(light, chroma, hue) {
  const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const parts = [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
  return "#" + parts.map(part => {
    const value = part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(Math.max(value, 0), 1)).toString(16).padStart(2, "0");
  }).join("");
}

const HUES = 24, LIGHTS = 3;

/**
 * How a range looks; `soft` is for several that are drawn as one.
 * @param {string} name @param {string | null} color @param {boolean} dark @returns {Paint}
 */
export function paintOf(name, color, dark) {
  const hash = hashOf(name), hue = hash % HUES * (360 / HUES), step = (hash >>> 16) % LIGHTS;
  const light = dark ? 0.42 + 0.07 * step : 0.72 + 0.07 * step;
  const fill = color || rgb(light, dark ? 0.1 : 0.12, hue);
  const soft = color || rgb(light, 0.045, hue);
  return { fill, soft, text: contrast(fill) };
}

/**
 * How a function looks: paler than ranges, and nearly as the others of its file.
 * @param {string} name @param {string} file @param {boolean} dark @returns {Paint}
 */
export function paintOfFunction(name, file, dark) {
  const hash = hashOf(name), turn = (hash >>> 8) % 5 - 2, step = (hash >>> 16) % LIGHTS;
  const hue = hashOf(file) % HUES * (360 / HUES) + 5 * turn;
  const fill = rgb(dark ? 0.42 + 0.07 * step : 0.72 + 0.07 * step, 0.055, hue);
  return { fill, soft: fill, text: contrast(fill) };
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
