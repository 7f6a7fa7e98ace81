// A made-up reading, computed by formula: for development without Python, and for tests of the views.
import { blockEdges } from "./pool";
import type {
  Generation,
  LayerInfo,
  PageData,
  Range,
  ReadingSource,
  Row,
  Statistic,
  Tile,
  TokenList,
  Vectors,
} from "./types";

const TEXT = "The trophy did not fit in the suitcase because it was too big.";
const PIECES = ["The", " trophy", " did", " not", " fit", " in", " the", " suit", "case", " because", " it", " was", " too", " big", "."];
const LAYERS = 6;
const HEADS = 4;
const SIZE = 8;

/** The tokens of a sentence, cut as given: a piece that starts with a space, or a full stop, begins a word. */
export function sampleTokens(pieces: string[] = PIECES, text: string = TEXT): TokenList {
  const list: TokenList = { text, tokens: [], words: [] };
  pieces.forEach((piece, index) => {
    const begins = index === 0 || piece.startsWith(" ") || /^\p{P}/u.test(piece);
    if (begins) list.words.push({ text: piece.trim(), tokens: [], before: piece.startsWith(" ") ? " " : "" });
    const word = list.words[list.words.length - 1]!;
    if (!begins) word.text += piece;
    word.tokens.push(index);
    list.tokens.push({ index, label: piece.trim(), special: false, word: list.words.length - 1 });
  });
  return list;
}

/** A sentence of any length, to try long maps: the sample's words over and over. */
export function longTokens(length: number): TokenList {
  const pieces = Array.from({ length }, (_, index) => PIECES[index % PIECES.length]!);
  return sampleTokens(pieces, pieces.join(""));
}

export class SampleSource implements ReadingSource {
  readonly model = { name: "sample", layers: LAYERS, heads: HEADS, dtype: "float32", hash: "made up" };
  readonly keys: TokenList;
  readonly layers: LayerInfo[];
  readonly statistics: Statistic[];
  readonly notes = ["These numbers are made up, by a formula, to work on the page without a model."];
  readonly nextToken = [
    { text: " It", probability: 0.31 },
    { text: "\n", probability: 0.22 },
  ];

  constructor(
    readonly id = "self",
    readonly title = "Self-attention",
    readonly queries: TokenList = sampleTokens(),
    keys?: TokenList,
    private readonly seed = 1,
  ) {
    this.keys = keys ?? queries;
    const causal = keys === undefined;
    this.layers = Array.from({ length: LAYERS }, (_, number) => this.layer(number, causal));
    this.statistics = [
      { name: "first", title: "Share on the first token", unit: "share", values: this.grid((layer, head) => this.of(layer, head, 1)) },
      { name: "entropy", title: "Entropy", unit: "nats", values: this.grid((layer, head) => 2.5 * this.of(layer, head, 2)) },
      { name: "distance", title: "Mean distance looked back", unit: "tokens", values: this.grid((layer, head) => (layer === 2 && head === 1 ? NaN : 9 * this.of(layer, head, 3))) },
    ];
  }

  /** Layer 3 has a window, layer 4 a learned sink, and layer 5 was left out. */
  private layer(number: number, causal: boolean): LayerInfo {
    const omitted = number === 5 ? { omitted: "left out to stay within 1 MB; ask for it with --layers 5" } : {};
    return {
      number, heads: HEADS, keyValueHeads: 2, carries: number === 5 ? "nothing" : number === 4 ? "weights" : "queries and keys",
      precision: "float16", worst: number === 5 ? null : 4e-4, hasSteps: number < 4,
      window: number === 3 && causal ? 6 : null, causal, hasSink: number === 4, ...omitted,
    };
  }

  private of(layer: number, head: number, salt: number): number {
    return 0.5 + 0.5 * Math.sin(this.seed * 7.1 + layer * 2.3 + head * 1.7 + salt * 3.1);
  }

  private grid(value: (layer: number, head: number) => number): Float32Array {
    return Float32Array.from({ length: LAYERS * HEADS }, (_, cell) => value(Math.floor(cell / HEADS), cell % HEADS));
  }

  private vector(salt: number, head: number, index: number): Float32Array {
    return Float32Array.from({ length: SIZE }, (_, d) => 2 * Math.sin(this.seed + salt * 1.3 + head * 2.1 + index * (0.7 + d * 0.37) + d));
  }

  private allowed(layer: LayerInfo, query: number): Uint8Array {
    return Uint8Array.from(this.keys.tokens, (_, key) =>
      Number((!layer.causal || key <= query) && (layer.window === null || query - key < layer.window)));
  }

  private known(layer: number): LayerInfo {
    const info = this.layers[layer];
    if (!info || info.carries === "nothing") throw new Error(`layer ${layer} is not in this page`);
    return info;
  }

  async vectors(layer: number, head: number, query: number): Promise<Vectors> {
    const info = this.known(layer);
    const shared = Math.floor(head / (HEADS / info.keyValueHeads));
    return {
      query: this.vector(layer * 3, head, query),
      keys: this.keys.tokens.map((_, key) => this.vector(layer * 3 + 1, shared, key)),
      values: this.keys.tokens.map((_, key) => this.vector(layer * 3 + 2, shared, key)),
      scale: 1 / Math.sqrt(SIZE), softcap: null, bias: null, sink: info.hasSink ? 0.5 : null,
      allowed: this.allowed(info, query),
    };
  }

