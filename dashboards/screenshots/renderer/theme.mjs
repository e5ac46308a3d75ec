// node theme.mjs > ../../../tests/monitoring/grafana_theme.json
// The colours of Grafana's two themes that the test of contrast compares: backgrounds, texts, named colours, and the palette by name.
import { createRequire } from 'node:module';

const { createTheme, fieldColorModeRegistry } = createRequire(import.meta.url)('@grafana/data');

function values(mode) {
  const theme = createTheme({ colors: { mode } });
  const shades = theme.visualization.hues.flatMap((hue) => hue.shades.map(({ name }) => name));
  const named = (name) => theme.visualization.getColorByName(name);
  return {
    panel: theme.colors.background.primary,
    text: theme.colors.text.primary,
    named: Object.fromEntries(shades.map((name) => [name, named(name)])),
    by_name: fieldColorModeRegistry.get('palette-classic-by-name').getColors(theme).map(named),
  };
}

console.log(JSON.stringify({ dark: values('dark'), light: values('light') }, null, 1));
