// The page around the visuals: Grafana's grid, panel chrome and theme. `window.problems` lists what went wrong.
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { createTheme, ThemeContext } from '@grafana/data';
import { initPluginTranslations } from '@grafana/i18n';
import { GlobalStyles } from '@grafana/ui';
import { context, load, marks, rangeOf } from './data.js';
import { Visual } from './visuals.jsx';

const page = new URLSearchParams(location.search);
const theme = createTheme({ colors: { mode: page.get('theme') } });
const [CELL, GAP, HEADER] = [30, 8, 36];
window.problems = [];
window.tables = 0; // those with rows: drawn later than everything else

function Info() {
  return (
    <svg width="13" height="13" viewBox="0 0 16 16" fill="none" stroke={theme.colors.text.secondary} strokeWidth="1.5" style={{ verticalAlign: -1 }}>
      <circle cx="8" cy="8" r="6.5" />
      <path d="M8 7v4M8 4.6v1" />
    </svg>
  );
}

function Panel({ panel, ctx, column, done }) {
  const [frames, setFrames] = useState(null);
  const own = rangeOf(panel, ctx);
  const { x, y, w, h } = panel.gridPos;
  const [width, height] = [w * column - GAP, h * (CELL + GAP) - GAP];
  useEffect(() => {
    if (!panel.targets) return done();
    load(panel, own, theme)
      .then((found) => {
        if (!found.length && page.get('story') === 'incident') window.problems.push(`${panel.title}: empty`);
        if (found.length && panel.type === 'table') window.tables += 1;
        setFrames(found);
      })
      .catch((error) => window.problems.push(`${panel.title}: ${error}`))
      .finally(done);
  }, []);
  const place = { position: 'absolute', left: x * column, top: y * (CELL + GAP), width, height, boxSizing: 'border-box' };
  if (panel.type === 'row') return <div style={{ ...place, fontWeight: 500, fontSize: 16, paddingTop: 8 }}>{panel.title}</div>;
  const frame = { background: theme.colors.background.primary, border: `1px solid ${theme.colors.border.weak}`, borderRadius: 4 };
  const empty = { height: height - HEADER, display: 'grid', placeItems: 'center', color: theme.colors.text.secondary };
  const range = { from: own.from, to: own.to, marks: ctx.marks };
  return (
    <section style={{ ...place, ...frame }}>
      <header style={{ height: HEADER, padding: '8px 12px', boxSizing: 'border-box', fontWeight: 500, fontSize: 14, whiteSpace: 'nowrap' }}>
        {panel.title} <Info />
      </header>
      <div style={{ padding: '0 8px' }}>
        {panel.type === 'text' && <Words content={panel.options.content} />}
        {frames?.length === 0 && <div style={empty}>{panel.fieldConfig.defaults.noValue}</div>}
        {frames?.length > 0 && <Visual {...{ panel, frames, theme, range }} width={width - 20} height={height - HEADER - 10} />}
      </div>
    </section>
  );
}

function Words({ content }) {
  const parts = content.split(/(\[[^\]]*\]\([^)]*\))/);
  return (
    <div style={{ padding: '2px 4px', fontSize: 14, lineHeight: 1.6 }}>
      {parts.map((part, i) => (part.startsWith('[') ? <span key={i} style={{ color: theme.colors.text.link }}>{part.slice(1, part.indexOf(']'))}</span> : part))}
    </div>
  );
}

function Toolbar({ board }) {
  const chip = { background: theme.colors.background.primary, border: `1px solid ${theme.colors.border.medium}`, borderRadius: 4 };
  const shown = board.templating.list.filter((variable) => variable.type === 'query' && !variable.hide);
  return (
    <div style={{ display: 'flex', gap: 12, alignItems: 'baseline', margin: '4px 4px 14px' }}>
      <h3 style={{ margin: 0, marginRight: 12 }}>{board.title}</h3>
      {shown.map((variable) => (
        <span key={variable.name} style={{ ...chip, padding: '4px 10px', fontSize: 13 }}>
          <span style={{ color: theme.colors.text.secondary }}>{variable.label} </span>All
        </span>
      ))}
      <span style={{ marginLeft: 'auto', color: theme.colors.text.secondary, fontSize: 13 }}>
        {board.time.from.replace('now-', 'Last ').replace('h', ' hours')}
      </span>
    </div>
  );
}

function Board({ board, ctx, width }) {
  const column = (width - 2 * GAP) / 24;
  const bottom = Math.max(...board.panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  let waiting = board.panels.length;
  const done = () => (window.settled = --waiting === 0);
  const style = { background: theme.colors.background.canvas, color: theme.colors.text.primary, padding: GAP, width, boxSizing: 'border-box' };
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <div style={{ ...style, fontFamily: theme.typography.fontFamily }}>
        <Toolbar board={board} />
        <div style={{ position: 'relative', height: bottom * (CELL + GAP) }}>
          {board.panels.map((panel) => (
            <Panel key={panel.id} {...{ panel, ctx, column, done }} />
          ))}
        </div>
      </div>
    </ThemeContext.Provider>
  );
}

await initPluginTranslations('llm-errors-screenshots');
const board = await (await fetch(`/board/${page.get('board')}`)).json();
const ctx = context(board, +page.get('now'));
ctx.marks = await marks(board, ctx);
createRoot(document.getElementById('root')).render(<Board {...{ board, ctx }} width={+page.get('width')} />);
