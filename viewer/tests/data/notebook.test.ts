// A page in a notebook: the widget's values become the same page as a file's.
import { describe, expect, it } from "vitest";
import { LocalCalculator } from "../../src/data/calculator";
import { pageInWidget, type WidgetModel } from "../../src/data/notebook";
import { loadFixture, openFixture, sourceOf } from "./fixture";

const fixture = loadFixture();
const blocks = fixture.blocks.map((block) => Uint8Array.from(Buffer.from(block, "base64")));

function widget(data: Uint8Array, view: boolean): WidgetModel {
  const values: Record<string, unknown> = {
    header: JSON.stringify(fixture.header),
    data: view ? new DataView(data.buffer, data.byteOffset, data.byteLength) : data.slice().buffer,
    sizes: blocks.map((block) => block.length),
  };
  return { get: (name: string) => values[name] } as WidgetModel;
}

describe("a widget", () => {
  const padded = new Uint8Array([9, 9, ...blocks.flatMap((block) => [...block])]).subarray(2);

  it.each([true, false])("gives every layer its own block (as a view of a larger buffer: %s)", async (view) => {
    const page = pageInWidget(widget(padded, view), new LocalCalculator());
    const file = openFixture(fixture);
    for (const layer of [0, 3, 5]) {
      expect(await sourceOf(page, "self").row(layer, 1, 9)).toEqual(await sourceOf(file, "self").row(layer, 1, 9));
    }
  });

  it("says when its numbers did not come whole", () => {
    expect(() => pageInWidget(widget(padded.subarray(1), false), new LocalCalculator())).toThrow("run the cell again");
  });
});
