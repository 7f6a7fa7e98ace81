// @vitest-environment happy-dom
// Hands on the map: a click is no drag, two fingers zoom, a bare wheel belongs to the page until the map has the focus.
import { beforeEach, describe, expect, test, vi } from "vitest";
import { attach, type Hands } from "../../src/map/gestures";

let element: HTMLElement;
let hands: { [Name in keyof Hands]: ReturnType<typeof vi.fn> };
let detach: () => void;

beforeEach(() => {
  element = document.createElement("div");
  element.setPointerCapture = vi.fn();
  hands = {
    pan: vi.fn(),
    zoom: vi.fn(),
    hover: vi.fn(),
    pick: vi.fn(),
    enter: vi.fn(),
    ownsWheel: vi.fn(() => false),
    wheelPassed: vi.fn(),
  };
  detach = attach(element, hands as unknown as Hands);
});

const pointer = (type: string, x: number, y: number, more: PointerEventInit = {}) =>
  element.dispatchEvent(
    new PointerEvent(type, { clientX: x, clientY: y, pointerId: 1, pointerType: "mouse", bubbles: true, ...more }),
  );

describe("the mouse", () => {
  test("points without a button", () => {
    pointer("pointermove", 30, 40);
    expect(hands.hover).toHaveBeenLastCalledWith({ x: 30, y: 40 });
    pointer("pointerleave", 30, 40);
    expect(hands.hover).toHaveBeenLastCalledWith(null);
  });

  test("chooses with a click, even an unsteady one", () => {
    pointer("pointerdown", 30, 40);
    pointer("pointermove", 31, 41);
    pointer("pointerup", 31, 41);
    expect(hands.pick).toHaveBeenCalledWith(31, 41);
    expect(hands.pan).not.toHaveBeenCalled();
  });

  test("drags the map, and then chooses nothing", () => {
    pointer("pointerdown", 30, 40);
    pointer("pointermove", 50, 45);
    pointer("pointermove", 60, 45);
    pointer("pointerup", 60, 45);
    expect(hands.pan.mock.calls).toEqual([
      [20, 5],
      [10, 0],
    ]);
    expect(hands.pick).not.toHaveBeenCalled();
  });

  test("leaves the other buttons to the browser", () => {
    pointer("pointerdown", 30, 40, { button: 2 });
    pointer("pointerup", 30, 40, { button: 2 });
    expect(hands.pick).not.toHaveBeenCalled();
  });

  test("goes to single cells with a double click", () => {
    element.dispatchEvent(new MouseEvent("dblclick", { clientX: 5, clientY: 6 }));
    expect(hands.enter).toHaveBeenCalledWith(5, 6);
  });
});

test("two fingers zoom by their distance, around their middle", () => {
  const touch = { pointerType: "touch" };
  pointer("pointerdown", 100, 100, { ...touch, pointerId: 1 });
  pointer("pointerdown", 200, 100, { ...touch, pointerId: 2 });
  pointer("pointermove", 300, 100, { ...touch, pointerId: 2 });
  expect(hands.zoom).toHaveBeenCalledWith(2, 200, 100);
  pointer("pointerup", 300, 100, { ...touch, pointerId: 2 });
  pointer("pointerup", 100, 100, { ...touch, pointerId: 1 });
  expect(hands.pick).not.toHaveBeenCalled();
});

describe("the wheel", () => {
  const wheel = (more: WheelEventInit = {}) => {
    const event = new WheelEvent("wheel", { deltaY: -100, clientX: 7, clientY: 8, cancelable: true, ...more });
    // happy-dom does not take the keys of a wheel event from its options.
    for (const key of ["ctrlKey", "shiftKey", "metaKey"] as const)
      Object.defineProperty(event, key, { value: more[key] ?? false });
    element.dispatchEvent(event);
    return event.defaultPrevented;
  };

  test("belongs to the page, which is told", () => {
    expect(wheel()).toBe(false);
    expect(hands.wheelPassed).toHaveBeenCalled();
    expect(hands.zoom).not.toHaveBeenCalled();
  });

  test("zooms with Control, and on a map that has the focus", () => {
    expect(wheel({ ctrlKey: true })).toBe(true);
    hands.ownsWheel.mockReturnValue(true);
    expect(wheel()).toBe(true);
    expect(hands.zoom.mock.calls.every(([factor]) => (factor as number) > 1)).toBe(true);
    expect(hands.zoom).toHaveBeenCalledTimes(2);
  });

  test("zooms out the other way, never by leaps", () => {
    hands.ownsWheel.mockReturnValue(true);
    wheel({ deltaY: 100_000 });
    expect(hands.zoom.mock.calls[0]![0]).toBeCloseTo(Math.exp(-0.24), 9);
  });

  test("with Shift moves sideways", () => {
    hands.ownsWheel.mockReturnValue(true);
    wheel({ shiftKey: true });
    expect(hands.pan).toHaveBeenCalledWith(100, 0);
  });
});

test("let go, nothing happens any more", () => {
  detach();
  pointer("pointermove", 1, 1);
  expect(hands.hover).not.toHaveBeenCalled();
});
