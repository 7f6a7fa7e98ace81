// One ES module and one style sheet: Python puts both inside the page, and a notebook loads the same module.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const BUNDLE = "../src/heedmap/drawing/page/bundle";
const SOURCES = ["src", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"];

/** The hash of all sources, as in hatch_build.py: no wheel is made with a program of other sources. */
function sourceHash(): string {
  const names = SOURCES.flatMap((name) =>
    statSync(HERE + name).isDirectory()
      ? readdirSync(HERE + name, { recursive: true, encoding: "utf8" }).map((inside) => `${name}/${inside.replaceAll("\\", "/")}`)
      : [name],
  );
  const hash = createHash("sha256");
  for (const name of names.filter((one) => statSync(HERE + one).isFile()).sort()) {
    hash.update(`${name}\0`).update(readFileSync(HERE + name)).update("\0");
  }
  return hash.digest("hex");
}

const STAMP = `${HERE}${BUNDLE}/sources.sha256`;

/** What is built: the page of files and notebooks, or (`--mode application`, `--mode course`) the local application and the course. */
const ENTRIES = {
  page: "src/main.tsx",
  application: "src/application/main.tsx",
  course: "src/course/main.tsx",
};

/** The last of the builds that `npm run build` makes. */
const LAST = "course";

export default defineConfig(({ mode }) => ({
  plugins: [
    {
      name: "source-hash",
      apply: "build",
      // Taken away by the first build and put back by the last: what was built in part is not taken for fresh.
      buildStart: () => (name(mode) === "page" ? rmSync(STAMP, { force: true }) : undefined),
      closeBundle: () => (name(mode) === LAST ? writeFileSync(STAMP, `${sourceHash()}\n`) : undefined),
    },
  ],
  build: {
    target: "es2022",
    outDir: BUNDLE,
    emptyOutDir: false, // each build leaves the other's files
    lib: { entry: ENTRIES[name(mode)], formats: ["es"], fileName: () => `${name(mode)}.js`, cssFileName: name(mode) },
    reportCompressedSize: true,
  },
  worker: { format: "iife" }, // a module worker does not start in a file that was opened from the disk
  test: { include: ["tests/**/*.test.{ts,tsx}", "src/**/*.test.{ts,tsx}"] },
}));

function name(mode: string): keyof typeof ENTRIES {
  return mode === "application" || mode === "course" ? mode : "page";
}
