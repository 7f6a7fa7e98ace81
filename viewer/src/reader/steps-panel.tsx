// The four steps of the chosen row, or why this page cannot unfold them.

import { useFrame } from "../app/frame";
import { useAnswer } from "../app/hooks";
import { Note, Panel, Quoted, Reason } from "../app/parts";
import type { LayerInfo, TokenList } from "../data/types";
import { FourSteps } from "../steps/four-steps";
import { tokensOfWord } from "./units";

export function StepsPanel() {
  const { source, layer, state, set, theme } = useFrame();
  const { head, query } = state;
  const unfolds = layer.hasSteps && head !== null;
  const answer = useAnswer(async () => {
    if (!unfolds) return null;
    const [vectors, row] = await Promise.all([
      source.vectors(layer.number, head, query),
      source.row(layer.number, head, query),
    ]);
    return { source, layer, query, vectors, row };
  }, [source, layer, head, query, unfolds]);
  const asking = source.queries.tokens[query];
  const found = answer.value?.source === source ? answer.value : null;
  return (
    <Panel
      name="four"
      title={
        <>
          The four steps for <Quoted text={asking?.label ?? ""} />
        </>
      }
      lead={`compare, divide, softmax, blend${piecesText(source.queries, query)}`}
    >
      {answer.error ? <Reason>The steps cannot be shown: {answer.error}</Reason> : null}
      {head === null && layer.carries !== "nothing" ? (
        <Note>A mean over heads has no arithmetic of its own: choose one head, and its steps unfold here.</Note>
      ) : unfolds ? null : (
        <Reason>{whyFolded(layer)}</Reason>
      )}
      {unfolds && found ? (
        <FourSteps
          vectors={found.vectors}
          row={found.row}
          labels={source.keys.tokens}
          asking={source.queries.tokens[found.query]!}
          info={found.layer}
          choice={state.key}
          onChoose={(key) => set({ key })}
          theme={theme}
        />
      ) : null}
    </Panel>
  );
}

/** Of a word of several tokens each has a row, and steps, of its own. */
function piecesText(list: TokenList, query: number): string {
  const pieces = tokensOfWord(list, query).length;
  return pieces > 1 ? `; one of the ${pieces} tokens of its word` : "";
}

function whyFolded({ number, carries, omitted }: LayerInfo): string {
  if (carries === "nothing") return `Layer ${number} is not in this page: ${omitted ?? "it was left out"}.`;
  return `This page carries what layer ${number} weighs but not its queries, keys and values, so its steps cannot be unfolded. Write the page again with --steps-layers ${number}, in Python steps=${number}.`;
}
