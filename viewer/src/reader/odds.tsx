// What the model would write next: the odds after the last token.

import { useFrame } from "../app/frame";
import { Panel, Quoted } from "../app/parts";

export function Odds() {
  const { source } = useFrame();
  const odds = source.nextToken;
  if (!odds?.length) return null;
  const largest = Math.max(...odds.map((each) => each.probability ?? 0));
  return (
    <Panel name="odds" title="What comes next" lead="the model's odds after the last token, whatever is chosen above">
      <ol class="odds">
        {odds.map(({ text, probability }, place) => (
          <li key={place}>
            <Quoted text={text} />
            <span class="figures">{probability === null ? "not a number" : `${(100 * probability).toFixed(1)} %`}</span>
            <span class="odds-bar" aria-hidden="true">
              <span style={{ width: `${probability === null ? 0 : (100 * probability) / largest}%` }} />
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
