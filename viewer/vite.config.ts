// One ES module and one style sheet: Python puts both inside the page, and a notebook loads the same module.
import { defineConfig } from "vitest/config";

export default defineConfig({
  build: {
    target: "es2022",
    outDir: "../src/heedmap/drawing/page/bundle",
    emptyOutDir: true,
    lib: { entry: "src/main.tsx", formats: ["es"], fileName: () => "page.js", cssFileName: "page" },
    reportCompressedSize: true,
  },
  worker: { format: "es" },
  test: { include: ["tests/**/*.test.{ts,tsx}", "src/**/*.test.{ts,tsx}"] },
});
