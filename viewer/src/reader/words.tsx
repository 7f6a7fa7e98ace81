// A text as words, shaded by what a row gives to each; the word that looks is chosen by a click or the arrow keys.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useSeen } from "../app/hooks";
import { direction } from "./direction";
import type { Unit } from "./units";
import { type Shading, WordItem } from "./word-item";
import "./reader.css";

/** From so many words on a text is set as prose with shaded words; before, each has a bar and its number. */
export const LONG = 90;

/** A long text is drawn in blocks of so many words, each when it comes near the screen. */
const BLOCK = 150;

interface WordsProps {
  units: Unit[];
  /** What each gets; null while it is not known or for a text that is only asked from. */
  shading: Shading | null;
  /** The place of the unit that looks, when it is one of these. */
  asking: number | null;
  /** The place of the unit that is looked at in the chosen cell. */
  chosen: number | null;
  /** What these words are, for screen readers. */
  label: string;
  text: string;
  onChoose?: (place: number) => void;
}

export function Words({ units, shading, asking, chosen, label, text, onChoose }: WordsProps) {
  const list = useRef<HTMLDivElement>(null);
  const toward = useMemo(() => direction(text), [text]);
  // Patches are shown in their picture.
  const places = useMemo(() => units.flatMap((unit, place) => (unit.patch ? [] : [place])), [units]);
  const long = places.length > LONG;
  useLayoutEffect(() => {
    const option = list.current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (option && list.current?.contains(document.activeElement)) option.focus();
  }, [asking]);
  useLayoutEffect(() => {
    if (long) scrollTo(list.current, chosen ?? asking);
  }, [long, chosen, asking]);
  const move = (event: KeyboardEvent) => {
    const next = onChoose && asking !== null ? nextPlace(event, asking, places, toward, list.current!) : null;
    if (next === null || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onChoose!(next);
  };
  const choose = (event: Event) => {
    const item = (event.target as Element).closest<HTMLElement>("[data-place]");
    if (item) onChoose?.(Number(item.dataset.place));
  };
  const blocks = Array.from({ length: Math.ceil(places.length / BLOCK) }, (_, block) => block * BLOCK);
  return (
    <div
      ref={list}
      class={`words ${long ? "words-long" : "words-short"}`}
      dir={toward}
      role={onChoose ? "listbox" : "list"}
      aria-label={label}
      onKeyDown={move}
      onClick={choose}
    >
      {blocks.map((start) => (
        <Block
          key={start}
          {...{ units, shading, asking, chosen, start, long }}
          places={places.slice(start, start + BLOCK)}
          selectable={Boolean(onChoose)}
        />
      ))}
    </div>
  );
}

interface BlockProps extends Pick<WordsProps, "units" | "shading" | "asking" | "chosen"> {
  places: number[];
  start: number;
  long: boolean;
  selectable: boolean;
}

function Block({ units, places, shading, asking, chosen, start, long, selectable }: BlockProps) {
  const [place, seen] = useSeen<HTMLDivElement>("text");
  const here = [asking, chosen].some((each) => each !== null && places.includes(each));
  if (!seen && !here && start > 0) {
    const characters = places.reduce((sum, each) => sum + units[each]!.text.length + 1, 0);
    return <div ref={place} class="words-block" style={{ minHeight: `${Math.ceil(characters / 90) * 1.9}em` }} />;
  }
  return (
    <div ref={place} class="words-block">
      {places.map((each, index) => (
        <WordItem
          key={each}
          unit={units[each]!}
          place={each}
          shading={shading}
          long={long}
          selectable={selectable}
          asking={asking === each}
          chosen={chosen === each}
          fallback={(asking === null || units[asking]?.patch === true) && start + index === 0}
        />
      ))}
    </div>
  );
}

/** Where a key leads from a word: along the reading direction, to the line above or below, or to an end. */
function nextPlace(
  event: KeyboardEvent,
  from: number,
  places: number[],
  toward: "ltr" | "rtl",
  list: Element,
): number | null {
  const forward = toward === "ltr" ? "ArrowRight" : "ArrowLeft";
  switch (event.key) {
    case "Home":
      return places[0] ?? null;
    case "End":
      return places[places.length - 1] ?? null;
    case "ArrowUp":
      return onOtherLine(list, from, -1);
    case "ArrowDown":
      return onOtherLine(list, from, 1);
    case "ArrowLeft":
    case "ArrowRight": {
      return places[places.indexOf(from) + (event.key === forward ? 1 : -1)] ?? null;
    }
    default:
      return null;
  }
}

/** Brings a word of a long text into view, without moving the page around it. */
function scrollTo(list: HTMLElement | null, place: number | null): void {
  const item = list?.querySelector<HTMLElement>(`[data-place="${place}"]`);
  if (!list || !item) return;
  const [box, around] = [item.getBoundingClientRect(), list.getBoundingClientRect()];
  if (box.top >= around.top && box.bottom <= around.bottom) return;
  list.scrollTop += box.top - around.top - list.clientHeight / 2;
}

/** The word nearest above (-1) or below (1): of the next line, the one whose middle is closest. */
function onOtherLine(list: Element, from: number, step: 1 | -1): number | null {
  const items = [...list.querySelectorAll<HTMLElement>("[data-place]")].map((item) => ({
    place: Number(item.dataset.place),
    box: item.getBoundingClientRect(),
  }));
  const here = items.find((item) => item.place === from)?.box;
  if (!here) return null;
  const beyond = items.filter(({ box }) => (step > 0 ? box.top >= here.bottom - 4 : box.bottom <= here.top + 4));
  const line = step > 0 ? Math.min(...beyond.map(({ box }) => box.top)) : Math.max(...beyond.map(({ box }) => box.top));
  const middle = here.left + here.width / 2;
  const away = ({ box }: { box: DOMRect }) => Math.abs(box.left + box.width / 2 - middle);
  return beyond.filter(({ box }) => Math.abs(box.top - line) < 4).sort((a, b) => away(a) - away(b))[0]?.place ?? null;
}
