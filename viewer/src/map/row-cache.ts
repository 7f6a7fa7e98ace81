// The rows that were looked at last, so that moving along a row asks the source once.

import type { ReadingSource, Row } from "../data/types";

const MOST = 24;

export class RowCache {
  private readonly rows = new Map<number, Promise<Row>>();
  private readonly arrived = new Map<number, Row>();

  constructor(
    private readonly source: ReadingSource,
    private readonly layer: number,
    private readonly head: number | null,
  ) {}

  /** The row, if it is there already. */
  peek(query: number): Row | null {
    return this.arrived.get(query) ?? null;
  }

  get(query: number): Promise<Row> {
    let row = this.rows.get(query);
    if (!row) {
      row = this.source.row(this.layer, this.head, query);
      this.rows.set(query, row);
      row.then(
        (value) => this.rows.has(query) && this.arrived.set(query, value),
        () => this.rows.delete(query),
      );
      this.forget();
    }
    return row;
  }

  private forget(): void {
    const [oldest] = this.rows.keys();
    if (this.rows.size <= MOST || oldest === undefined) return;
    this.rows.delete(oldest);
    this.arrived.delete(oldest);
  }
}
