// Which keys a query may look at, and where a row's numbers stand among those of all allowed cells.
import type { HeaderRule } from "./header";

export class Rule {
  readonly queries: number;
  readonly keys: number;
  /** Whether the band alone says everything. */
  readonly isBand: boolean;
  /** How many masks there are: 1 for all heads, or one a head. */
  readonly masks: number;
  private readonly absent: Uint8Array | null;
  private readonly offsets: Float64Array;

  /** `bits` has a bit a cell, each mask's beginning in a byte of its own, and alone counts where it is given. */
  constructor(
    private readonly rule: HeaderRule,
    private readonly bits: Uint8Array | null = null,
  ) {
    this.queries = rule.queries;
    this.keys = rule.keys;
    this.absent = rule.absent.length ? new Uint8Array(rule.keys) : null;
    for (const key of rule.absent) this.absent![key] = 1;
    this.isBand = !this.absent && !bits;
    this.masks = bits ? rule.bits!.shape[0]! : 1;
    this.offsets = this.countCells();
  }

  /** The first key that a query can reach, and one past the last. */
  low(query: number): number {
    const { back, shift } = this.rule;
    return this.bits || back === null ? 0 : clamp(query + shift - back, this.keys);
  }

  high(query: number): number {
    const { ahead, shift } = this.rule;
    return this.bits || ahead === null ? this.keys : clamp(query + shift + ahead + 1, this.keys);
  }

  /** Whether a cell between `low` and `high` may be looked at. */
  allows(head: number, query: number, key: number): boolean {
    if (this.bits) {
      const mask = this.masks === 1 ? 0 : head;
      const cell = query * this.keys + key;
      return ((this.bits[mask * Math.ceil((this.queries * this.keys) / 8) + (cell >> 3)]! >> (7 - (cell & 7))) & 1) === 1;
    }
    return !this.absent || this.absent[key] === 0;
  }

  /** 1 for every key that a query may look at. For the mean over heads (null), where any head may. */
  row(head: number | null, query: number): Uint8Array {
    const allowed = new Uint8Array(this.keys);
    const [low, high] = [this.low(query), this.high(query)];
    if (this.isBand) return high > low ? allowed.fill(1, low, high) : allowed;
    const heads = head === null ? Array.from({ length: this.masks }, (_, mask) => mask) : [head];
    for (let key = low; key < high; key++) {
      if (heads.some((one) => this.allows(one, query, key))) allowed[key] = 1;
    }
    return allowed;
  }

  /** How many allowed cells of a head there are before a row; with `query` = queries, in all. */
  cellsBefore(head: number, query: number): number {
    return this.offsets[(this.masks === 1 ? 0 : head) * (this.queries + 1) + query]!;
  }

  /** How many allowed cells of all heads there are before a head. */
  cellsBeforeHead(head: number): number {
    if (this.masks === 1) return head * this.cellsBefore(0, this.queries);
    let count = 0;
    for (let before = 0; before < head; before++) count += this.cellsBefore(before, this.queries);
    return count;
  }

  private countCells(): Float64Array {
    const offsets = new Float64Array(this.masks * (this.queries + 1));
    for (let mask = 0; mask < this.masks; mask++) {
      for (let query = 0; query < this.queries; query++) {
        const place = mask * (this.queries + 1) + query;
        offsets[place + 1] = offsets[place]! + this.countRow(mask, query);
      }
    }
    return offsets;
  }

  private countRow(mask: number, query: number): number {
    const [low, high] = [this.low(query), this.high(query)];
    if (this.isBand) return Math.max(high - low, 0);
    let count = 0;
    for (let key = low; key < high; key++) if (this.allows(mask, query, key)) count++;
    return count;
  }
}

function clamp(key: number, keys: number): number {
  return Math.min(Math.max(key, 0), keys);
}
