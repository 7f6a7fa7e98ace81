// A picture as the model saw it, in patches: one is chosen, and the others are shaded by what it gives them.

import { useRef, useState } from "preact/hooks";
import { useFrame } from "../app/frame";
import { Panel, weightText } from "../app/parts";
import { colour, gradient } from "../colour";
import type { Row, TokenList } from "../data/types";
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
  const at = new Map(
    tokens.tokens.filter((token) => token.row !== undefined).map((token) => [`${token.row} ${token.column}`, token]),
  );
  const tokenOf = (target: EventTarget | null) => {
    const patch = target instanceof Element ? target.closest<HTMLElement>("[data-token]") : null;
    return patch ? Number(patch.dataset.token) : null;
  };
  const move = (event: KeyboardEvent) => {
    const here = tokens.tokens[tokenOf(event.target) ?? -1];
    const [down, across] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[
      event.key
    ] ?? [0, 0];
    const next = here && (down || across) ? at.get(`${here.row! + down!} ${here.column! + across!}`) : undefined;
    if (!next) return;
    event.preventDefault();
    onChoose?.(next.index);
    grid.current?.querySelector<HTMLElement>(`[data-token="${next.index}"]`)?.focus();
  };
  const choose = (event: Event) => {
    const token = tokenOf(event.target);
    if (token !== null) onChoose?.(token);
  };
  const entry = chosen !== null && tokens.tokens[chosen]?.row !== undefined ? chosen : at.get("0 0")?.index;
  return (
    <div
      class={row ? "patches patches-shaded" : "patches"}
      style={{ aspectRatio: `${picture.columns} / ${picture.rows}` }}
    >
      <img src={picture.url} alt="" />
      <div
        role="grid"
        ref={grid}
        aria-label={label}
        class="patch-grid"
        onKeyDown={move}
        onClick={choose}
        onMouseOver={(event) => onPoint(tokenOf(event.target))}
        onMouseLeave={() => onPoint(null)}
      >
        {Array.from({ length: picture.rows }, (_, y) => (
          <div role="row" key={y}>
            {Array.from({ length: picture.columns }, (_, x) => {
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
            })}
          </div>
        ))}
      </div>
    </div>
  );
}
