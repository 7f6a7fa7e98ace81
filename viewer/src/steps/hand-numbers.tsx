// The numbers of a worked example as fields: a line a word, with its query, key and value.

import { useEffect, useState } from "preact/hooks";
import { type Hand, type Role, withNumber } from "./hand-state";

interface Props {
  hand: Hand;
  onHand: (hand: Hand) => void;
}

export function HandNumbers({ hand, onHand }: Props) {
  const { example } = hand;
  return (
    <div class="hand-scroll">
      <table class="hand-numbers">
        <thead>
          <tr>
            <th scope="col">word</th>
            <th scope="col">query</th>
            <th scope="col">key</th>
            <th scope="col">value</th>
          </tr>
        </thead>
        <tbody>
          {example.tokens.map((token, place) => (
            <tr key={place}>
              <th scope="row">
                <bdi>{token}</bdi>
              </th>
              <Vector {...{ hand, onHand, token }} role="query" row={example.asking.indexOf(place)} />
              <Vector {...{ hand, onHand, token }} role="key" row={place} />
              <Vector {...{ hand, onHand, token }} role="value" row={place} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Vector({ hand, onHand, token, role, row }: Props & { token: string; role: Role; row: number }) {
  if (row < 0) return <td class="hand-silent">does not ask</td>;
  return (
    <td>
      {hand[role][row]!.map((number, dim) => (
        <NumberField
          key={dim}
          number={number}
          changed={number !== hand.example[role][row]![dim]}
          name={`${role} of ${token}, number ${dim + 1}`}
          onNumber={(next) => onHand(withNumber(hand, role, row, dim, next))}
        />
      ))}
    </td>
  );
}

interface FieldProps {
  number: number;
  changed: boolean;
  name: string;
  onNumber: (number: number) => void;
}

/** A field that may hold half a number while somebody types; only whole ones count. */
function NumberField({ number, changed, name, onNumber }: FieldProps) {
  const [text, setText] = useState(String(number));
  useEffect(() => {
    if (parsed(text) !== number) setText(String(number));
  }, [number]);
  const wrong = parsed(text) === null;
  return (
    <input
      class={changed ? "hand-field hand-changed" : "hand-field"}
      type="text"
      inputMode="decimal"
      aria-label={name}
      aria-invalid={wrong}
      value={text}
      onInput={(event) => {
        const next = event.currentTarget.value;
        setText(next);
        const value = parsed(next);
        if (value !== null) onNumber(value);
      }}
      onKeyDown={(event) => {
        const step = { ArrowUp: 0.1, ArrowDown: -0.1 }[event.key];
        if (!step) return;
        event.preventDefault();
        onNumber(Number((number + step).toFixed(6)));
      }}
      onBlur={() => wrong && setText(String(number))}
    />
  );
}

/** The number that a text is, with a point or a comma; null where it is none, or larger than anybody needs here. */
export function parsed(text: string): number | null {
  const plain = text.trim().replace("−", "-").replace(",", ".");
  if (!/^-?(\d+\.?\d*|\.\d+)$/.test(plain)) return null;
  const number = Number(plain);
  return Math.abs(number) <= 1e6 ? number : null;
}
