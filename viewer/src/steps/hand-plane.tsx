// Query and keys of two numbers each as arrows in the plane: the further a key reaches along the query, the larger q·k.

import { useRef } from "preact/hooks";
import { dot } from "../arithmetic/steps";
import { type Hand, withNumber } from "./hand-state";

interface Props {
  hand: Hand;
  choice: number;
  onHand: (hand: Hand) => void;
}

const SIDE = 260;
const MARGIN = 26;
/** What a dragged number is rounded to. */
const STEP = 0.05;

export function HandPlane({ hand, choice, onHand }: Props) {
  const drawing = useRef<SVGSVGElement>(null);
  const query = hand.query[hand.row]!;
  const reach = reachOf([query, ...hand.key]);
  const scale = (SIDE - 2 * MARGIN) / (reach.high - reach.low);
  const x = (number: number) => MARGIN + (number - reach.low) * scale;
  const y = (number: number) => SIDE - MARGIN - (number - reach.low) * scale;
  const dragged = (event: PointerEvent, role: "query" | "key", row: number) => {
    if (!event.buttons) return;
    const box = drawing.current!.getBoundingClientRect();
    const unit = SIDE / box.width;
    const at = (pixels: number) => Number((Math.round(pixels / STEP) * STEP).toFixed(2));
    const first = at(((event.clientX - box.left) * unit - MARGIN) / scale + reach.low);
    const second = at((SIDE - MARGIN - (event.clientY - box.top) * unit) / scale + reach.low);
    onHand(withNumber(withNumber(hand, role, row, 0, first), role, row, 1, second));
  };
  const key = hand.key[choice]!;
  const along = dot(query, key) / Math.max(dot(query, query), 1e-12);
  const foot = query.map((number) => number * along);
  return (
    <figure class="hand-plane">
      <svg ref={drawing} viewBox={`0 0 ${SIDE} ${SIDE}`} aria-hidden="true">
        <path
          class="plane-axis"
          d={`M${x(reach.low)} ${y(0)}H${x(reach.high)}M${x(0)} ${y(reach.low)}V${y(reach.high)}`}
        />
        <path class="plane-foot" d={`M${x(key[0]!)} ${y(key[1]!)}L${x(foot[0]!)} ${y(foot[1]!)}`} />
        {hand.key.map((vector, row) => (
          <Arrow
            key={row}
            kind={row === choice ? "key plane-chosen" : "key"}
            name={hand.example.tokens[row]!}
            from={[x(0), y(0)]}
            to={[x(vector[0]!), y(vector[1]!)]}
            onDrag={(event) => dragged(event, "key", row)}
          />
        ))}
        <Arrow
          kind="query"
          name="q"
          from={[x(0), y(0)]}
          to={[x(query[0]!), y(query[1]!)]}
          onDrag={(event) => dragged(event, "query", hand.row)}
        />
      </svg>
      <figcaption>The further a key reaches along q, the larger q · k. Drag a tip to change its numbers.</figcaption>
    </figure>
  );
}

interface ArrowProps {
  kind: string;
  name: string;
  from: [number, number];
  to: [number, number];
  onDrag: (event: PointerEvent) => void;
}

function Arrow({ kind, name, from, to, onDrag }: ArrowProps) {
  const length = Math.max(1, Math.hypot(to[0] - from[0], to[1] - from[1]));
  const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  // Beyond the tip; the query's name beside it, so that a key in the same direction keeps its own.
  const [along, aside] = kind === "query" ? [4, 13] : [12, -6];
  const [x, y] = [to[0] + dx * along - dy * aside, to[1] + dy * along + dx * aside];
  return (
    <g class={`plane-arrow plane-${kind}`}>
      <path d={`M${from.join(" ")}L${to.join(" ")}`} />
      <circle
        cx={to[0]}
        cy={to[1]}
        r="6"
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={onDrag}
      />
      <text x={x} y={y} text-anchor={dx > 0.3 ? "start" : dx < -0.3 ? "end" : "middle"} dominant-baseline="central">
        {name}
      </text>
    </g>
  );
}

/** A square around the origin and every tip; it grows in steps, so that it stands still while a tip is dragged. */
export function reachOf(vectors: readonly (readonly number[])[]): { low: number; high: number } {
  const numbers = vectors.flat();
  const even = (number: number) => Math.ceil(number * 2 - 1e-9) / 2;
  return { low: -even(Math.max(0.1, -Math.min(...numbers))), high: even(Math.max(1, ...numbers)) };
}
