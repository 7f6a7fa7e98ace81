// What the colours mean: the scales with their numbers, and the marks of what has no number.

import { BROKEN, BROKEN_DIFFERENCE, floorOf, gradient, type Kind, position } from "../colour";
import { exactText, hatchedText } from "./cell-text";
import type { Ink } from "./paint";

interface Props {
  ink: Ink;
  unit: string;
  /** The map has a first token's column. */
  first: boolean;
  holes: boolean;
  broken: boolean;
  /** Some cells are forbidden. */
  blank: boolean;
}

export function Legend({ ink, unit, first, holes, broken, blank }: Props) {
  return (
    <div class="map-legend">
      <div class="map-legend-bars">
        {ink.difference ? <Differences ink={ink} unit={unit} /> : <Weights ink={ink} unit={unit} first={first} />}
      </div>
      <ul class="map-legend-marks">
        {blank ? <Mark name="blank">blank: may not be looked at</Mark> : null}
        {holes ? <Mark name="hatched">{hatchedText(ink.difference)}</Mark> : null}
        {broken ? (
          <Mark name="broken" colour={(ink.difference ? BROKEN_DIFFERENCE : BROKEN)[ink.theme]}>
            × or this colour: not a number (nan)
          </Mark>
        ) : null}
      </ul>
    </div>
  );
}

function Weights({ ink, unit, first }: { ink: Ink; unit: string; first: boolean }) {
  return (
    <>
      {first ? <Bar kind="first" ink={{ ...ink, top: 1 }} name="first token" ticked={ink.top !== 1} /> : null}
      <Bar kind="weight" ink={ink} name={first ? "other tokens" : ""} ticked />
      <p class="map-legend-unit">{unit}</p>
    </>
  );
}

function Differences({ ink, unit }: { ink: Ink; unit: string }) {
  const ticks = ticksOf(ink).filter((tick) => tick > 0);
  return (
    <>
      <div class="map-legend-scale map-legend-two">
        <div class="map-legend-bar" style={{ background: gradient("less", ink.theme, "to left") }} />
        <div class="map-legend-bar" style={{ background: gradient("more", ink.theme) }} />
        {[...ticks.map((tick) => -tick).reverse(), 0, ...ticks].map((tick) => (
          <Tick key={tick} at={0.5 + 0.5 * Math.sign(tick) * position(Math.abs(tick), ink)} text={tickText(tick)} />
        ))}
      </div>
      <p class="map-legend-unit">{unit}</p>
    </>
  );
}

function Bar({ kind, ink, name, ticked }: { kind: Kind; ink: Ink; name: string; ticked: boolean }) {
  return (
    <div class="map-legend-row">
      {name ? <span class={`map-legend-name map-legend-${kind}`}>{name}</span> : null}
      <div class={ticked ? "map-legend-scale map-legend-ticked" : "map-legend-scale"}>
        <div class="map-legend-bar" style={{ background: gradient(kind, ink.theme) }} />
        {ticked
          ? ticksOf(ink).map((tick, index) => (
              <Tick
                key={tick}
                at={position(tick, ink)}
                text={(ink.scale === "log" && index === 0 ? "≤ " : "") + tickText(tick)}
              />
            ))
          : null}
      </div>
    </div>
  );
}

function Tick({ at, text }: { at: number; text: string }) {
  return (
    <span class="map-legend-tick" style={{ left: `${100 * at}%` }}>
      {text}
    </span>
  );
}

function Mark({ name, colour, children }: { name: string; colour?: string; children: string }) {
  return (
    <li>
      <span
        class={`map-legend-mark map-legend-mark-${name}`}
        style={colour ? { color: colour } : undefined}
        aria-hidden="true"
      />
      {children}
    </li>
  );
}

/** The numbers beside a scale: ends and middle of a linear one, the powers of ten of a logarithmic one. */
export function ticksOf({ scale, top }: Pick<Ink, "scale" | "top">): number[] {
  if (scale === "linear") return [0, top / 2, top];
  const floor = floorOf(top);
  const powers: number[] = [];
  for (let power = Math.ceil(Math.log10(floor) + 1e-9); 10 ** power < top * 0.6; power++) {
    if (10 ** power > floor * 1.7) powers.push(10 ** power);
  }
  return [floor, ...powers, top];
}

function tickText(tick: number): string {
  if (tick === 0 || Math.abs(tick) < 0.001) return exactText(tick).replace(".00e", "e");
  return String(Number(tick.toPrecision(3))).replace("-", "−");
}
