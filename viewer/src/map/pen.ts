// Drawing in CSS pixels, onto a canvas or into an SVG, so that one description of the map serves the screen and files.

export type Point = readonly [number, number];

export interface Lettering {
  /** Where the point lies in the text. */
  align: "left" | "right" | "centre";
  colour: string;
  size?: number;
  bold?: boolean;
  /** Degrees, anticlockwise. */
  turn?: number;
}

export interface Pen {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  frame(x: number, y: number, width: number, height: number, stroke: string, thickness: number): void;
  line(points: readonly Point[], stroke: string, thickness: number, dashed?: boolean): void;
  /** Thin slanted lines inside a shape. */
  hatch(points: readonly Point[], stroke: string): void;
  text(text: string, x: number, y: number, how: Lettering): void;
  /** A picture of one pixel a cell, enlarged without smoothing. */
  picture(picture: HTMLCanvasElement, x: number, y: number, width: number, height: number): void;
  /** Draws with everything outside the rectangle left alone. */
  within(x: number, y: number, width: number, height: number, draw: () => void): void;
}

export const FONT = 'system-ui, -apple-system, "Segoe UI", sans-serif';
const HATCH = 6;

/** Text closed off from what stands beside it, whatever direction it runs in (Unicode UAX 9). */
export const isolated = (text: string): string => `\u2068${text}\u2069`;

export class CanvasPen implements Pen {
  private hatches = new Map<string, CanvasPattern>();

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly ratio: number,
  ) {
    context.imageSmoothingEnabled = false;
    context.direction = "ltr";
    context.textBaseline = "middle";
  }

  /** Whole device pixels, so that edges are sharp and neighbouring pictures meet. */
  private snapped(x: number, y: number, width: number, height: number): [number, number, number, number] {
    const [left, top] = [Math.round(x * this.ratio), Math.round(y * this.ratio)];
    return [left, top, Math.round((x + width) * this.ratio) - left, Math.round((y + height) * this.ratio) - top];
  }

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.context.fillStyle = fill;
    this.context.fillRect(...this.snapped(x, y, width, height));
  }

  frame(x: number, y: number, width: number, height: number, stroke: string, thickness: number): void {
    this.context.strokeStyle = stroke;
    this.context.lineWidth = thickness * this.ratio;
    this.context.strokeRect(...this.snapped(x, y, width, height));
  }

  line(points: readonly Point[], stroke: string, thickness: number, dashed = false): void {
    this.context.strokeStyle = stroke;
    this.context.lineWidth = thickness * this.ratio;
    this.context.setLineDash(dashed ? [4 * this.ratio, 3 * this.ratio] : []);
    this.outline(points);
    this.context.stroke();
    this.context.setLineDash([]);
  }

  hatch(points: readonly Point[], stroke: string): void {
    this.outline(points);
    this.context.fillStyle = this.hatchOf(stroke);
    this.context.fill();
  }

  text(text: string, x: number, y: number, { align, colour, size = 12, bold = false, turn = 0 }: Lettering): void {
    const { context, ratio } = this;
    context.font = `${bold ? "600 " : ""}${size * ratio}px ${FONT}`;
    context.fillStyle = colour;
    context.textAlign = align === "centre" ? "center" : align;
    if (turn === 0) {
      context.fillText(text, x * ratio, y * ratio);
      return;
    }
    context.save();
    context.translate(x * ratio, y * ratio);
    context.rotate((-turn * Math.PI) / 180);
    context.fillText(text, 0, 0);
    context.restore();
  }

  picture(picture: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    this.context.drawImage(picture, ...this.snapped(x, y, width, height));
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(...this.snapped(x, y, width, height));
    this.context.clip();
    draw();
    this.context.restore();
  }

  private outline(points: readonly Point[]): void {
    this.context.beginPath();
    for (const [x, y] of points) {
      // Half pixels, so that a thin line covers one row of pixels and not the halves of two.
      this.context.lineTo(Math.round(x * this.ratio) + 0.5, Math.round(y * this.ratio) + 0.5);
    }
  }

  private hatchOf(stroke: string): CanvasPattern {
    let pattern = this.hatches.get(stroke);
    if (pattern) return pattern;
    const side = Math.round(HATCH * this.ratio);
    const tile = document.createElement("canvas");
    tile.width = tile.height = side;
    const context = tile.getContext("2d")!;
    context.strokeStyle = stroke;
    context.lineWidth = this.ratio * 0.8;
    context.beginPath();
    for (const shift of [-side, 0, side]) {
      context.moveTo(shift, side);
      context.lineTo(shift + side, 0);
    }
    context.stroke();
    pattern = this.context.createPattern(tile, "repeat")!;
    this.hatches.set(stroke, pattern);
    return pattern;
  }
}
