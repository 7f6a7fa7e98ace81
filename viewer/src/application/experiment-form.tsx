// Which experiment, on which model, with which settings: the form is made from what the lab says of each.
import { useState } from "preact/hooks";
import type { ServedModel } from "./read-room";

type Value = string | number | boolean | null;

export interface Setting {
  name: string;
  kind: "bool" | "int" | "float" | "str";
  many: boolean;
  optional: boolean;
  default: Value | Value[];
  help: string;
  choices: string[] | null;
  least: number | null;
}

export interface Experiment {
  name: string;
  purpose: string;
  settings: Setting[];
}

interface FormProps {
  experiments: Experiment[];
  models: ServedModel[];
  begin: (asked: Record<string, unknown>) => void;
}

export function ExperimentForm({ experiments, models, begin }: FormProps) {
  const [name, setName] = useState("");
  const [model, setModel] = useState("");
  const [limit, setLimit] = useState("");
  const [values, setValues] = useState<Record<string, Value>>({});
  const chosen = experiments.find((one) => one.name === name) ?? experiments[0];
  if (!chosen) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    const first = models[0]?.name ?? "";
    begin({
      experiment: chosen.name,
      model: model || first,
      settings: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)),
      ...(limit ? { limit: Number(limit) } : {}),
    });
  };
  const choose = (event: Event) => {
    setName((event.currentTarget as HTMLSelectElement).value);
    setValues({});
  };
  return (
    <form class="settings" onSubmit={submit}>
      <label>
        Experiment
        <select value={chosen.name} onChange={choose}>
          {experiments.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </select>
      </label>
      <p>{chosen.purpose}</p>
      <label>
        Model
        <select value={model || models[0]?.name} onChange={(event) => setModel(event.currentTarget.value)}>
          {models.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </select>
      </label>
      <label>
        Only the first items
        <input type="number" min={1} value={limit} placeholder="all" onInput={(event) => setLimit(event.currentTarget.value)} />
      </label>
      <details>
        <summary>Settings</summary>
        {chosen.settings.filter((one) => !one.many).map((one) => (
          <SettingField key={one.name} setting={one} set={(value) => setValues({ ...values, [one.name]: value })} />
        ))}
      </details>
      <button type="submit" class="leading" disabled={models.length === 0}>
        Start
      </button>
    </form>
  );
}

/** One setting; what is left as it is keeps its default. */
function SettingField({ setting, set }: { setting: Setting; set: (value: Value) => void }) {
  const otherwise = setting.default === null ? "the model's own" : String(setting.default);
  const words = setting.kind === "bool" ? ["true", "false"] : setting.choices;
  const take = (text: string) => set(text === "" ? null : parsed(text, setting.kind));
  return (
    <label>
      <span>{setting.name.replaceAll("_", " ")}</span>
      {words ? (
        <select onChange={(event) => take(event.currentTarget.value)}>
          <option value="">{`default: ${otherwise}`}</option>
          {words.map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
      ) : (
        <PlainField kind={setting.kind} placeholder={otherwise} take={take} />
      )}
      <small>{setting.help}</small>
    </label>
  );
}

function PlainField({ kind, placeholder, take }: { kind: Setting["kind"]; placeholder: string; take: (text: string) => void }) {
  const input = (event: { currentTarget: HTMLInputElement }) => take(event.currentTarget.value);
  if (kind === "str") return <input placeholder={placeholder} onInput={input} />;
  return <input type="number" step={kind === "float" ? "any" : "1"} placeholder={placeholder} onInput={input} />;
}

function parsed(text: string, kind: Setting["kind"]): Value {
  if (kind === "bool") return text === "true";
  return kind === "str" ? text : Number(text);
}
