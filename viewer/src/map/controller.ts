// Keeps one canvas up to date: what is looked at, which tiles that needs, and one frame when something has changed.

import { compose, fromMiddle, isCovered, type Subject } from "./compose";
import { drawCrosshair } from "./crosshair";
import { drawCells } from "./draw-cells";
import { drawLabels } from "./draw-labels";
import { CanvasPen } from "./pen";
import { type Colours, type Layout, layoutOf, type Scene } from "./scene";
import { TileStore } from "./tile-store";
import {
  type Cell,
  cellAt,
  fit,
  isWhole,
  levelOf,
  pan,
  reveal,
  type Size,
  type Viewport,
  visible,
  zoomAt,
} from "./viewport";

/** What the page around the canvas has to say about the picture. */
export interface Report {
  level: number;
  whole: boolean;
  loading: boolean;
  /** The picture is still that of the map before, or there is none yet. */
  stale: boolean;
  broken: boolean;
  holes: boolean;
  top: number;
  fault: string | null;
}

export class MapController {
  layout: Layout | null = null;
  private view: Viewport = { cell: 1, x: 0, y: 0 };
  private subject: Subject | null = null;
  private colours: Colours | null = null;
  private store: TileStore | null = null;
  /** The map that was shown before, kept on screen until the new one can cover it. */
  private previous: TileStore | null = null;
  private hover: Cell | null = null;
  private ratio = 1;
  private frame = 0;
  private told = "";

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly tell: (report: Report) => void,
  ) {}

  get size(): Size {
    return this.store?.size ?? { rows: 1, columns: 1 };
  }

  get level(): number {
    return levelOf(this.view.cell, this.ratio);
  }

  get tiles(): TileStore | null {
    return this.store;
  }

  /** Shows this, in a box of this width and at most so high. */
  show(subject: Subject, colours: Colours, width: number, most: number, ratio: number): void {
    const before = this.subject;
    const another = before?.source !== subject.source;
    const map = another || before.info !== subject.info || before.head !== subject.head || before.how !== subject.how;
    this.subject = subject;
    this.colours = colours;
    if (map) this.replaceStore(subject, another);
    if (another || width !== this.layout?.width || ratio !== this.ratio || !this.layout) {
      const whole = another || this.isWhole;
      this.ratio = ratio;
      this.arrange(width, most);
      if (whole) this.showWhole();
    }
    this.redraw();
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.store?.close();
    this.previous?.close();
  }

  zoom(factor: number, px?: number, py?: number): void {
    if (!this.layout) return;
    const { pane, left, top } = this.layout;
    const [x, y] = [px === undefined ? pane.width / 2 : px - left, py === undefined ? pane.height / 2 : py - top];
    this.view = zoomAt(this.view, factor, x, y, this.size, pane, this.ratio);
    this.redraw();
  }

  /** Zooms to single cells around a cell. */
  zoomTo(cell: Cell): void {
    if (!this.layout) return;
    const { pane } = this.layout;
    const side = Math.max(28, this.view.cell);
    this.view = { cell: side, x: cell.key + 0.5 - pane.width / 2 / side, y: cell.query + 0.5 - pane.height / 2 / side };
    this.view = pan(this.view, 0, 0, this.size, pane);
    this.redraw();
  }

  showWhole(): void {
    if (!this.layout) return;
    this.view = fit(this.size, this.layout.pane, this.ratio);
    this.redraw();
  }

  get isWhole(): boolean {
    return !this.layout || isWhole(this.view, this.size, this.layout.pane, this.ratio);
  }

  pan(dx: number, dy: number): void {
    if (!this.layout) return;
    this.view = pan(this.view, dx, dy, this.size, this.layout.pane);
    this.redraw();
  }

  reveal(cell: Cell): void {
    if (!this.layout) return;
    this.view = reveal(this.view, cell, this.size, this.layout.pane);
    this.redraw();
  }

  point(cell: Cell | null): void {
    if (cell?.query === this.hover?.query && cell?.key === this.hover?.key) return;
    this.hover = cell;
    this.redraw();
  }

  /** The cell at a point of the canvas; over the labels of an axis only that half of it. */
  at(px: number, py: number): { query: number | null; key: number | null } | null {
    if (!this.layout) return null;
    const { left, top, pane } = this.layout;
    const [x, y] = [px - left, py - top];
    if (x > pane.width || y > pane.height) return null;
    const cell = cellAt(this.view, Math.max(x, 0), Math.max(y, 0), this.size);
    if (!cell || (x < 0 && y < 0)) return null;
    return { query: y < 0 ? null : cell.query, key: x < 0 ? null : cell.key };
  }

  /** Where a cell lies on the canvas, in CSS pixels. */
  place(cell: Cell): { x: number; y: number; side: number } {
    const { left, top } = this.layout!;
    const side = this.view.cell;
    return { x: left + (cell.key - this.view.x) * side, y: top + (cell.query - this.view.y) * side, side };
  }

  redraw(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** The picture as it is now, for a file. */
  scene(): Scene | null {
    return this.subject && this.layout ? this.compose() : null;
  }

  private replaceStore(subject: Subject, another: boolean): void {
    const old = this.store;
    this.store = new TileStore(subject.source, subject.info, subject.head, subject.how, () => this.redraw());
    if (another || !old) {
      old?.close();
      this.previous?.close();
      this.previous = null;
      return;
    }
    if (old.hasAny) {
      this.previous?.close();
      this.previous = old;
    } else old.close();
  }

  private arrange(width: number, most: number): void {
    const { source } = this.subject!;
    this.layout = layoutOf(width, most, this.size, source.queries.tokens, source.keys.tokens);
    const { pane } = this.layout;
    // A map that is smaller than its pane takes no more room than it needs.
    const whole = fit(this.size, pane, this.ratio);
    const height = Math.min(pane.height, whole.cell * this.size.rows);
    this.layout = { ...this.layout, height: this.layout.height - pane.height + height, pane: { ...pane, height } };
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(this.layout.height * this.ratio);
    this.canvas.style.height = `${this.layout.height}px`;
    this.view = pan(this.view, 0, 0, this.size, this.layout.pane);
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    const scene = this.subject && this.layout && context ? this.compose() : null;
    if (!scene || !context) return;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const pen = new CanvasPen(context, this.ratio);
    drawCells(pen, scene);
    if (this.hover) drawCrosshair(pen, scene, this.hover);
    drawLabels(pen, scene, this.hover);
    this.report(scene);
  }

  /** Asks for what is on screen; until it is there, the map before stays. */
  private compose(): Scene {
    const { rows, columns } = visible(this.view, this.size, this.layout!.pane);
    const pieces = this.store!.cover(this.level, rows, columns);
    this.store!.want(fromMiddle(pieces, rows, columns));
    if (this.previous && (isCovered(pieces) || this.store!.fault !== null)) {
      this.previous.close();
      this.previous = null;
    }
    const { layout, view, ratio, colours, level } = this;
    return compose({
      subject: this.subject!,
      store: this.previous ?? this.store!,
      layout: layout!,
      colours: colours!,
      view,
      ratio,
      level,
    });
  }

  private report(scene: Scene): void {
    const store = this.store!;
    const report: Report = {
      level: this.level,
      whole: this.isWhole,
      loading: store.loading,
      stale: store.loading && (this.previous !== null || scene.placed.length === 0),
      broken: store.broken,
      holes: scene.placed.some((piece) => piece.holes),
      top: scene.ink.top,
      fault: store.fault,
    };
    const told = JSON.stringify(report);
    if (told === this.told) return;
    this.told = told;
    this.tell(report);
  }
}
