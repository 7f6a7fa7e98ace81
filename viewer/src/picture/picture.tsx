// A picture as the model saw it, in patches: one is chosen, and the others are shaded by what it gives them.

import { useMemo, useRef, useState } from "preact/hooks";
import { useFrame } from "../app/frame";
import { Panel, weightText } from "../app/parts";
import { colour, gradient } from "../colour";
import type { Row, Token, TokenList } from "../data/types";
import type { Reader } from "../reader/seen-row";
import { topOf } from "../reader/shading";
import "./picture.css";

type Picture = NonNullable<TokenList["picture"]>;

export function PicturePanel({ reader: { seen } }: { reader: Reader }) {
  const { source, state, set } = useFrame();
  const { picture } = source.keys;
  const [pointed, setPointed] = useState<number | null>(null);
  if (!picture) return null;
  const chooses = source.queries === source.keys;
  const top = seen ? topOf(seen, state.apart) : 1;
  const shown = pointed ?? state.key;
  return (
    <Panel
      name="picture"
      title="The picture"
      lead={
        chooses
          ? "choose a patch on the left; on the right, where it looks"
          : "on the right, where the chosen word looks"
      }
    >
      <div class="pictures">
        <Patches
          picture={picture}
          tokens={source.keys}
          label="The patches of the picture"
          chosen={chooses ? state.query : null}
          onChoose={chooses ? (query) => set({ query, key: null }) : undefined}
          onPoint={setPointed}
        />
        <Patches
          picture={picture}
          tokens={source.keys}
          label="Where it looks"
          row={seen?.row}
          top={top}
          chosen={state.key}
          onChoose={(key) => set({ key })}
          onPoint={setPointed}
        />
      </div>
      <p class="legend">
        <span class="figures">0</span>
        <span class="legend-bar" style={{ background: gradient("weight", "light") }} aria-hidden="true" />
        <span class="figures">{top === 1 ? "1" : top.toFixed(3)}</span> <span>weight</span>
        {shown !== null && seen ? (
          <span class="figures">
            {" "}
            {source.keys.tokens[shown]?.label}:{" "}
            {seen.row.allowed[shown] ? weightText(seen.row.weights[shown]!) : "cannot be seen"}
          </span>
        ) : null}
      </p>
    </Panel>
  );
}

interface PatchesProps {
  picture: Picture;
  tokens: TokenList;
  label: string;
  row?: Row;
  top?: number;
  chosen: number | null;
  onChoose?: (token: number) => void;
  onPoint: (token: number | null) => void;
}

/** The picture below a grid of its patches; with a row, each patch is tinted by its weight on the scale for light paper. */
function Patches({ picture, tokens, label, row, top = 1, chosen, onChoose, onPoint }: PatchesProps) {
  const grid = useRef<HTMLDivElement>(null);
  const at = useMemo(() => placesOf(tokens), [tokens]);
  const entry = chosen !== null && tokens.tokens[chosen]?.row !== undefined ? chosen : at.get("0 0")?.index;
  const move = (event: KeyboardEvent) => {
    const here = tokens.tokens[tokenOf(event.target) ?? -1];
    const step = STEPS[event.key];
    const next = here && step ? at.get(`${here.row! + step[0]} ${here.column! + step[1]}`) : undefined;
    if (!next) return;
    event.preventDefault();
    onChoose?.(next.index);
    grid.current?.querySelector<HTMLElement>(`[data-token="${next.index}"]`)?.focus();
  };
  const choose = (event: Event) => {
    const token = tokenOf(event.target);
    if (token !== null) onChoose?.(token);
  };
  const patch = (y: number, x: number) => {
    const token = at.get(`${y} ${x}`);
    if (!token) return <span role="gridcell" key={x} />;
    const weight = row?.allowed[token.index] ? row.weights[token.index]! : null;
    return (
      <button
        type="button"
        role="gridcell"
        key={x}
        data-token={token.index}
        aria-selected={token.index === chosen}
        tabIndex={token.index === entry ? 0 : -1}
        aria-label={`${token.label}${weight === null ? "" : `, ${weightText(weight)}`}`}
        style={weight === null ? undefined : { background: colour(weight, "light", { top }) }}
      />
    );
  };
  const { rows, columns, url } = picture;
  const events = {
    onKeyDown: move,
    onClick: choose,
    onMouseOver: (event: MouseEvent) => onPoint(tokenOf(event.target)),
    onMouseLeave: () => onPoint(null),
  };
  return (
    <div class={row ? "patches patches-shaded" : "patches"} style={{ aspectRatio: `${columns} / ${rows}` }}>
      {url ? <img src={url} alt="" /> : null}
      <div role="grid" ref={grid} aria-label={label} class="patch-grid" {...events}>
        {Array.from({ length: rows }, (_, y) => (
          <div role="row" key={y}>
            {Array.from({ length: columns }, (_, x) => patch(y, x))}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The token of each patch, by "row column". */
function placesOf({ tokens }: TokenList): Map<string, Token> {
  return new Map(
    tokens.flatMap((token) => (token.row === undefined ? [] : [[`${token.row} ${token.column}`, token] as const])),
  );
}

/** The token that a patch stands for. */
function tokenOf(target: EventTarget | null): number | null {
  const patch = target instanceof Element ? target.closest<HTMLElement>("[data-token]") : null;
  return patch ? Number(patch.dataset.token) : null;
}

/** Where an arrow key leads: rows down, columns across. */
const STEPS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};
