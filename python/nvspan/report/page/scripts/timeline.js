// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// The timeline: an axis, a lane for each thread, stream and counter, what is selected and what
// launched it.
import { AXIS, drawAxis, spanText } from "./axis.js";
import { isDark, paintOf, paintOfFunction, setPrinting, themeOf } from "./colors.js";
import { CounterLane } from "./counter.js";
import { UNCLOSED, readKey, readTrack } from "./decode.js";
import { factList, histogram, keyFacts } from "./details.js";
import { add, button, countText, manyText, shape, timeText } from "./format.js";
import { keyboard, pointer, showTip } from "./input.js";
import { Lane } from "./lane.js";
import { searchField } from "./model.js";

/**
 * @typedef {import("./decode.js").TimelineData} TimelineData
 * @typedef {import("./model.js").Model} Model
 * @typedef {import("./lane.js").Hit} Hit
 * @typedef {{lane: string, level: number, index: number, x: number, y: number, width: number, height: number,
 *   name: string, count: number, fill: string, state: string}} DrawnBlock
 */

const MOST_ARROWS = 100, OPEN_PROCESSES = 4;
const MOST_PIXELS = 32e6;  // of lanes that are drawn before anyone scrolls to them: 128 MB
const REST = 50;  // ms without a change before they are

export class Timeline {
  /** @param {HTMLElement} root @param {TimelineData} data @param {Model} model @param {EventTarget} keysOf */
  constructor(root, data, model, keysOf) {
    this.root = root;
    this.data = data;
    this.model = model;
    this.keys = data.keys.map(readKey);
    this.theme = themeOf(root);
    /** @type {{x: number, text: string}[]} */
    this.ticks = [];
    /** @type {Hit | null} */
    this.selected = null;
    /** @type {Hit[]} what the selected range launched */
    this.launched = [];
    /** @type {Hit[]} those to which arrows lead */
    this.tied = [];
    /** @type {DrawnBlock[] | null} filled by draw() where it is a list */
    this.log = null;
    /** @type {(import("./colors.js").Paint | undefined)[]} */
    this.painted = [];
    this.matching = new Uint8Array(this.keys.length);
    this.matchingSets = new Uint8Array(data.names.length);
    root.classList.add("timeline");
    const bar = add(root, "div", "tools");
    this.field = searchField(bar, model, "Search ranges");
    this.found = add(bar, "span", "soft found");
    button(bar, "−", "zoom out (s)", () => model.zoom(1 / 0.6));
    button(bar, "+", "zoom in (w)", () => model.zoom(0.6));
    button(bar, "Whole time", "0", () => model.showAll()).classList.add("whole");
    this.foldAll = button(bar, "", "", () => this.toggleAll());
    this.span = add(bar, "span", "soft span");
    this.strip = add(root, "div", "strip");
    const axisRow = add(this.strip, "div", "lane axis");
    add(axisRow, "div", "lane-label soft", "time");
    this.axis = /** @type {HTMLCanvasElement} */ (add(axisRow, "canvas"));
    this.axis.style.height = AXIS + "px";
    this.arrows = shape(this.strip, "svg", { class: "arrows", "aria-hidden": "true" });
    /** @type {Lane[]} */
    this.lanes = [];
    /** @type {(Lane | CounterLane)[]} */
    this.all = [];
    this.addLanes();
    this.panel = add(root, "div", "panel");
    this.panel.hidden = true;
    this.help = add(root, "p", "soft help", "drag: move · ctrl + wheel or pinch: zoom · click: select · double click: zoom to it · " +
      "keys: w s zoom, a d move, f selected, 0 whole time, / search, n next");
    if (data.note) add(root, "p", "soft merged", data.note);
    this.box = add(root, "div", "tip");
    this.watch(keysOf);
    this.search();
  }
  addLanes() {
    const { data } = this, shownOf = new Set(data.tracks.map(track => track.process));
    for (const counter of data.counters) shownOf.add(counter.process);
    /** @type {Map<number, HTMLElement>} */
    const groups = new Map();
    for (const process of [...shownOf].sort((a, b) => a - b)) {
      const group = add(this.strip, "div", "process");
      groups.set(process, group);
      if (shownOf.size < 2) continue;
      const head = add(group, "button", "process-name");
      const lanes = add(group, "div", "process-lanes");
      const open = (/** @type {boolean} */ isOpen) => {
        lanes.hidden = !isOpen;
        head.textContent = `${isOpen ? "▾" : "▸"} ${data.processes[process]}`;
        head.setAttribute("aria-expanded", String(isOpen));
        this.redraw();
      };
      head.onclick = () => open(lanes.hidden);
      open(groups.size <= OPEN_PROCESSES);
      groups.set(process, lanes);
    }
    const above = (/** @type {number} */ index) => data.tracks[index].below ?? index;
    const isMain = (/** @type {number} */ index) => Number(data.tracks[above(index)].main);
    const order = data.tracks.map((_, index) => index).sort((a, b) => isMain(b) - isMain(a) || above(a) - above(b) || a - b);
    for (const index of order) {
      const raw = data.tracks[index], lane = new Lane(this, readTrack(raw), index, /** @type {HTMLElement} */ (groups.get(raw.process)));
      this.lanes[index] = lane;
      pointer(lane.canvas, this.model, {
        hover: event => this.hover(event, event && lane.hit(event.offsetX, event.offsetY)),
        click: event => this.select(lane.hit(event.offsetX, event.offsetY)),
        open: event => this.showHit(lane.hit(event.offsetX, event.offsetY)),
      });
    }
    const counters = data.counters.map(counter => {
      const lane = new CounterLane(this, counter, /** @type {HTMLElement} */ (groups.get(counter.process)));
      pointer(lane.canvas, this.model, {
        hover: event => showTip(this.box, event, event ? lane.tip(event.offsetX) : []),
        click: () => {}, open: () => this.model.showAll(),
      });
      return lane;
    });
    this.all = [...this.lanes, ...counters];
    this.foldAll.hidden = !this.lanes.some(lane => lane.canFold);
    if (!this.all.length) add(this.strip, "p", "soft", "no ranges, marks or counters");
  }
  /** @param {EventTarget} keysOf */
  watch(keysOf) {
    const { model } = this;
    pointer(this.axis, model, { hover: () => {}, click: () => {}, open: () => model.showAll() });
    model.listen(what => {
      if (what === "search") this.search();
      if (what === "next" || what === "previous") this.next(what === "next" ? 1 : -1);
      this.redraw();
    });
    keyboard(keysOf, model, {
      find: () => { this.field.focus(); this.field.select(); },
      focus: () => this.showHit(this.selected),
      leave: () => this.select(null),
    });
    const seen = new IntersectionObserver(entries => {
      for (const entry of entries) {
        const lane = this.all.find(each => each.element === entry.target);
        if (lane) lane.inView = entry.isIntersecting;
      }
      this.redraw();
    }, { rootMargin: "300px" });
    for (const lane of this.all) seen.observe(lane.element);
    new ResizeObserver(() => this.redraw()).observe(this.strip);
    addEventListener("beforeprint", () => { setPrinting(true); this.draw(true); });
    addEventListener("afterprint", () => { setPrinting(false); this.draw(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }
  /**
   * The paint of a key.
   * @param {number} key
   */
  paints = (/** @type {number} */ key) => {
    const { label, color, file } = this.keys[key];
    return this.painted[key] || (this.painted[key] = file === undefined ? paintOf(label, color, this.dark) : paintOfFunction(label, file, this.dark));
  };
  dark = false;
  waiting = false;
  /** @type {Set<Lane | CounterLane>} lanes out of view that show what was */
  stale = new Set();
  later = 0;
  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
      this.stale = new Set(this.all.filter(lane => !lane.inView));
      clearTimeout(this.later);
      this.later = setTimeout(() => this.drawLater(), REST);
    });
  }
  /** Draws the lanes that are out of view, one after another: a picture of the whole page has them too. */
  drawLater() {
    const [lane] = this.stale;
    if (!lane) return;
    this.stale.delete(lane);
    const area = this.all.reduce((sum, { canvas }) => sum + canvas.width * canvas.height, 0);
    if (area < MOST_PIXELS) lane.draw();
    else this.stale.clear();
    this.later = setTimeout(() => this.drawLater());
  }
  /** @param {boolean} [all] and not only what is in view */
  draw(all = false) {
    const { model } = this, dark = isDark(this.root);
    if (dark !== this.dark) this.painted = [];
    this.dark = dark;
    this.theme = themeOf(this.root);
    this.drawTime();
    for (const lane of this.all) if (all || lane.inView) lane.draw();
    this.drawArrows();
    this.span.textContent = spanText(model.from, model.to, this.data.offset);
    const folded = this.lanes.some(lane => lane.canFold && lane.folded);
    this.foldAll.textContent = folded ? "Unfold all" : "Fold all";
  }
  drawTime() {
    const { axis, model, theme } = this, width = axis.clientWidth, ratio = devicePixelRatio || 1;
    if (!width) return;
    axis.width = Math.round(width * ratio);
    axis.height = AXIS * ratio;
    const pen = /** @type {CanvasRenderingContext2D} */ (axis.getContext("2d"));
    pen.scale(ratio, ratio);
    this.ticks = drawAxis(pen, width, model.from, model.to, this.data.offset, model.whole,
      { text: theme.soft, line: theme.line, accent: theme.accent });
  }
  toggleAll() {
    const fold = !this.lanes.some(lane => lane.canFold && lane.folded);
    for (const lane of this.lanes) if (lane.canFold) lane.fold(fold);
  }
  search() {
    const { model, keys, data } = this, query = model.query;
    let calls = 0, names = 0, functions = 0;
    keys.forEach((key, i) => {
      this.matching[i] = model.matches(key.label) ? 1 : 0;
      if (key.file !== undefined) return void (functions += this.matching[i]);
      calls += this.matching[i] ? key.calls : 0;
      names += this.matching[i];
    });
    data.names.forEach((set, i) => {
      this.matchingSets[i] = !set.length ? (names || functions ? 2 : 0) : set.some(key => this.matching[key]) ? 1 : 0;
    });
    const found = [`${manyText(calls, "event")} of ${manyText(names, "name")}`, manyText(functions, "function")];
    this.found.textContent = query === "" ? "" : found.slice(functions && !names ? 1 : 0, functions ? 2 : 1).join(", ");
  }
  /**
   * Selects the next block that is searched for.
   * @param {1 | -1} way
   */
  next(way) {
    if (!this.model.query) return;
    const now = this.selected ? this.selected.lane.blocks(this.selected.level).start[this.selected.index]
      : way > 0 ? this.model.from - 1 : this.model.to;
    /** @type {Hit | null} */
    let best = null, first = null;
    let at = Infinity, earliest = Infinity;
    for (const lane of this.lanes) {
      for (let level = -1; level < lane.track.levels.length; level++) {
        const blocks = lane.blocks(level);
        for (let index = 0; index < blocks.start.length; index++) {
          if (lane.state(blocks, index) !== 1) continue;
          const place = way * blocks.start[index], away = place - way * now;
          if (place < earliest) [first, earliest] = [{ lane, level, index }, place];
          if (away > 0 && away < at) [best, at] = [{ lane, level, index }, away];
        }
      }
    }
    const hit = best || first;
    if (!hit) return;
    this.select(hit);
    const blocks = hit.lane.blocks(hit.level), middle = (blocks.start[hit.index] + blocks.end[hit.index]) / 2;
    const size = this.model.to - this.model.from;
    if (middle < this.model.from || middle > this.model.to) this.model.show(middle - size / 2, middle + size / 2);
    hit.lane.element.scrollIntoView({ block: "nearest" });
  }
  /** @param {PointerEvent | null} event @param {Hit | null} hit */
  hover(event, hit) {
    showTip(this.box, event, hit ? hit.lane.tip(hit) : []);
    if (event) /** @type {HTMLElement} */ (event.target).style.cursor = hit ? "pointer" : "grab";
  }
  /**
   * Zooms to a block, or out.
   * @param {Hit | null} hit
   */
  showHit(hit) {
    if (!hit) return this.model.showAll();
    const blocks = hit.lane.blocks(hit.level), start = blocks.start[hit.index], end = blocks.end[hit.index];
    const margin = Math.max((end - start) * 0.05, 50);
    this.model.show(start - margin, end + margin);
  }
  /** @param {Hit | null} hit */
  select(hit) {
    this.selected = hit;
    this.launched = hit ? this.launchedBy(hit) : [];
    const by = hit && this.launchOf(hit);
    this.tied = by && by.hit ? [by.hit] : this.launched.slice(0, MOST_ARROWS);
    this.panel.hidden = !hit;
    this.panel.textContent = "";
    if (hit) this.describe(hit);
    this.redraw();
    this.model.tell("select");
  }
  /** @param {Hit} hit */
  describe(hit) {
    const { panel, data } = this, blocks = hit.lane.blocks(hit.level), i = hit.index, key = this.keys[blocks.key[i]];
    const head = add(panel, "div", "panel-head");
    add(head, "span", "chip").style.background = this.paints(blocks.key[i]).fill;
    add(head, "b", "", blocks.count[i] > 1 ? `${countText(blocks.count[i])} ${hit.lane.noun(hit.level)}, most of it ${key.label}` : key.label);
    button(head, "×", "close (Esc)", () => this.select(null)).classList.add("close");
    const body = add(panel, "div", "panel-body"), length = blocks.end[i] - blocks.start[i];
    /** @type {[string, string][]} */
    const facts = [["at", timeText(blocks.start[i] + data.offset)]];
    if (hit.level >= 0) facts.push(["duration", timeText(length) + (blocks.flags[i] & UNCLOSED ? " (did not end)" : "")]);
    facts.push(["on", hit.lane.track.label]);
    if (blocks.count[i] > 1 && hit.level >= 0) facts.push(["in " + hit.lane.noun(hit.level), timeText(blocks.busy[i])], ["longest", timeText(blocks.longest[i])]);
    const parent = hit.lane.parent(hit), text = blocks.texts.get(i), names = data.names[blocks.names[i]];
    if (blocks.count[i] > 1) facts.push(["names", names.length ? names.map(name => this.keys[name].label).join(", ") : "many"]);
    if (parent) facts.push(["in", parent]);
    if (key.category !== null) facts.push(["category", key.category]);
    if (key.kind) facts.push(["kind", key.kind]);
    if (text !== undefined) facts.push(["payload", data.texts[text]]);
    const launch = this.launchOf(hit);
    if (launch) {
      const by = launch.hit ? this.keys[launch.hit.lane.blocks(launch.hit.level).key[launch.hit.index]].label : "no range";
      facts.push(["launched in", `${by}, ${launch.lane.track.label}`],
        ["launch to start", timeText(blocks.start[i] - launch.time)]);
    } else if (hit.lane.track.kind === "device") facts.push(["launched in", "not known"]);
    if (this.launched.length) {
      const gpu = this.launched.reduce((sum, each) => sum + each.lane.blocks(each.level).busy[each.index], 0);
      facts.push(["launched", `${manyText(this.launched.length, "block")} of GPU work, ${timeText(gpu)}` +
        (this.launched.length > MOST_ARROWS ? `; arrows to ${MOST_ARROWS}` : "")]);
    }
    factList(body, facts);
    const all = add(body, "div", "of-name");
    add(all, "div", "soft", `all of ${key.label}${key.kind ? ` (${key.kind})` : ""}`);
    factList(all, keyFacts(key));
    if (key.durations) histogram(all, key, hit.level < 0 || blocks.count[i] > 1 ? null : length);
    else if (key.kind !== "mark" && key.file === undefined) add(all, "div", "soft", "no histogram: the page has those of the first 2,000 names");
  }
  /**
   * Where the CPU asked for a block of a device.
   * @param {Hit} hit
   */
  launchOf(hit) {
    const blocks = hit.lane.blocks(hit.level), by = blocks.launcher.length ? blocks.launcher[hit.index] : -1;
    if (by < 0) return null;
    const lane = this.lanes[by], time = blocks.launched[hit.index];
    return { lane, time, hit: lane.innermost(time) };
  }
  /**
   * What a range of the CPU launched.
   * @param {Hit} hit @returns {Hit[]}
   */
  launchedBy(hit) {
    if (hit.lane.track.kind !== "thread" || hit.level < 0) return [];
    const own = hit.lane.blocks(hit.level), start = own.start[hit.index], end = own.end[hit.index], found = [];
    for (const lane of this.lanes) {
      if (lane.track.kind !== "device") continue;
      for (let level = 0; level < lane.track.levels.length; level++) {
        const blocks = lane.track.levels[level];
        for (let index = 0; index < blocks.start.length; index++) {
          if (blocks.launcher[index] === hit.lane.index && blocks.launched[index] >= start && blocks.launched[index] <= end)
            found.push({ lane, level, index });
        }
      }
    }
    return found;
  }
  drawArrows() {
    this.arrows.textContent = "";
    const hit = this.selected;
    if (!hit) return;
    const launch = this.launchOf(hit);
    if (launch) this.arrow(launch.lane, launch.hit ? launch.hit.level : 0, launch.time, hit);
    if (!launch) for (const each of this.tied) {
      const blocks = each.lane.blocks(each.level);
      this.arrow(hit.lane, hit.level, blocks.launched[each.index], each);
    }
  }
  /** @param {Lane} lane of the CPU @param {number} level @param {number} time @param {Hit} to */
  arrow(lane, level, time, to) {
    const { model, strip } = this, width = this.axis.clientWidth, scale = width / (model.to - model.from);
    const edge = strip.getBoundingClientRect(), blocks = to.lane.blocks(to.level);
    const place = (/** @type {Lane} */ of, /** @type {number} */ at, /** @type {number} */ row) => {
      const room = of.canvas.getBoundingClientRect();
      return room.height ? [room.left - edge.left + (at - model.from) * scale, room.top - edge.top + of.yOf(row)] : null;
    };
    const from = place(lane, time, level), end = place(to.lane, blocks.start[to.index], to.level);
    if (!from || !end) return;
    const left = this.axis.getBoundingClientRect().left - edge.left;
    if (Math.max(from[0], end[0]) < left || Math.min(from[0], end[0]) > left + width) return;
    const bend = Math.max(Math.abs(end[0] - from[0]) / 2, 12);
    shape(this.arrows, "path", { class: "arrow", d: `M${from[0]} ${from[1]} C${from[0] + bend} ${from[1]} ${end[0] - bend} ${end[1]} ${end[0]} ${end[1]}` });
    shape(this.arrows, "path", { class: "arrow-head", d: `M${end[0]} ${end[1]} l-7 -4 v8 z` });
  }
}
