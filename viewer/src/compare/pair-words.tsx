// The words of both texts in step: what the chosen word gave to each on either side, and the difference below.

import { useLayoutEffect, useRef } from "preact/hooks";
import { differenceText, Spoken, visible, weightText } from "../app/parts";
import { differenceColour, colour } from "../colour";
import type { Theme } from "../map/props";
import { direction } from "../reader/direction";
import type { Share } from "../reader/units";
import type { Pair } from "./align";
import type { PairRow, PairShare } from "./compared";
import { LargestDifferences } from "./largest-differences";

/** Of a long text so many words on each side of the chosen one are shown. */
const AROUND = 45;

const TALLEST = 26; // pixels

interface PairWordsProps {
  pairs: Pair[];
  row: PairRow | null;
  asking: number | null;
  text: string;
  theme: Theme;
  label: string;
  onChoose?: (place: number) => void;
}

export function PairWords({ pairs, row, asking, text, theme, label, onChoose }: PairWordsProps) {
  const list = useRef<HTMLDivElement>(null);
  const toward = direction(text);
  useLayoutEffect(() => {
    if (list.current?.contains(document.activeElement))
      list.current.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
  }, [asking]);
  const move = (event: KeyboardEvent) => {
    const step = stepOf(event.key, toward);
    if (!step || !onChoose || asking === null) return;
    event.preventDefault();
    onChoose(Math.min(pairs.length - 1, Math.max(0, asking + step)));
  };
  const middle = asking ?? 0;
  const from = pairs.length > 2 * AROUND ? Math.max(0, middle - AROUND) : 0;
  const shown = pairs.slice(from, pairs.length > 2 * AROUND ? middle + AROUND : undefined);
  return (
    <>
      <div
        ref={list}
        class={`words words-short pair-words ${shown.some(({ a, b }) => a?.text !== b?.text) ? "pair-words-two" : ""}`}
        dir={toward}
        role={onChoose ? "listbox" : "list"}
        aria-label={label}
        onKeyDown={move}
      >
        {row && toward === "ltr" ? <Legend /> : null}
        {shown.map((pair, index) => {
          const place = from + index;
          const chosen = place === asking;
          const choosing = onChoose
            ? ({
                role: "option",
                "aria-selected": chosen,
                tabIndex: chosen || (asking === null && index === 0) ? 0 : -1,
              } as const)
            : ({ role: "listitem" } as const);
          const looks = chosen ? "word word-asking" : "word";
          return (
            <span key={place} class={looks} onClick={() => onChoose?.(place)} {...choosing}>
              <PairName pair={pair} />
              {row ? <PairBars share={row.shares[place]!} row={row} theme={theme} /> : null}
            </span>
          );
        })}
      </div>
      {shown.length < pairs.length ? (
        <>
          <p class="note">
            Shown are {shown.length} of {pairs.length.toLocaleString("en")} words, those around the chosen one; the map
            has all.
          </p>
          {row ? <LargestDifferences row={row} /> : null}
        </>
      ) : null}
    </>
  );
}

/** How many words a key moves on; the arrows go the way the text reads. */
function stepOf(key: string, toward: "ltr" | "rtl"): number | undefined {
  const right = toward === "ltr" ? 1 : -1;
  return { ArrowRight: right, ArrowLeft: -right, Home: -Infinity, End: Infinity }[key];
}

/** What the lines below the words are, beside the first of them. */
function Legend() {
  return (
    <span class="word pair-legend" aria-hidden="true">
      <span class="word-text">&nbsp;</span>
      <span class="word-bar" style={{ height: `${TALLEST}px` }} />
      <span class="word-number">first</span>
      <span class="word-number">second</span>
      <span class="pair-difference" />
      <span class="word-number">difference</span>
    </span>
  );
}

function PairName({ pair: { a, b } }: { pair: Pair }) {
  if (a?.text === b?.text) return <bdi class="word-text">{visible(a?.text ?? "")}</bdi>;
  return (
    <span class="word-text word-pair">
      {a ? (
        <del>
          <bdi>{visible(a.text)}</bdi>
        </del>
      ) : null}
      {b ? (
        <ins>
          <bdi>{visible(b.text)}</bdi>
        </ins>
      ) : null}
    </span>
  );
}

function PairBars({ share, row, theme }: { share: PairShare; row: PairRow; theme: Theme }) {
  const bar = (of: Share | null) => {
    const height = of?.allowed && row.largest > 0 ? Math.max(1, (TALLEST * (of.weight || 0)) / row.largest) : 0;
    return (
      <span
        style={{ height: `${height}px`, background: of ? colour(of.weight, theme, { top: row.largest || 1 }) : "none" }}
      />
    );
  };
  if (!share.a?.allowed && !share.b?.allowed) {
    return (
      <>
        <span class="word-bar" style={{ height: `${TALLEST}px` }} />
        <Spoken>, cannot be seen</Spoken>
      </>
    );
  }
  const { difference } = share;
  const half =
    difference === null || !(row.largestDifference > 0) ? 0 : (12 * Math.abs(difference)) / row.largestDifference;
  return (
    <>
      <span class="word-bar pair-bar" style={{ height: `${TALLEST}px` }}>
        {bar(share.a)}
        {bar(share.b)}
      </span>
      <Spoken>, first </Spoken>
      <span class="word-number">{share.a?.allowed ? weightText(share.a.weight) : "–"}</span>
      <Spoken>, second </Spoken>
      <span class="word-number">{share.b?.allowed ? weightText(share.b.weight) : "–"}</span>
      <span class="pair-difference" aria-hidden="true">
        <span
          style={{
            height: `${half}px`,
            background:
              difference === null ? "none" : differenceColour(difference, theme, { top: row.largestDifference || 1 }),
            [difference !== null && difference < 0 ? "top" : "bottom"]: "50%",
          }}
        />
      </span>
      <Spoken>, difference </Spoken>
      <span class="word-number">
        <b>{difference === null ? "–" : differenceText(difference)}</b>
      </span>
    </>
  );
}
