// What a page carries, told once for layers that are alike.
import { expect, it } from "vitest";
import { layerGroups, ranges } from "../../src/about/layers";
import { SampleSource } from "../../src/data/sample";

it("groups layers of which the same holds", () => {
  const groups = layerGroups(new SampleSource().layers);
  expect(groups.map((group) => group.layers)).toEqual(["0 to 2", "3", "4", "5"]);
  expect(groups[3]!.like.omitted).toContain("left out");
});

it("groups layers of a file, whose numbers lie in blocks of their own", () => {
  const layer = new SampleSource().layers[0]!;
  const inFile = [0, 1, 2].map((number) => ({ ...layer, number, block: 9 - number, parts: [{ shape: [number] }] }));
  expect(layerGroups(inFile).map((group) => group.layers)).toEqual(["0 to 2"]);
});

it("lets the largest possible error speak for a group", () => {
  const layer = new SampleSource().layers[0]!;
  const [group] = layerGroups([{ ...layer, number: 0, worst: 4.1e-4 }, { ...layer, number: 1, worst: 4.4e-4 }]);
  expect(group!.like.worst).toBe(4.4e-4);
});

it.each([[[0, 1, 2, 5], "0 to 2 and 5"], [[1, 2], "1, 2"], [[4], "4"], [[0, 2, 4, 5, 6], "0, 2 and 4 to 6"]])("writes %j as %s", (numbers, expected) => expect(ranges(numbers)).toBe(expected));
