// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
// Ranks by steps in bins. See ranks/heat/heat.hpp for the layout of their bytes.
import { Numbers } from "./decode.js";

/**
 * @typedef {{first: number, count: number} | {list: number[]}} NumberList
 * @typedef {{ranks: NumberList, steps: NumberList, rows: number, columns: number, data: string}} HeatData
 * @typedef {"late" | "duration"} Metric
 * @typedef {{value: number, rank: number, step: number}} HeatCell
 */

/** @param {NumberList} from */
const numbersOf = from => "list" in from ? from.list : Array.from({ length: from.count }, (_, i) => from.first + i);

/**
 * The first of `count` things that is in a bin.
 * @param {number} bin @param {number} count @param {number} bins
 */
const firstIn = (bin, count, bins) => Math.ceil(bin * count / bins);

export class HeatBins {
  /** @param {HeatData} data */
  constructor(data) {
    this.rows = data.rows;
    this.columns = data.columns;
    this.ranks = numbersOf(data.ranks);
    this.steps = numbersOf(data.steps);
    this.bytes = new DataView(new Numbers(data.data).bytes.buffer);
  }
  /** @param {number} row */
  ranksOf(row) {
    return this.ranks.slice(firstIn(row, this.ranks.length, this.rows), firstIn(row + 1, this.ranks.length, this.rows));
  }
  /** @param {number} column */
  stepsOf(column) {
    return this.steps.slice(firstIn(column, this.steps.length, this.columns),
      firstIn(column + 1, this.steps.length, this.columns));
  }
  /**
   * The value of a bin, in ns.
   * @param {number} row @param {number} column @param {Metric} metric
   */
  value(row, column, metric) {
    const code = this.bytes.getUint16(8 * (row * this.columns + column) + (metric === "late" ? 0 : 4), true);
    return code ? 2 ** ((code - 1) / 1024) - 1 : 0;
  }
  /**
   * The value of a bin, and whose it is.
   * @param {number} row @param {number} column @param {Metric} metric @returns {HeatCell}
   */
  cell(row, column, metric) {
    const steps = this.stepsOf(column);
    const place = this.bytes.getUint16(8 * (row * this.columns + column) + (metric === "late" ? 2 : 6), true);
    return { value: this.value(row, column, metric), rank: this.ranksOf(row)[Math.floor(place / steps.length)],
      step: steps[place % steps.length] };
  }
}
