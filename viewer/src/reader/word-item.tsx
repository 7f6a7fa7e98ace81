// One word of a text: its letters, and below or behind them what it gets of the row.

import { visible, weightText } from "../app/parts";
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
        aria-label={spoken(unit, share)}
        title={long && share?.allowed ? weightText(share.weight) : undefined}
      >
        <bdi class="word-text" style={filled}>
          {shown}
        </bdi>
        {long ? null : <Bar share={share} shading={shading} place={place} />}
        {!long && unit.tokens.length > 1 ? <span class="word-pieces">{unit.tokens.length} tokens</span> : null}
      </span>
    </>
  );
}

const TALLEST = 36; // pixels

function Bar({ share, shading, place }: { share: Share | undefined; shading: Shading | null; place: number }) {
  if (!shading || !share) return null;
  if (!share.allowed) return <span class="word-bar" style={{ height: `${TALLEST}px` }} />;
  if (Number.isNaN(share.weight)) return <span class="word-number">nan</span>;
  const height = shading.largest > 0 ? Math.max(2, (TALLEST * share.weight) / shading.largest) : 2;
  return (
    <>
      <span class="word-bar" style={{ height: `${TALLEST}px` }}>
        <span style={{ height: `${height}px`, background: shading.fill(place) }} />
      </span>
      <span class="word-number">{weightText(share.weight)}</span>
    </>
  );
}

function spoken(unit: Unit, share: Share | undefined): string {
  if (!share) return unit.text;
  const pieces = unit.tokens.length > 1 ? `, ${unit.tokens.length} tokens` : "";
  return `${unit.text}, ${share.allowed ? (Number.isNaN(share.weight) ? "not a number" : weightText(share.weight)) : "cannot be seen"}${pieces}`;
}
