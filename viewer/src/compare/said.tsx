// What can be said of a comparison in words: the largest difference, and what there is where nothing can differ.

import { useAnswer } from "../app/hooks";
import { differenceText, Note, Quoted, Reason } from "../app/parts";
import { isCausal } from "../reader/remarks";
import type { Compared } from "./compared";
import { type Found, search } from "./search";

const CHANGED =
  "A difference says that the look changed with the words. It does not say that the answer changed because of it.";

const APART = "A difference says that the two look elsewhere. It does not say on which of them the answer depends.";

type OnCell = (query: number, key: number) => void;

export function Said({ of, onCell }: { of: Compared; onCell: OnCell }) {
  const answer = useAnswer(async () => ({ of, found: await search(of.source, of.mustBeZero) }), [of]);
  const found = answer.value?.of === of ? answer.value.found : undefined;
  return (
    <>
      {answer.error ? <Reason>The largest difference was not found: {answer.error}</Reason> : null}
      {found === undefined && !answer.error ? <p class="lead">Looking at every cell …</p> : null}
      {found === null ? (
        <Reason>This map has too many cells to search as a whole. Its picture shows where to look.</Reason>
      ) : null}
      {found?.largest ? (
        <p>
          Largest difference: <Cell of={of} found={found.largest} onCell={onCell} />
        </p>
      ) : null}
      {found?.broken ? <Reason>{found.broken} cells are not a number.</Reason> : null}
      {found && of.mustBeZero > 0 ? <MustBeZero of={of} found={found.before} onCell={onCell} /> : null}
      {of.mustBeZero === 0 ? <Note>{mayDiffer(of)}</Note> : null}
      {of.told ? <Note>{of.told}</Note> : null}
      <Note>{of.told ? CHANGED : APART}</Note>
    </>
  );
}

/** The largest difference where there must be none. */
function MustBeZero({ of, found, onCell }: { of: Compared; found: Found | null; onCell: OnCell }) {
  const differs = of.source.queries.tokens[of.mustBeZero];
  return (
    <Note>
      {differs ? (
        <>
          Before <Quoted text={differs.label} /> nothing can differ
        </>
      ) : (
        "Both are the same head of the same text: nothing can differ"
      )}
      {found ? (
        <>
          ; the largest difference found there is <Cell of={of} found={found} onCell={onCell} />
          {roundingText(found, of)}.
        </>
      ) : (
        "."
      )}
    </Note>
  );
}

/** Whether a difference that must be zero is within what the page's numbers may be off. */
function roundingText({ difference }: Found, { a, b }: Compared): string {
  const may = (a.layer.worst ?? 1e-3) + (b.layer.worst ?? 1e-3);
  if (difference === 0) return "";
  return Math.abs(difference) <= may
    ? `, within the ${may.toPrecision(1)} that rounding may make`
    : ": more than rounding makes, so these are not the same model, or something is wrong";
}

function mayDiffer({ a, b }: Compared): string {
  if (a.layer.number !== b.layer.number || a.head !== b.head)
    return "These are two heads that learned by themselves: every row may differ.";
  return isCausal(a.source.layers)
    ? "These are two models or readings: every row may differ."
    : "This model reads in both directions, so a changed word may change every row.";
}

function Cell({ of, found, onCell }: { of: Compared; found: Found; onCell: OnCell }) {
  const { query, key, difference } = found;
  return (
    <button type="button" class="quiet" onClick={() => onCell(query, key)}>
      <span class="figures">{differenceText(difference)}</span>, from{" "}
      <Quoted text={of.source.queries.tokens[query]!.label} /> to <Quoted text={of.source.keys.tokens[key]!.label} />
    </button>
  );
}
