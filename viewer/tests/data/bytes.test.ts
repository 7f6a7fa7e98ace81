// Halves, planes of bytes, and damaged blocks.
import { describe, expect, it } from "vitest";
import { cut, fromBase64, halfTable } from "../../src/data/bytes";

describe("halves", () => {
  it.each([
    [0x3c00, 1], [0xc000, -2], [0x3555, 0.333251953125], [0x7bff, 65504], [0x0001, 2 ** -24], [0x03ff, 1023 * 2 ** -24],
    [0x7c00, Infinity], [0xfc00, -Infinity], [0x7e00, NaN], [0x8000, -0],
  ])("%i is %d", (half, number) => expect(halfTable()[half]).toBe(number));
});

describe("a block", () => {
  const parts = [{ name: "one", type: "float16" as const, shape: [2] }, { name: "two", type: "float32" as const, shape: [1] }];
  const bytes = Uint8Array.from([0, 0, 0x3c, 0x38, 0, 0, 0xc0, 0x3f]);

  it("is cut into its parts, lowest bytes first", () => {
    const found = cut(bytes, parts);
    expect([...found.get("one")!]).toEqual([0x3c00, 0x3800]);
    expect([...found.get("two")!]).toEqual([1.5]);
  });

  it("is refused when it is too short or too long", () => {
    expect(() => cut(bytes.subarray(0, 7), parts)).toThrow("the part “two” is cut off");
    expect(() => cut(Uint8Array.from([...bytes, 1]), parts)).toThrow("more bytes than its parts");
  });

  it("is read from base64", () => expect([...fromBase64("AP8B")]).toEqual([0, 255, 1]));
});
