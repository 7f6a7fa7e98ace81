// Mouse, touch and wheel on the map: drag to move, wheel or two fingers to zoom, click to choose.

interface Point {
  x: number;
  y: number;
}

export interface Hands {
  pan(dx: number, dy: number): void;
  zoom(factor: number, x: number, y: number): void;
  /** The pointer is over this point; null when it has left. */
  hover(point: Point | null): void;
  pick(x: number, y: number): void;
  /** Twice on the same place. */
  enter(x: number, y: number): void;
  /** Whether a bare wheel belongs to the map and not to the page. */
  ownsWheel(): boolean;
  /** A bare wheel was left to the page. */
  wheelPassed(): void;
}

/** A pointer that moves less than this is a click. */
const STILL = 4;

/** Attaches to the element; returns what detaches again. */
export function attach(element: HTMLElement, hands: Hands): () => void {
  const point = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const twice = (event: MouseEvent) => {
    const { x, y } = point(event);
    hands.enter(x, y);
  };
  const wheel = (event: WheelEvent) => turned(event, hands, point(event));
  const listeners: [string, (event: never) => void][] = [...pointing(element, hands, point), ["dblclick", twice]];
  for (const [name, listener] of listeners) element.addEventListener(name, listener as EventListener);
  element.addEventListener("wheel", wheel, { passive: false });
  return () => {
    for (const [name, listener] of listeners) element.removeEventListener(name, listener as EventListener);
    element.removeEventListener("wheel", wheel);
  };
}

/** What the pointers do: one drags or clicks, two pinch. */
function pointing(
  element: HTMLElement,
  hands: Hands,
  point: (event: MouseEvent) => Point,
): [string, (event: PointerEvent) => void][] {
  const down = new Map<number, Point>();
  let moved = 0;
  const pressed = (event: PointerEvent) => {
    if (event.button > 0) return;
    element.setPointerCapture(event.pointerId);
    down.set(event.pointerId, point(event));
    moved = down.size > 1 ? STILL : 0;
    if (event.pointerType === "touch") hands.hover(null);
  };
  const moving = (event: PointerEvent) => {
    const now = point(event);
    const before = down.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") hands.hover(now);
      return;
    }
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
    if (other) pinch(hands, before, now, other);
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (!other && moved < STILL) return;
    if (!other) hands.pan(now.x - before.x, now.y - before.y);
    down.set(event.pointerId, now);
    hands.hover(null);
  };
  const released = (event: PointerEvent) => {
    const was = down.delete(event.pointerId);
    if (was && down.size === 0 && moved < STILL && event.type === "pointerup") {
      const { x, y } = point(event);
      hands.pick(x, y);
      if (event.pointerType !== "touch") hands.hover({ x, y });
    }
  };
  return [
    ["pointerdown", pressed],
    ["pointermove", moving],
    ["pointerup", released],
    ["pointercancel", released],
    ["pointerleave", () => hands.hover(null)],
  ];
}

/** The wheel zooms, where it belongs to the map. */
function turned(event: WheelEvent, hands: Hands, { x, y }: Point): void {
  const wanted = event.ctrlKey || event.metaKey;
  if (!wanted && !hands.ownsWheel()) return hands.wheelPassed();
  event.preventDefault();
  if (event.shiftKey) return hands.pan(-(event.deltaX || event.deltaY), 0);
  // A line of a wheel counts as many pixels; what a pinch on a trackpad sends is small and comes often.
  const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1);
  hands.zoom(Math.exp(-Math.max(-120, Math.min(120, pixels)) * (event.ctrlKey ? 0.01 : 0.002)), x, y);
}

/** One of two fingers moved: the map follows their middle and the distance between them. */
function pinch(hands: Hands, before: Point, now: Point, other: Point): void {
  const span = (point: Point) => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
  const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
  hands.zoom(span(now) / span(before), middle.x, middle.y);
  hands.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
}
