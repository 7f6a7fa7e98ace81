// The weights of all words that ask, as a small map of buttons.

import type { Trace } from "../arithmetic/attention";
import { colour, luminance } from "../colour";
import type { Theme } from "../map/props";
import type { Hand } from "./hand-state";
import { fixed } from "./work";
import { useUniqueId } from "../unique-id";

interface Props {
  hand: Hand;
  worked: Trace;
  choice: number;
  onHand: (hand: Hand) => void;
  theme: Theme;
}

export function HandGrid({ hand, worked, choice, onHand, theme }: Props) {
  const { tokens, asking } = hand.example;
  const rows = worked.heads[0]!;
  const lead = useUniqueId();
  return (
    <div class="hand-scroll">
      <p class="hand-grid-lead" id={lead}>
        weights: rows look, columns are looked at
      </p>
      <table class="hand-grid" aria-labelledby={lead}>
        <thead>
          <tr>
            <td />
            {tokens.map((token, key) => (
              <th scope="col" key={key}>
                <bdi>{token}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place} class={place === hand.row ? "chosen" : undefined}>
              <th scope="row">
                <bdi>{tokens[asking[place]!]}</bdi>
              </th>
              {tokens.map((token, key) => (
                <td key={key}>
                  <button
                    type="button"
                    aria-pressed={place === hand.row && key === choice}
                    aria-label={`${tokens[asking[place]!]} at ${token}: ${row.allowed[key] ? fixed(row.weights[key], 2) : "may not look"}`}
                    style={cellStyle(row.allowed[key] === 1, row.weights[key]!, theme)}
                    onClick={() => onHand({ ...hand, row: place, choice: key })}
                  >
                    {row.allowed[key] ? fixed(row.weights[key], 2) : ""}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Dark letters on pale cells, pale ones on dark cells: whichever can be read more easily. */
function cellStyle(allowed: boolean, weight: number, theme: Theme): { background: string; color: string } {
  if (!allowed) return { background: "transparent", color: "inherit" };
  const background = colour(weight, theme);
  return { background, color: luminance(background) > 0.18 ? "#000000" : "#ffffff" };
}
