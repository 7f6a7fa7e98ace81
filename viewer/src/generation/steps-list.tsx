// All steps of a generation as a list: which row chose which token, and what that row looked at most.

import { useFrame } from "../app/frame";
import { useAnswer } from "../app/hooks";
import { Quoted, Reason, weightText } from "../app/parts";
import type { Generation, ReadingSource } from "../data/types";
import { largest, shareOf, type Unit, unitsOf } from "../reader/units";

/** Of a longer generation the steps around the chosen one are listed. */
const SHOWN = 60;

const MOST = 3;

interface Line {
  step: number;
  most: { unit: Unit; weight: number }[];
}

interface StepsListProps {
  generation: Generation;
  step: number;
  onStep: (step: number) => void;
}

export function StepsList({ generation, step, onStep }: StepsListProps) {
  const { source, state } = useFrame();
  const { layer, head, unit } = state;
  const count = generation.chosenBy.length;
  const from = count > SHOWN ? Math.min(count - SHOWN, Math.max(0, step - SHOWN / 2)) : 0;
  const answer = useAnswer(async () => {
    const units = unitsOf(source.keys, unit);
    const steps = generation.chosenBy.slice(from, from + SHOWN).map((_, place) => from + place);
    return {
      source,
      lines: await Promise.all(steps.map((each) => lineOf(source, generation, each, layer, head, units))),
    };
  }, [source, generation, layer, head, unit, from]);
  if (answer.error) return <Reason>The steps cannot be listed: {answer.error}</Reason>;
  if (answer.value?.source !== source) return null;
  const tokens = source.queries.tokens;
  return (
    <div class="table steps-list">
      <table>
        <thead>
          <tr>
            <th>row</th>
            <th>at</th>
            <th>chose</th>
            <th>looking most at</th>
          </tr>
        </thead>
        <tbody>
          {answer.value.lines.map((line) => (
            <tr key={line.step} class={line.step === step ? "steps-now" : ""}>
              <td class="figures">{generation.chosenBy[line.step]}</td>
              <td>
                <Quoted text={tokens[generation.chosenBy[line.step]!]?.label ?? ""} />
              </td>
              <td>
                <button type="button" class="quiet" onClick={() => onStep(line.step)}>
                  <Quoted text={tokens[generation.prompt + line.step]?.label ?? ""} />
                </button>
              </td>
              <td>
                {line.most.map(({ unit, weight }) => (
                  <span key={unit.tokens[0]} class="steps-most">
                    <Quoted text={unit.text} /> <span class="figures">{weightText(weight)}</span>
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

async function lineOf(
  source: ReadingSource,
  generation: Generation,
  step: number,
  layer: number,
  head: number | null,
  units: Unit[],
): Promise<Line> {
  const row = await source.row(layer, head, generation.chosenBy[step]!);
  const shares = units.map((unit) => shareOf(row, unit));
  return { step, most: largest(shares, MOST).map((place) => ({ unit: units[place]!, weight: shares[place]!.weight })) };
}
