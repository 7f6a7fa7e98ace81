// One word of a text: its letters, and below or behind them what it gets of the row.

import { Spoken, visible, weightText } from "../app/parts";
import type { Share, Unit } from "./units";

/** How a row is shown on its words. */
export interface Shading {
  shares: Share[];
  /** The place of the first unit that may be looked at. */
  first: number | null;
  /** The largest share: its bar is the tallest. */
  largest: number;
  /** The colour of a share; that of the first token comes from a scale of its own when it is set apart. */
  fill: (place: number) => string;
  /** What stands well on that colour. */
  ink: (place: number) => string;
}

interface WordItemProps {
  unit: Unit;
  place: number;
  shading: Shading | null;
  long: boolean;
  selectable: boolean;
  asking: boolean;
  chosen: boolean;
  /** Whether the keyboard enters the list here, since no word is asking. */
  fallback: boolean;
}

export function WordItem({ unit, place, shading, long, selectable, asking, chosen, fallback }: WordItemProps) {
  const share = shading?.shares[place];
  const seen = share?.allowed ?? true;
  const classes = [
    "word",
    asking && "word-asking",
    chosen && "word-chosen",
    !seen && "word-unseen",
    unit.special && "word-special",
    shading?.first === place && "word-first",
    seen && Number.isNaN(share?.weight) && "word-nan",
  ];
  const choosing = selectable
    ? ({ role: "option", "aria-selected": asking, tabIndex: asking || fallback ? 0 : -1 } as const)
    : ({ role: "listitem" } as const);
  const shown = visible(unit.text);
  const filled =
    long && share?.allowed
      ? { background: Number.isNaN(share.weight) ? undefined : shading!.fill(place), color: shading!.ink(place) }
      : undefined;
  return (
    <>
      {long && unit.before ? unit.before.includes("\n") ? <br /> : " " : null}
      <span
        class={classes.filter(Boolean).join(" ")}
        data-place={place}
        {...choosing}
        title={long && share?.allowed ? weightText(share.weight) : undefined}
      >
        <bdi class="word-text" style={filled}>
          {shown}
        </bdi>
        {share ? <Amount share={share} shading={shading!} place={place} long={long} /> : null}
        {!long && unit.tokens.length > 1 ? (
          <span class="word-pieces" dir="ltr">
            <Spoken>, </Spoken>
            {unit.tokens.length} tokens
          </span>
        ) : null}
      </span>
      {long ? breaks(unit.text) : null}
    </>
  );
}

/** A line end that is a token of its own is shown, and breaks the line. */
function breaks(text: string) {
  return /[⏎\n]/.test(text) ? <br /> : null;
}

const TALLEST = 36; // pixels

/** What the word gets: a bar and a number, or among prose a number for who cannot see the shade. */
function Amount({ share, shading, place, long }: { share: Share; shading: Shading; place: number; long: boolean }) {
  if (!share.allowed) return <Spoken>, cannot be seen</Spoken>;
  if (long) return <Spoken>, {weightText(share.weight)}</Spoken>;
  const height = shading.largest > 0 ? Math.max(2, (TALLEST * share.weight) / shading.largest) : 2;
  return (
    <>
      <span class="word-bar" style={{ height: `${TALLEST}px` }}>
        {Number.isNaN(share.weight) ? null : (
          <span style={{ height: `${height}px`, background: shading.fill(place) }} />
        )}
      </span>
      <Spoken>, </Spoken>
      <span class="word-number">{weightText(share.weight)}</span>
    </>
  );
}
