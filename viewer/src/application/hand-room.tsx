// By hand: the worked examples with every number open to change; what was changed stands in the address.
import { useEffect, useState } from "preact/hooks";
import { useTheme } from "../app/theme";
import { HandExample } from "../steps/hand-example";

export function HandRoom() {
  const [state, setState] = useState(stateInAddress);
  const { theme } = useTheme();
  useEffect(() => {
    const follow = () => setState(stateInAddress());
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  const change = (changed: string) => {
    setState(changed);
    history.replaceState(history.state, "", `#${new URLSearchParams({ hand: changed })}`);
  };
  return (
    <div class="view view-hand">
      <h2 class="spoken">Attention by hand</h2>
      <HandExample state={state} onState={change} theme={theme} />
    </div>
  );
}

function stateInAddress(): string {
  return new URLSearchParams(location.hash.slice(1)).get("hand") ?? "";
}