  async row(layer: number, head: number | null, query: number): Promise<Row> {
    const heads = head === null ? Array.from({ length: HEADS }, (_, h) => h) : [head];
    const rows = await Promise.all(heads.map(async (h) => softmax(await this.vectors(layer, h, query))));
    const weights = rows[0]!.weights.map((_, key) => rows.reduce((sum, row) => sum + row.weights[key]!, 0) / rows.length);
    const sink = rows[0]!.sink === null ? null : rows.reduce((sum, row) => sum + row.sink!, 0) / rows.length;
    return { weights, allowed: rows[0]!.allowed, sink, sum: weights.reduce((sum, weight) => sum + weight, 0) };
  }

  async tile(layer: number, head: number | null, rows: Range, columns: Range, height: number, width: number, how: "mean" | "max"): Promise<Tile> {
    const tile: Tile = { rows, columns, height, width, weights: new Float32Array(height * width), allowed: new Uint8Array(height * width) };
    const counts = new Uint32Array(height * width);
    const [rowEdges, columnEdges] = [blockEdges(rows, height), blockEdges(columns, width)];
    for (let query = rows.start, y = 0; query < rows.stop; query++) {
      const row = await this.row(layer, head, query);
      while (rowEdges[y + 1]! <= query) y++;
      for (let key = columns.start, x = 0; key < columns.stop; key++) {
        while (columnEdges[x + 1]! <= key) x++;
        if (!row.allowed[key]) continue;
        const cell = y * width + x;
        const weight = row.weights[key]!;
        tile.weights[cell] = how === "max" ? Math.max(tile.weights[cell]!, weight) : tile.weights[cell]! + weight;
        tile.allowed[cell] = 1;
        counts[cell]!++;
      }
    }
    if (how === "mean") tile.weights.forEach((sum, cell) => { if (counts[cell]) tile.weights[cell] = sum / counts[cell]!; });
    return tile;
  }
}

function softmax(vectors: Vectors): Row {
  const scores = vectors.keys.map((key, index) =>
    vectors.allowed[index] ? vectors.scale * key.reduce((sum, value, d) => sum + value * vectors.query[d]!, 0) : -Infinity);
  const largest = Math.max(...scores, vectors.sink ?? -Infinity);
  const exponentials = scores.map((score) => Math.exp(score - largest));
  const atSink = vectors.sink === null ? 0 : Math.exp(vectors.sink - largest);
  const total = exponentials.reduce((sum, value) => sum + value, atSink);
  const weights = Float32Array.from(exponentials, (value) => value / total);
  const sink = vectors.sink === null ? null : atSink / total;
  return { weights, allowed: vectors.allowed, sink, sum: weights.reduce((sum, weight) => sum + weight, 0) };
}

const START = { reading: "self", layer: 2, head: 1, query: 10 };

/** One sentence, self-attention: the ordinary page. */
export function samplePage(queries: TokenList = sampleTokens()): PageData {
  return { schema: "heedmap/page/1", version: "sample", readings: [new SampleSource("self", "Self-attention", queries)], start: START };
}

/** Two sentences that differ in one word. */
export function sampleComparison(): PageData {
  const other = PIECES.map((piece) => (piece === " big" ? " small" : piece));
  const b = new SampleSource("b", "… too small.", sampleTokens(other, other.join("")), undefined, 1.4);
  return {
    ...samplePage(),
    readings: [new SampleSource("a", "… too big."), b],
    start: { ...START, reading: "a" },
    comparison: { a: "a", b: "b", alignment: PIECES.map((_, index) => [index, index]), mustBeZero: 13, note: "Made up." },
  };
}

/** The last four tokens were written by the model. */
export function sampleGeneration(): PageData {
  const generation: Generation = { prompt: 11, chosenBy: [10, 11, 12, 13], note: "Each token was the likeliest." };
  return { ...samplePage(), generation };
}

/** An encoder-decoder: three maps over two texts. */
export function sampleTwoStacks(): PageData {
  const written = sampleTokens(["Der", " Pokal", " war", " zu", " gross", "."], "Der Pokal war zu gross.");
  const source = sampleTokens();
  return {
    ...samplePage(),
    readings: [
      new SampleSource("self", "The written text at itself", written),
      new SampleSource("cross", "The written text at the source", written, source, 2),
      new SampleSource("encoder", "The source at itself", source, source, 3),
    ],
    start: { ...START, query: 3 },
  };
}

/** A picture of 4 x 4 patches, after one token that stands for all. */
export function samplePicture(): PageData {
  const url = "data:image/svg+xml;base64," + btoa('<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><circle cx="40" cy="24" r="16"/></svg>');
  const queries: TokenList = {
    text: "", words: [], picture: { url, rows: 4, columns: 4 },
    tokens: [
      { index: 0, label: "[CLS]", special: true, word: null },
      ...Array.from({ length: 16 }, (_, patch) => ({
        index: patch + 1, label: `patch ${Math.floor(patch / 4)},${patch % 4}`, special: false, word: null,
        row: Math.floor(patch / 4), column: patch % 4,
      })),
    ],
  };
  return { ...samplePage(), readings: [new SampleSource("self", "Patches", queries, queries, 4)], start: { ...START, query: 0 } };
}
