// The same pen writing an SVG document: text stays text, lines stay lines, cells are pictures or rectangles.

import { FONT, type Lettering, type Pen, type Point } from "../map/pen";

const SVG = "http://www.w3.org/2000/svg";
const HATCH = 6;

type Attributes = Record<string, string | number | undefined>;

export class SvgPen implements Pen {
  readonly root: SVGSVGElement;
  private into: Element;
  private readonly definitions: Element;
  private names = 0;
  private readonly hatches = new Map<string, string>();

  constructor(width: number, height: number) {
    this.root = document.createElementNS(SVG, "svg");
    set(this.root, { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT });
    this.definitions = this.add(this.root, "defs", {});
    this.into = this.root;
  }

  /** The document as text; labels were set as text nodes, so nothing in them can act. */
  toString(): string {
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(this.root)}\n`;
  }

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.add(this.into, "rect", { x: tidy(x), y: tidy(y), width: tidy(width), height: tidy(height), fill });
  }

  frame(x: number, y: number, width: number, height: number, stroke: string, thickness: number): void {
    const place = { x: tidy(x), y: tidy(y), width: tidy(width), height: tidy(height) };
    this.add(this.into, "rect", { ...place, fill: "none", stroke, "stroke-width": thickness });
  }

  line(points: readonly Point[], stroke: string, thickness: number, dashed = false): void {
    const dash = dashed ? "4 3" : undefined;
    this.add(this.into, "polyline", {
      points: listed(points),
      fill: "none",
      stroke,
      "stroke-width": thickness,
      "stroke-dasharray": dash,
    });
  }

  hatch(points: readonly Point[], stroke: string): void {
    this.add(this.into, "polygon", { points: listed(points), fill: `url(#${this.hatchOf(stroke)})` });
  }

  text(text: string, x: number, y: number, { align, colour, size = 12, bold = false, turn = 0 }: Lettering): void {
    const anchor = { left: "start", right: "end", centre: "middle" }[align];
    const transform = turn ? `rotate(${-turn} ${tidy(x)} ${tidy(y)})` : undefined;
    const place = { x: tidy(x), y: tidy(y), "text-anchor": anchor, "dominant-baseline": "central", transform };
    const weight = bold ? 600 : undefined;
    const element = this.add(this.into, "text", { ...place, fill: colour, "font-size": size, "font-weight": weight });
    element.textContent = text;
  }

  picture(picture: HTMLCanvasElement, x: number, y: number, width: number, height: number): void {
    const place = { x: tidy(x), y: tidy(y), width: tidy(width), height: tidy(height) };
    const sharp = {
      preserveAspectRatio: "none",
      style: "image-rendering: pixelated",
      href: picture.toDataURL("image/png"),
    };
    this.add(this.into, "image", { ...place, ...sharp });
  }

  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = this.name("within");
    const clip = this.add(this.definitions, "clipPath", { id });
    this.add(clip, "rect", { x: tidy(x), y: tidy(y), width: tidy(width), height: tidy(height) });
    const outside = this.into;
    this.into = this.add(outside, "g", { "clip-path": `url(#${id})` });
    draw();
    this.into = outside;
  }

  private hatchOf(stroke: string): string {
    const known = this.hatches.get(stroke);
    if (known) return known;
    const id = this.name("hatch");
    const pattern = this.add(this.definitions, "pattern", {
      id,
      width: HATCH,
      height: HATCH,
      patternUnits: "userSpaceOnUse",
    });
    this.add(pattern, "path", { d: `M0 ${HATCH}L${HATCH} 0`, stroke, "stroke-width": 0.8, fill: "none" });
    this.hatches.set(stroke, id);
    return id;
  }

  private name(kind: string): string {
    return `${kind}-${++this.names}`;
  }

  private add(parent: Element, name: string, attributes: Attributes): Element {
    const element = document.createElementNS(SVG, name);
    set(element, attributes);
    parent.append(element);
    return element;
  }
}

function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, String(value));
  }
}

const tidy = (number: number): number => Math.round(number * 1000) / 1000;

const listed = (points: readonly Point[]): string => points.map(([x, y]) => `${tidy(x)},${tidy(y)}`).join(" ");
