// @vitest-environment happy-dom
// The steps as they stand on the page: the sentences, the comparison with the source, editing by hand.
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { samplePage } from "../../src/data/sample";
import type { Row } from "../../src/data/types";
import { FourSteps } from "../../src/steps/four-steps";
import { HandExample } from "../../src/steps/hand-example";

let place: HTMLElement;

beforeEach(() => {
  place = document.createElement("div");
  document.body.append(place);
});

afterEach(() => {
  render(null, place);
  place.remove();
});

const source = samplePage().readings[0]!;

async function showSteps(change: (row: Row) => Row = (row) => row, choice: number | null = null, onChoose = vi.fn()) {
  const [vectors, row] = await Promise.all([source.vectors(2, 1, 10), source.row(2, 1, 10)]);
  const info = source.layers[2]!;
  act(() =>
    render(
      <FourSteps
        vectors={vectors}
        labels={source.keys.tokens}
        asking={source.queries.tokens[10]!}
        row={change(row)}
        info={info}
        choice={choice}
        onChoose={onChoose}
        theme="light"
      />,
      place,
    ),
  );
  return { vectors, row, onChoose };
}

const text = () => place.textContent!.replace(/\s+/g, " ");

describe("the four steps of a head", () => {
  test("say where the weight comes from", async () => {
    const { row } = await showSteps();
    const best = row.weights.indexOf(Math.max(...row.weights));
    const weight = row.weights[best]!.toFixed(3);
    const total = (1 / row.weights[best]!).toFixed(3);
    expect(text()).toContain(
      `${weight} is e^(s − max) of “${source.keys.tokens[best]!.label}” over the total of the column, 1.000 ÷ ${total}.`,
    );
    expect(text()).toContain(`The model's own weight is ${weight} (carried as float16, at most 4.0e-4 off)`);
  });

  test("worked here, meet the source's own weights", async () => {
    await showSteps();
    expect(Number(place.querySelector<HTMLElement>(".steps-check")!.dataset["difference"])).toBeLessThan(1e-6);
  });

  test("say so when they do not", async () => {
    await showSteps((row) => ({ ...row, weights: row.weights.map((weight) => weight * 0.9) }));
    expect(place.querySelector("[role=note]")!.textContent).toContain("more than the precision of this page explains");
  });

  test("say so when there are no numbers to compare", async () => {
    await showSteps((row) => ({ ...row, weights: row.weights.map((weight, key) => (key === 1 ? NaN : weight)) }));
    expect(place.querySelector("[role=note]")!.textContent).toContain("not numbers (nan)");
  });

  test("list only what may be looked at, and lead to another key", async () => {
    const { onChoose } = await showSteps();
    const keys = [...place.querySelectorAll<HTMLElement>(".steps-key")];
    expect(keys.length).toBe(11);
    act(() => keys[3]!.click());
    expect(onChoose).toHaveBeenCalledWith(3);
  });

  test("tell why a key in the future has no weight", async () => {
    await showSteps(undefined, 13);
    expect(text()).toContain("“it” may not look at “big”: the score is left out, and the weight is exactly 0.");
  });

  test("keep hostile labels as text", async () => {
    const hostile = '</script><img src=x onerror="window.__pwned=1">';
    const [vectors, row] = await Promise.all([source.vectors(2, 1, 10), source.row(2, 1, 10)]);
    const labels = source.keys.tokens.map((token) => ({ ...token, label: hostile }));
    act(() =>
      render(
        <FourSteps
          vectors={vectors}
          labels={labels}
          asking={labels[0]!}
          row={row}
          info={source.layers[2]!}
          choice={null}
          onChoose={vi.fn()}
          theme="dark"
        />,
        place,
      ),
    );
    expect(place.querySelector("img")).toBeNull();
    expect(text()).toContain(hostile);
  });
});

describe("by hand", () => {
  const show = (state: string, onState = vi.fn()) => {
    act(() => render(<HandExample state={state} onState={onState} theme="light" />, place));
    return onState;
  };
  const output = () => place.querySelector(".hand-output")!.textContent;
  const type = (name: string, value: string) => {
    const field = place.querySelector<HTMLInputElement>(`input[aria-label="${name}"]`)!;
    act(() => {
      field.value = value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    return field;
  };

  test("the published figures", () => {
    show("");
    expect(output()).toBe("output [0.51, 0.37]");
    expect(text()).toContain("1\u00a0·\u00a01 + 0.6\u00a0·\u00a00.8 = 1.48".replace(/\u00a0/g, " "));
    expect(text()).toContain("0.38 is e^s of “cat” over the total of the column, 2.85 ÷ 7.50.");
  });

  test("a number changed changes every step, and the address", () => {
    const onState = show("");
    type("key of cat, number 1", "0");
    expect(onState).toHaveBeenLastCalledWith("cat_k1-0*0");
    expect(text()).toContain("heedmap compute --example cat --set-key cat=0,0.8");
    expect(output()).not.toBe("output [0.51, 0.37]");
  });

  test("half a number is left alone, and marked", () => {
    const onState = show("");
    const field = type("value of it, number 2", "-");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    expect(onState).not.toHaveBeenCalled();
    expect(output()).toBe("output [0.51, 0.37]");
  });

  test("reset brings the example back", () => {
    const onState = show("cat_k1-0*0_noscale");
    const reset = [...place.querySelectorAll("button")].find((button) => button.textContent === "Reset")!;
    act(() => reset.click());
    expect(onState).toHaveBeenLastCalledWith("");
    expect(output()).toBe("output [0.51, 0.37]");
  });

  test("without softmax the weights do not add up to 1, and it says so", () => {
    show("cat_nosoftmax");
    expect(text()).toContain("Without softmax the score itself is the weight");
    expect(text()).toContain("not to 1");
  });

  test("the address changes what is shown", () => {
    show("");
    show("bank-money");
    expect(text()).toContain("money the bank");
  });

  test("of several words that ask, each can be taken apart", () => {
    const onState = show("paris-all_causal");
    const cells = place.querySelectorAll<HTMLElement>(".hand-grid td button");
    expect(cells[1]!.getAttribute("aria-label")).toBe("capital at France: may not look");
    act(() => cells[4]!.click());
    expect(onState).toHaveBeenLastCalledWith("paris-all_causal_row*1_key*0");
    expect(text()).toContain("The four steps for “France”");
  });

  test("in a lesson there is one example", () => {
    act(() => render(<HandExample state="" onState={vi.fn()} theme="light" only="bank-river" />, place));
    expect(place.querySelector(".hand-examples")).toBeNull();
    expect(text()).toContain("river the bank");
  });
});
