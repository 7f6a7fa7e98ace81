// @vitest-environment happy-dom
// The small parts that all views write with.
import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, it } from "vitest";
import { differenceText, Guarded, Quoted, smallText, statisticText, visible, weightText } from "../../src/app/parts";
import { said } from "../frame";

describe("numbers", () => {
  it.each([[0.5654, "0.565"], [0, "0.000"], [NaN, "nan"]])("a weight %d is %s", (weight, text) => expect(weightText(weight)).toBe(text));
  it.each([[0.058, "+0.058"], [-0.058, "−0.058"], [-0.0001, "0.000"], [0, "0.000"], [NaN, "nan"]])("a difference %d is %s", (difference, text) => expect(differenceText(difference)).toBe(text));
  it.each([[0.000174, "0.00017"], [0.0764, "0.076"], [0, "0.000"], [NaN, "nan"]])("a small weight %d is %s", (weight, text) => expect(smallText(weight)).toBe(text));
  it.each([[NaN, "absent"], [0.5589, "0.559"], [-12.34, "−12.3"], [412.6, "413"]])("a statistic %d is %s", (value, text) => expect(statisticText(value)).toBe(text));
});

it.each([["", "∅"], ["\n\n", "⏎⏎"], ["  ", "␣␣"], ["a b", "a b"], ["\t", "⇥"]])("gives what has no shape one: %j", (text, shown) => expect(visible(text)).toBe(shown));

it("isolates quoted text", () => {
  const element = document.createElement("div");
  render(<Quoted text={"\u202Eevil<b>"} />, element);
  expect(element.querySelector("bdi")!.textContent).toBe("\u202Eevil<b>");
  expect(element.querySelector("b")).toBeNull();
});

it("tells a fault in its place, and tries again when something else is asked for", async () => {
  const element = document.createElement("div");
  const Part = ({ broken }: { broken: boolean }) => {
    if (broken) throw new Error("no such layer");
    return <p>well</p>;
  };
  const show = (broken: boolean) => act(() => render(<div><Guarded what="The map"><Part broken={broken} /></Guarded><i>rest</i></div>, element));
  await show(true);
  expect(said(element)).toBe("The map cannot be shown: no such layerrest");
  await show(false);
  expect(said(element)).toBe("wellrest");
});
