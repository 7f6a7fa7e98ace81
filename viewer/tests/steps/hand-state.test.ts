// The examples' changes as a short text: written and read back, wrong wishes passed over.
import { describe, expect, test } from "vitest";
import vectors from "../../../src/heedmap/arithmetic/vectors.json";
import { command, EXAMPLES, fresh, type Hand, isChanged, read, withNumber, write } from "../../src/steps/hand-state";
import { trace, workOf } from "../../src/steps/hand-work";
import { parsed } from "../../src/steps/hand-numbers";
import { reachOf } from "../../src/steps/hand-plane";

describe("the examples", () => {
  test.each(EXAMPLES.map((one) => [one.name, one] as const))(
    "%s has the numbers of the shared vectors",
    (name, example) => {
      const known = vectors.cases.find((one) => one.name === name)!;
      expect({ query: example.query, key: example.key, value: example.value }).toEqual(known.inputs);
      expect([example.tokens, example.asking]).toEqual([known.settings.key_tokens, known.settings.query_positions]);
      const worked = trace(fresh(name)).heads[0]!;
      worked.forEach((row, query) =>
        row.output.forEach((number, dim) =>
          expect(number).toBeCloseTo((known.trace.output as number[][])[query]![dim]!, 12),
        ),
      );
    },
  );

  test("broken as the vectors break them give the same numbers", () => {
    const same = (hand: Hand, name: string) => {
      const wanted = vectors.cases.find((one) => one.name === name)!.trace.output as number[][];
      trace(hand).heads[0]!.forEach((row, query) =>
        row.output.forEach((number, dim) => expect(number).toBeCloseTo(wanted[query]![dim]!, 12)),
      );
    };
    same({ ...fresh("cat"), scaled: false }, "cat-no-scale");
    same({ ...fresh("cat"), softmaxed: false }, "cat-no-softmax");
    same({ ...fresh("cat"), multiply: 8 }, "cat-multiply-8");
    same({ ...fresh("paris-all"), mask: "causal" }, "paris-all-causal");
  });

  test("upside down a word sees itself and what comes later", () => {
    const rows = trace({ ...fresh("paris-all"), mask: "upside down" }).heads[0]!;
    expect(rows.map((row) => [...row.allowed])).toEqual([
      [1, 1, 1, 1],
      [0, 1, 1, 1],
      [0, 0, 1, 1],
      [0, 0, 0, 1],
    ]);
  });
});

const CHANGED: [string, Hand][] = [
  ["", fresh("cat")],
  ["paris-all", fresh("paris-all")],
  ["cat_k1-0*0.5", withNumber(fresh("cat"), "key", 1, 0, 0.5)],
  ["bank-river_q0-1*-2_v2-0*1.25", withNumber(withNumber(fresh("bank-river"), "query", 0, 1, -2), "value", 2, 0, 1.25)],
  ["cat_k0-0*1e-7", withNumber(fresh("cat"), "key", 0, 0, 1e-7)],
  [
    "paris-all_noscale_nosoftmax_upsidedown_times*8_row*0_key*2",
    {
      ...fresh("paris-all"),
      scaled: false,
      softmaxed: false,
      mask: "upside down",
      multiply: 8,
      row: 0,
      choice: 2,
    },
  ],
  ["cat_causal", { ...fresh("cat"), mask: "causal" }],
];

describe("the text in the address", () => {
  test.each(CHANGED)("%s", (text, hand) => {
    expect(write(hand)).toBe(text);
    expect(read(text)).toEqual(hand);
    // It stays as it is in an address.
    expect(new URLSearchParams({ hand: text }).toString()).toBe(`hand=${text}`.replace(/\+/g, "%2B"));
  });

  test.each([
    "nonsense",
    "cat_k9-0*1",
    "cat_k0-7*1",
    "cat_q0-0*x",
    "cat_row*5",
    "cat_key*99",
    "cat_times*1.2.3",
    "_",
    "cat_<script>",
    "cat_k0-0*1e999",
  ])("%s asks for nothing that there is", (text) => expect(read(text)).toEqual(fresh("cat")));

  test("only real changes count as changed", () => {
    expect(isChanged(withNumber(fresh("cat"), "key", 1, 0, 1))).toBe(false);
    expect(isChanged(withNumber(fresh("cat"), "key", 1, 0, 2))).toBe(true);
    expect(isChanged({ ...fresh("cat"), choice: 2 })).toBe(false);
  });
});

describe("the command line", () => {
  test.each([
    [fresh("cat"), "heedmap compute --example cat"],
    [
      withNumber({ ...fresh("cat"), scaled: false, multiply: 8 }, "key", 1, 0, 0.5),
      "heedmap compute --example cat --set-key cat=0.5,0.8 --no-scale --multiply 8",
    ],
    [withNumber(fresh("cat"), "query", 0, 1, -1), "heedmap compute --example cat --query 1,-1"],
    [
      withNumber({ ...fresh("paris-all"), mask: "causal", softmaxed: false }, "query", 3, 0, 1),
      "heedmap compute --example paris-all --query Paris=1,0.1,1 --no-softmax --causal",
    ],
  ])("%#: %o", (hand, line) => expect(command(hand)).toBe(line));

  test("has no mask upside down", () => expect(command({ ...fresh("cat"), mask: "upside down" })).toBeNull());
});

test.each([
  ["1", 1],
  ["-0.5", -0.5],
  ["−2", -2],
  [",5", 0.5],
  ["1,25", 1.25],
  [" 3. ", 3],
  ["", null],
  ["-", null],
  ["1e5", null],
  ["abc", null],
  ["2000000", null],
])("the field %s holds %s", (text, number) => expect(parsed(text)).toBe(number));

test("the digits are those of the published figures, at least two", () => {
  expect(["cat", "bank-river", "paris"].map((name) => workOf(fresh(name), trace(fresh(name))).digits[0])).toEqual([
    2, 4, 3,
  ]);
});

test("the plane holds the origin and every tip, and does not move with each of them", () => {
  expect(
    reachOf([
      [1, 0.6],
      [0.1, 0],
    ]),
  ).toEqual({ low: -0.5, high: 1 });
  expect(reachOf([[1.05, 0.6]])).toEqual({ low: -0.5, high: 1.5 });
  expect(reachOf([[1.4, -0.6]])).toEqual({ low: -1, high: 1.5 });
});
