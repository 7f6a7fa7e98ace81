// Controls that choose: a head of a layer of a reading, one of a few names, and switches.

import type { ComponentChildren } from "preact";
import type { PageData } from "../data/types";
import { type Place, reading } from "../state";
import { readingName } from "./reading-names";

interface PlaceProps {
  page: PageData;
  place: Place;
  onPlace: (place: Place) => void;
  /** Begins the names for screen readers where there are two pickers: "second". */
  which?: string;
  /** Whether the reading can be chosen too. */
  readings?: boolean;
}

/** "layer 16, head 3" as two lists that fit into a sentence, each with a step down and up. */
export function PlacePicker({ page, place, onPlace, which = "", readings = false }: PlaceProps) {
  const source = reading(page, place.reading);
  const layer = source.layers.find((each) => each.number === place.layer);
  const heads = Array.from({ length: layer?.heads ?? 0 }, (_, head) => head);
  const name = (what: string) => (which ? `${which} ${what}` : what);
  return (
    <span class="place">
      {readings && page.readings.length > 1 ? (
        <ReadingPicker
          page={page}
          value={place.reading}
          name={name("reading")}
          onValue={(id) => onPlace({ ...place, reading: id })}
        />
      ) : null}{" "}
      <select
        aria-label={name("layer")}
        value={place.layer}
        onChange={(event) => onPlace({ ...place, layer: Number(event.currentTarget.value) })}
      >
        {source.layers.map(({ number, carries }) => (
          <option key={number} value={number}>{`layer ${number}${carries === "nothing" ? " (left out)" : ""}`}</option>
        ))}
      </select>
      ,{" "}
      <select
        aria-label={name("head")}
        value={place.head === null ? "mean" : String(place.head)}
        onChange={({ currentTarget: { value } }) =>
          onPlace({ ...place, head: value === "mean" ? null : Number(value) })
        }
      >
        <option value="mean">mean over heads</option>
        {heads.map((head) => (
          <option key={head} value={head}>{`head ${head}`}</option>
        ))}
      </select>
    </span>
  );
}

export function ReadingPicker({
  page,
  value,
  name,
  onValue,
}: {
  page: PageData;
  value: string;
  name: string;
  onValue: (id: string) => void;
}) {
  return (
    <select aria-label={name} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
      {page.readings.map((source) => (
        <option key={source.id} value={source.id}>
          {readingName(page, source)}
        </option>
      ))}
    </select>
  );
}

/** A few names of which one is chosen, side by side. */
export function Choice<Name extends string>({
  label,
  names,
  value,
  onValue,
}: {
  label: string;
  names: readonly (readonly [Name, string])[];
  value: Name;
  onValue: (name: Name) => void;
}) {
  return (
    <span class="choice" role="group" aria-label={label}>
      {names.map(([name, title]) => (
        <button type="button" key={name} aria-pressed={name === value} onClick={() => onValue(name)}>
          {title}
        </button>
      ))}
    </span>
  );
}

export function Switch({
  on,
  onSwitch,
  children,
}: {
  on: boolean;
  onSwitch: (on: boolean) => void;
  children: ComponentChildren;
}) {
  return (
    <button type="button" class="switch" role="switch" aria-checked={on} onClick={() => onSwitch(!on)}>
      <span class="switch-track" aria-hidden="true" />
      {children}
    </button>
  );
}
