// @vitest-environment happy-dom
// The map as it stands on the page: its sentence, its keys, why it is not there, what the legend says.
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MadeUp, type Shape } from "../../bench/made-up";
import { samplePage } from "../../src/data/sample";
import { MapView } from "../../src/map/map-view";
import type { MapViewProps } from "../../src/map/props";

let place: HTMLElement;

beforeEach(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  place = document.createElement("div");
  document.body.append(place);
});

afterEach(() => {
  act(() => render(null, place));
  place.remove();
  vi.unstubAllGlobals();
});

function show(shape: Shape, change: Partial<MapViewProps> = {}) {
  const onChoose = vi.fn();
  const source = change.source ?? new MadeUp(shape);
  act(() =>
    render(
      <MapView
        source={source}
        layer={0}
        head={1}
        query={null}
        choice={null}
        onChoose={onChoose}
        theme="light"
        scale="linear"
        apart={false}
        {...change}
      />,
      place,
    ),
  );
  return { source, onChoose };
}

const line = () => place.querySelector(".map-line")!.textContent!.replace(/\s+/g, " ");
const lineSays = (text: string) => vi.waitFor(() => expect(line()).toBe(text), { timeout: 2000 });

describe("the line under the map", () => {
  test("asks for a choice first", () => {
    show({ tokens: 15 });
    expect(line()).toContain("Choose a cell to read its number");
  });

  test("reads the chosen cell", async () => {
    const { source } = show({ tokens: 15 }, { query: 10, choice: 4 });
    const { weights } = await source.row(0, 1, 10);
    await lineSays(`“it” (token 10) looks at “fit” (token 4): weight ${weights[4]!.toFixed(4)}; layer 0, head 1`);
  });

  test("reads the chosen row", async () => {
    const { source } = show({ tokens: 15, window: 4 }, { query: 10, head: null });
    const { sum } = await source.row(0, null, 10);
    await lineSays(`“it” (token 10) may look at 4 tokens; the weights of its row add up to ${sum.toFixed(4)}`);
  });

  test("calls a difference a difference", async () => {
    show({ tokens: 15, difference: true }, { query: 10, difference: true });
    await vi.waitFor(() => expect(line()).toContain("the differences of weights of its row"), { timeout: 2000 });
  });

  test("keeps hostile labels as text", async () => {
    const source = new MadeUp({ tokens: 3 });
    source.queries.tokens[1]!.label = "<img src=x onerror=alert(1)>";
    show({ tokens: 3 }, { source, query: 1, choice: 0 });
    await vi.waitFor(() => expect(line()).toContain("“<img src=x onerror=alert(1)>” (token 1) looks at"), {
      timeout: 2000,
    });
    expect(place.querySelector("img")).toBeNull();
  });
});

describe("keys", () => {
  const press = (key: string) => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    act(() => void place.querySelector("[role=application]")!.dispatchEvent(event));
    return event.defaultPrevented;
  };

  test("move the choice", () => {
    const { onChoose } = show({ tokens: 15 }, { query: 10, choice: 4 });
    expect(press("ArrowLeft")).toBe(true);
    expect(onChoose).toHaveBeenLastCalledWith(10, 3);
    press("Escape");
    expect(onChoose).toHaveBeenLastCalledWith(null, null);
  });

  test("begin at the first key of the row that is chosen", () => {
    const { onChoose } = show({ tokens: 15 }, { query: 10, choice: null });
    press("ArrowLeft");
    expect(onChoose).toHaveBeenLastCalledWith(10, 0);
  });

  test("leave Tab to the page", () => {
    show({ tokens: 15 });
    expect(press("Tab")).toBe(false);
  });
});

describe("a map that is not there", () => {
  test("says that its layer was left out, and why", () => {
    show({ tokens: 3 }, { source: samplePage().readings[0]!, layer: 5 });
    expect(place.querySelector("[role=note]")!.textContent).toBe(
      "Layer 5 is not in this page: left out to stay within 1 MB; ask for it with --layers 5.",
    );
  });

  test("of a text without tokens says so", () => {
    const source = new MadeUp({ tokens: 1 });
    source.queries.tokens.pop();
    show({ tokens: 1 }, { source });
    expect(place.querySelector("[role=note]")!.textContent).toBe("There is no token to show.");
  });
});

describe("the legend", () => {
  test("has a scale for the first token and one for all others", () => {
    show({ tokens: 15 });
    expect(place.querySelectorAll(".map-legend-bar").length).toBe(2);
    expect(place.querySelector(".map-legend")!.textContent).toContain("weight: share of the row's attention");
    expect(place.querySelector(".map-legend")!.textContent).toContain("blank: may not be looked at");
  });

  test("says that colours were rescaled and numbers were not", () => {
    show({ tokens: 15 }, { apart: true });
    expect(place.querySelector(".map-legend")!.textContent).toContain("the numbers are unchanged");
  });

  test("of differences goes both ways", () => {
    show({ tokens: 15 }, { difference: true });
    expect(place.querySelector(".map-legend-two")!.textContent).toContain("−1");
  });
});

test("the switch for the scale is there when the page wants it", () => {
  const onScale = vi.fn();
  show({ tokens: 15 }, { onScale });
  const log = [...place.querySelectorAll("button")].find((button) => button.textContent === "logarithmic")!;
  act(() => log.click());
  expect(onScale).toHaveBeenCalledWith("log");
});
