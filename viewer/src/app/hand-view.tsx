// By hand: the worked examples, with every number open to change.

import { useFrame } from "./frame";
import { HandExample } from "../steps/hand-example";

export function HandView() {
  const { state, set, theme } = useFrame();
  return (
    <>
      <h2 class="spoken">Attention by hand</h2>
      <HandExample state={state.hand} onState={(hand) => set({ hand })} theme={theme} />
    </>
  );
}
