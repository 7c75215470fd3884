import { defineConfig } from "vite";

// The content security policy of the console admits no inline script and no data: URL, so nothing is inlined.
export default defineConfig({
  build: { outDir: "../../../build/console", emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false }, target: "es2022" },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
});
