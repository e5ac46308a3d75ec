// Bundles the page. Grafana's packages expect to live in Grafana's own build, hence the defines.
import { build } from 'esbuild';

await build({
  entryPoints: { page: 'src/page.jsx' },
  bundle: true,
  splitting: true,
  format: 'esm',
  jsx: 'automatic',
  outdir: 'dist',
  target: 'chrome120',
  logLevel: 'error',
  define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
  loader: { '.svg': 'dataurl', '.woff2': 'dataurl', '.ttf': 'dataurl', '.png': 'dataurl' },
});
