// The whole page: what is mounted in a file, a notebook cell or the application.
import type { PageData } from "./data/types";

/** `host` says where the page lives: the address is used for the state in a file, and left alone in a notebook. */
export function App({ page, host }: { page: PageData; host: "file" | "notebook" }) {
  return <main data-host={host}>{page.readings[0]?.queries.text}</main>;
}
