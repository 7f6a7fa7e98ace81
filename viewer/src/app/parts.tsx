// Small parts that all views write with: quoted token text, numbers, reasons, headings.

import { Component, type ComponentChildren } from "preact";

/** Text of a token or word in quotes, isolated so that right-to-left text leaves its surroundings alone. */
export function Quoted({ text }: { text: string }) {
  return (
    <span class="quoted">
      “<bdi>{visible(text)}</bdi>”
    </span>
  );
}

/** Words for those who hear the page: a picture beside them says the same. */
export function Spoken({ children }: { children: ComponentChildren }) {
  return <span class="spoken">{children}</span>;
}

/** Spaces and line ends have no shape of their own: they get one. */
export function visible(text: string): string {
  if (text === "") return "∅";
  return text
    .replace(/\n/g, "⏎")
    .replace(/\t/g, "⇥")
    .replace(/^ +$/, (spaces) => "␣".repeat(spaces.length));
}

/** A weight with three places; what is not a number says so. */
export function weightText(weight: number): string {
  return Number.isNaN(weight) ? "nan" : weight.toFixed(3);
}

/** A weight that may be small, as in long texts: two digits where three places would say little. */
export function smallText(weight: number): string {
  return weight >= 0.01 || !(weight > 0) ? weightText(weight) : weight.toPrecision(2);
}

/** A difference with its sign; a true minus, and no sign on what rounds to nothing. */
export function differenceText(difference: number): string {
  if (Number.isNaN(difference)) return "nan";
  const digits = Math.abs(difference).toFixed(3);
  return Number(digits) === 0 ? digits : `${difference < 0 ? "−" : "+"}${digits}`;
}

/** A number of a statistic: enough places to tell neighbours apart. */
export function statisticText(value: number): string {
  if (Number.isNaN(value)) return "absent";
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 3).replace("-", "−");
}

/** Why there is nothing here: shown where a picture would stand, never an empty panel. */
export function Reason({ children }: { children: ComponentChildren }) {
  return (
    <p class="reason" role="note">
      {children}
    </p>
  );
}

export function Note({ children }: { children: ComponentChildren }) {
  return <p class="note">{children}</p>;
}

/** A part of a page with its heading and the line below it. */
export function Panel({
  title,
  lead,
  children,
  name,
  tools,
}: {
  title: ComponentChildren;
  lead?: ComponentChildren;
  children: ComponentChildren;
  name: string;
  tools?: ComponentChildren;
}) {
  return (
    <section class={`panel panel-${name}`} aria-label={typeof title === "string" ? title : name}>
      <div class="panel-head">
        <div>
          <h2>{title}</h2>
          {lead ? <p class="lead">{lead}</p> : null}
        </div>
        {tools}
      </div>
      {children}
    </section>
  );
}

/** A fault in one part is told in its place, and the rest of the page goes on. */
export class Guarded extends Component<{ children: ComponentChildren; what: string }, { fault: string | null }> {
  override state = { fault: null as string | null };

  static override getDerivedStateFromError(reason: unknown): { fault: string } {
    return { fault: reason instanceof Error ? reason.message : String(reason) };
  }

  /** Another choice may go well: it is tried when the part is asked for anew, and not before. */
  override componentDidUpdate(before: { children: ComponentChildren }): void {
    if (this.state.fault !== null && before.children !== this.props.children) this.setState({ fault: null });
  }

  override render() {
    const { fault } = this.state;
    return fault === null ? (
      this.props.children
    ) : (
      <Reason>
        {this.props.what} cannot be shown: {fault}
      </Reason>
    );
  }
}
