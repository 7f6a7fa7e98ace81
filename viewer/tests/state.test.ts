// The address: what is written is read back, and what cannot be read is passed over.
import { describe, expect, it } from "vitest";
import { sampleComparison, samplePage, sampleTwoStacks } from "../src/data/sample";
import { address, createStore, followAddress, initial, opposite, parse, type State } from "../src/state";

const page = samplePage();

describe("address", () => {
  it("is read back as the state it was written from", () => {
    const state: State = {
      ...initial(page),
      view: "compare", layer: 4, head: null, query: 7, key: 3, unit: "tokens", rule: "last", apart: false, scale: "log",
      statistic: "entropy", hand: "words=2&x", against: { reading: "self", layer: 1, head: 2 },
    };
    expect(parse(address(state, page), page)).toEqual(state);
  });

  it("names the place even where it is the one shown anyway", () => {
    expect(address(initial(page), page)).toBe("#view=read&reading=self&layer=2&head=1&query=10");
  });

  it.each([
    ["", {}],
    ["#view=nowhere&layer=x&head=-1&query=1e3&key=&scale=cube", {}],
    ["#layer=99&head=99&query=9999&key=9999", { layer: 5, head: 3, query: 14 }],
    ["#reading=%3Cscript%3E&statistic=none", {}],
    ["#head=mean", { head: null }],
    ["#apart=no", { apart: false }],
  ])("passes over what is not there: %s", (hash, expected) => {
    const { against: _a, ...state } = parse(hash, page);
    const { against: _b, ...start } = initial(page);
    expect(state).toEqual({ ...start, ...expected });
  });
});

describe("the other side of a comparison", () => {
  it("is the other text where the page compares two", () => {
    const two = sampleComparison();
    expect(opposite(two, { reading: "a", layer: 2, head: 1 })).toEqual({ reading: "b", layer: 2, head: 1 });
    expect(opposite(two, { reading: "b", layer: 2, head: null })).toEqual({ reading: "a", layer: 2, head: null });
  });

  it("is the next head otherwise, and the first after the last", () => {
    expect(opposite(page, { reading: "self", layer: 0, head: 3 }).head).toBe(0);
    expect(opposite(page, { reading: "self", layer: 0, head: null }).head).toBe(0);
  });
});

describe("the store", () => {
  it("tells of changes, and only of changes", () => {
    const store = createStore(page, initial(page));
    let told = 0;
    const stop = store.listen(() => told++);
    store.set({ layer: 3 });
    store.set({ layer: 3 });
    stop();
    store.set({ layer: 1 });
    expect(told).toBe(1);
    expect(store.get().layer).toBe(1);
  });

  it("keeps a word within the text when another reading is chosen", () => {
    const stacks = sampleTwoStacks();
    const store = createStore(stacks, { ...initial(stacks), reading: "encoder", query: 14 });
    store.set({ reading: "self" });
    expect(store.get().query).toBe(5);
  });

  it("follows the address, and the address follows it", () => {
    const listeners: (() => void)[] = [];
    const window = {
      location: { hash: "" },
      history: { state: null, replaceState: (_state: unknown, _title: string, hash: string) => { window.location.hash = hash; } },
      addEventListener: (_name: string, listener: () => void) => listeners.push(listener),
      removeEventListener: () => listeners.pop(),
    };
    const store = createStore(page, initial(page));
    const stop = followAddress(store, page, window as unknown as Window);
    store.set({ query: 4 });
    expect(window.location.hash).toContain("query=4");
    window.location.hash = "#view=about&query=6";
    listeners[0]!();
    expect(store.get()).toMatchObject({ view: "about", query: 6 });
    stop();
    expect(listeners).toHaveLength(0);
  });
});
