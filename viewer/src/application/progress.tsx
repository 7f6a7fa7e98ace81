// How far some work is, in words and as a bar.

export interface Progress {
  done: number;
  total: number;
  what: string;
}

export function ProgressBar({ progress }: { progress: Progress }) {
  const { done, total, what } = progress;
  const said = total > 0 ? `${what}: ${done} of ${total}` : what;
  return (
    <p class="work" role="status">
      <progress {...(total > 0 ? { value: done, max: total } : {})} aria-label={what} />
      <span class="figures">{said}</span>
    </p>
  );
}
