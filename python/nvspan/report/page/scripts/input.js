// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The pointer and the wheel over the timeline: zoom, move, select.

/**
 * @typedef {{canvas: HTMLCanvasElement}} Drawn
 * @typedef {import("./model.js").Model} Model
 */

const CLICK = 4;  // px

/**
 * The wheel alone scrolls the page.
 * @param {HTMLCanvasElement} canvas @param {Model} model
 * @param {{hover: (event: PointerEvent | null) => void, click: (event: PointerEvent) => void,
 *   open: (event: MouseEvent) => void}} acts
 */
export function pointer(canvas, model, acts) {
  /** @type {Map<number, number>} */
  const down = new Map();
  let moved = 0, x = 0, from = 0;
  const part = (/** @type {number} */ clientX) => (clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth;
  canvas.addEventListener("wheel", event => {
    if (event.ctrlKey || event.metaKey) model.zoom(Math.exp(event.deltaY * 0.003), part(event.clientX));
    else if (event.shiftKey) model.pan((event.deltaY || event.deltaX) / canvas.clientWidth);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) model.pan(event.deltaX / canvas.clientWidth);
    else return;
    event.preventDefault();
  }, { passive: false });
  canvas.addEventListener("pointerdown", event => {
    down.set(event.pointerId, event.clientX);
    [moved, x, from] = [down.size > 1 ? CLICK : 0, event.clientX, model.from];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    const before = down.get(event.pointerId);
    if (before === undefined) return acts.hover(event);
    down.set(event.pointerId, event.clientX);
    if (down.size === 2) {
      const other = [...down.entries()].find(entry => entry[0] !== event.pointerId)?.[1] ?? before;
      const scale = Math.max(Math.abs(before - other), 8) / Math.max(Math.abs(event.clientX - other), 8);
      model.zoom(scale, part((event.clientX + other) / 2));
      return;
    }
    moved = Math.max(moved, Math.abs(event.clientX - x));
    if (moved < CLICK) return;
    acts.hover(null);
    const size = model.to - model.from, at = from - (event.clientX - x) / canvas.clientWidth * size;
    model.show(at, at + size);
  });
  const up = (/** @type {PointerEvent} */ event) => {
    const was = down.delete(event.pointerId);
    if (was && moved < CLICK && event.type === "pointerup") acts.click(event);
    for (const clientX of down.values()) [moved, x, from] = [CLICK, clientX, model.from];
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => acts.hover(null));
  canvas.addEventListener("dblclick", acts.open);
}

/**
 * Whether a key is typed into something.
 * @param {Event} event
 */
const isTyped = event => event.composedPath().some(each => each instanceof HTMLElement &&
  /^(INPUT|SELECT|TEXTAREA)$/.test(each.tagName) || each instanceof HTMLElement && each.isContentEditable);

/**
 * w, a, s and d zoom and move, f shows what is selected, 0 the whole, / goes to the search.
 * @param {EventTarget} target @param {Model} model
 * @param {{find: () => void, focus: () => void, leave: () => void}} acts
 */
export function keyboard(target, model, acts) {
  /** @type {Record<string, () => void>} */
  const keys = {
    w: () => model.zoom(0.6), s: () => model.zoom(1 / 0.6), a: () => model.pan(-0.2), d: () => model.pan(0.2),
    0: () => model.showAll(), f: acts.focus, n: () => model.tell("next"), N: () => model.tell("previous"),
    "/": acts.find, Escape: acts.leave,
  };
  target.addEventListener("keydown", given => {
    const event = /** @type {KeyboardEvent} */ (given);
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || isTyped(event)) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  });
}

/**
 * A box that follows the pointer.
 * @param {HTMLElement} box @param {PointerEvent | null} event @param {string[]} lines
 */
export function showTip(box, event, lines) {
  box.style.display = event && lines.length ? "block" : "none";
  if (!event || !lines.length) return;
  box.textContent = lines.join("\n");
  const room = box.getBoundingClientRect();
  box.style.left = Math.max(Math.min(event.clientX + 14, innerWidth - room.width - 8), 4) + "px";
  const below = event.clientY + 18;
  box.style.top = (below + room.height < innerHeight ? below : event.clientY - room.height - 10) + "px";
}
