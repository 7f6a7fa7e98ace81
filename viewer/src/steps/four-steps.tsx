// The four steps of one row of a real head, worked again here and compared with the weight that the page carries.

import { useMemo } from "preact/hooks";
import { workRow } from "../arithmetic/row";
import type { LayerInfo, Row } from "../data/types";
import { Explained } from "./explained";
import type { FourStepsProps } from "./props";
import { StepsTable } from "./steps-table";
import { largest, largestDifference, type Work, weighed } from "./work";
import "./steps.css";

/** What float32 itself may differ by. */
const FLOAT32 = 1e-5;

export function FourSteps({ vectors, labels, asking, row, info, choice, onChoose, theme }: FourStepsProps) {
  const work = useMemo((): Work => {
    const { query, keys, values, scale, softcap, bias } = vectors;
    return {
      asking: asking.label,
      keys: labels.map((token) => token.label),
      query,
      key: keys,
      value: values,
      trace: workRow(vectors),
      scale,
      multiply: 1,
      softcap,
      bias,
      digits: [2, 3],
      byHand: false,
    };
  }, [vectors, labels, asking]);
  const best = largest(work);
  if (best === null)
    return (
      <p class="reason" role="note">
        “<bdi>{asking.label}</bdi>” may look at nothing in this layer: there are no steps to show.
      </p>
    );
  if (Array.from(work.query).some(Number.isNaN))
    return (
      <p class="reason" role="note">
        The query of “<bdi>{asking.label}</bdi>” is not a number (nan), and neither is anything that would be worked from
        it.
      </p>
    );
  const chosen = choice !== null && choice < labels.length ? choice : best;
  return (
    <div class="four-steps">
      <StepsTable work={work} choice={chosen} onChoose={onChoose} theme={theme} />
      <Explained work={work} choice={chosen} theme={theme}>
        {row ? <Check work={work} row={row} info={info} choice={chosen} /> : null}
      </Explained>
    </div>
  );
}

/** The weight that the page carries beside the one worked here. */
function Check({ work, row, info, choice }: { work: Work; row: Row; info: LayerInfo; choice: number }) {
  const difference = largestDifference(work.trace, row.weights);
  const off = info.worst === null ? "" : `, at most ${scientific(info.worst)} off`;
  const carried = `carried as ${info.precision}${off}`;
  if (Number.isNaN(difference)) {
    return (
      <p class="reason" role="note">
        Some numbers of this row are not numbers (nan), so that its weights cannot be compared.
      </p>
    );
  }
  // Both sides may be off by what is stated, and float32 itself by a little.
  if (difference > 2 * Math.max(info.worst ?? 0, FLOAT32)) {
    return (
      <p class="reason" role="note">
        The model's own weight is {weighed(row.weights[choice]!, 3)}: in this row the two differ by up to{" "}
        {scientific(difference)}, more than the precision of this page explains ({carried}).
      </p>
    );
  }
  return (
    <p class="steps-check" data-difference={difference}>
      The model's own weight is <b class="figures">{weighed(row.weights[choice]!, 3)}</b> ({carried}). Over this row,
      the weights worked here differ from it by at most {scientific(difference)}.
    </p>
  );
}

const scientific = (number: number): string => (number === 0 ? "0" : number.toExponential(1));
