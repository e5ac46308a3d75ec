// From a panel's targets to Grafana data frames: queries, transformations (Grafana's own), field options and overrides.
import {
  createDataFrame,
  FieldType,
  getDisplayProcessor,
  getFieldDisplayName,
  reduceField,
  standardTransformers,
  standardTransformersRegistry,
  transformDataFrame,
} from '@grafana/data';
import { lastValueFrom } from 'rxjs';

const STEP_FLOOR = 60; // the seed data's own step

standardTransformersRegistry.setInit(() =>
  [
    standardTransformers.mergeTransformer,
    standardTransformers.organizeFieldsTransformer,
    standardTransformers.sortByTransformer,
    standardTransformers.renameByRegexTransformer,
  ].map((transformation) => ({
    id: transformation.id,
    name: transformation.name,
    transformation: async () => transformation,
    editor: () => null,
  })),
);

export const seconds = (text) => {
  const [, count, unit] = /^(\d+)([smhdw])$/.exec(text);
  return count * { s: 1, m: 60, h: 3600, d: 86400, w: 604800 }[unit];
};

export function context(board, now) {
  const span = seconds(board.time.from.replace('now-', ''));
  const variables = {};
  for (const variable of board.templating.list) variables[variable.name] = variable.allValue ?? 'default';
  return { from: now - span, to: now, variables };
}

export function interpolate(text, variables) {
  return text.replace(/\$\{(\w+)\}|\$(\w+)/g, (all, a, b) => variables[a ?? b] ?? all);
}

export async function ask(path, parameters) {
  const response = await fetch(`/prometheus/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const body = await response.json();
  if (body.status !== 'success') throw new Error(body.error);
  return body.data.result;
}

const legend = (target, labels) =>
  target.legendFormat.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (_, name) => labels[name] ?? '');

function table(target, result, many) {
  const names = [...new Set(result.flatMap((series) => Object.keys(series.metric)))];
  const fields = names.map((name) => ({ name, type: FieldType.string, values: result.map((s) => s.metric[name] ?? '') }));
  const time = { name: 'Time', type: FieldType.time, values: result.map((s) => s.value[0] * 1000) };
  const value = { name: many ? `Value #${target.refId}` : 'Value', type: FieldType.number, values: result.map((s) => +s.value[1]) };
  return createDataFrame({ refId: target.refId, fields: [time, ...fields, value] });
}

function one(target, series, times, values, interval) {
  const config = { displayNameFromDS: legend(target, series.metric) };
  return createDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: times, config: { interval } },
      { name: 'Value', type: FieldType.number, labels: series.metric, values, config },
    ],
  });
}

async function frames(panel, target, ctx, many) {
  const minimum = panel.interval ? seconds(panel.interval) : STEP_FLOOR;
  const step = Math.max(minimum, Math.ceil((ctx.to - ctx.from) / 400 / STEP_FLOOR) * STEP_FLOOR);
  const spans = { __rate_interval: `${Math.max(4 * STEP_FLOOR, step + STEP_FLOOR)}s`, __interval: `${step}s`, __interval_ms: step * 1000, __range: `${ctx.to - ctx.from}s`, __range_s: ctx.to - ctx.from };
  const query = interpolate(target.expr, { ...ctx.variables, ...spans });
  if (target.instant) {
    const result = await ask('query', { query, time: ctx.to });
    if (target.format === 'table') return result.length ? [table(target, result, many)] : [];
    return result.map((series) => one(target, series, [series.value[0] * 1000], [+series.value[1]], 0));
  }
  const start = Math.ceil(ctx.from / step) * step;
  const result = await ask('query_range', { query, start, end: ctx.to, step });
  return result.map((series) => {
    const found = new Map(series.values);
    const times = [];
    for (let time = start; time <= ctx.to; time += step) times.push(time);
    const values = times.map((time) => (found.has(time) ? +found.get(time) : null));
    return one(target, series, times.map((time) => time * 1000), values, step * 1000);
  });
}

async function storedRows(panel) {
  const rows = (await (await fetch('/logs.json')).json())[panel.title];
  if (!rows) return [];
  const fields = Object.keys(rows[0]).map((name) => ({
    name,
    type: name.startsWith('Value') ? FieldType.number : FieldType.string,
    values: rows.map((row) => row[name]),
  }));
  return [createDataFrame({ refId: 'A', fields })];
}

const matches = (matcher, field, frame) => {
  const name = getFieldDisplayName(field, frame);
  if (matcher.id === 'byName') return name === matcher.options;
  return matcher.id === 'byRegexp' && new RegExp(matcher.options.replace(/^\/|\/$/g, '')).test(name);
};

function put(target, path, value) {
  const keys = path.split('.');
  keys.slice(0, -1).reduce((at, key) => (at[key] ??= {}), target)[keys.at(-1)] = value;
}

const LINE = {
  drawStyle: 'line',
  lineInterpolation: 'linear',
  lineWidth: 1,
  fillOpacity: 0,
  gradientMode: 'none',
  showPoints: 'auto',
  pointSize: 5,
  axisPlacement: 'auto',
  axisColorMode: 'text',
  scaleDistribution: { type: 'linear' },
  spanNulls: false,
  barAlignment: 0,
  barWidthFactor: 0.8,
  hideFrom: { viz: false, legend: false, tooltip: false },
  stacking: { mode: 'none', group: 'A' },
  thresholdsStyle: { mode: 'off' },
};

// Colour schemes by value span all series of a panel.
function reach(frames) {
  const ends = frames.flatMap(({ fields }) => fields.filter((field) => field.type === FieldType.number));
  const reduced = ends.map((field) => reduceField({ field, reducers: ['min', 'max'] }));
  return { min: Math.min(...reduced.map((end) => end.min)), max: Math.max(...reduced.map((end) => end.max)) };
}

function dress(frame, panel, theme, all, count, extent) {
  const { defaults, overrides = [] } = panel.fieldConfig;
  for (const field of frame.fields) {
    const config = structuredClone(defaults);
    config.displayNameFromDS = field.config?.displayNameFromDS;
    config.displayName = field.config?.displayName; // what `organize` renamed
    config.custom = { ...(panel.type === 'timeseries' ? LINE : {}), ...config.custom };
    config.color ??= { mode: panel.type === 'timeseries' ? 'palette-classic' : 'thresholds' };
    config.thresholds ??= { mode: 'absolute', steps: [{ value: null, color: 'text' }] };
    field.config = config;
    for (const override of overrides)
      if (matches(override.matcher, field, frame)) for (const property of override.properties) put(config, property.id, property.value);
    config.links = undefined;
    config.thresholds.steps = config.thresholds.steps.map((step) => ({ ...step, value: step.value ?? -Infinity }));
    if (field.type === FieldType.time) config.unit = undefined;
    field.state = { seriesIndex: field.type === FieldType.number ? count.series++ : undefined };
    field.state.displayName = getFieldDisplayName(field, frame, all);
    if (field.type === FieldType.number) {
      const { min, max } = extent;
      field.state.range = { min: config.min ?? min, max: config.max ?? max, delta: (config.max ?? max) - (config.min ?? min) };
    }
    field.display = getDisplayProcessor({ field, theme, timeZone: 'utc' });
  }
  return frame;
}

// The range of a panel: a month may be shown beside the hours of the others.
export const rangeOf = (panel, ctx) => (panel.timeFrom ? { ...ctx, from: ctx.to - seconds(panel.timeFrom) } : ctx);

export async function marks(board, ctx) {
  const note = board.annotations.list.find(({ name }) => name === 'Deployments');
  const step = Math.max(60, Math.ceil((ctx.to - ctx.from) / 400));
  const result = await ask('query_range', { query: interpolate(note.expr, ctx.variables), start: ctx.from, end: ctx.to, step });
  return result.map((series) => ({ time: series.values[0][0], text: legend({ legendFormat: note.titleFormat }, series.metric) }));
}

export async function load(panel, ctx, theme) {
  const asked = panel.targets.map((target) =>
    target.datasource.type === 'prometheus' ? frames(panel, target, ctx, panel.targets.length > 1) : storedRows(panel),
  );
  let found = (await Promise.all(asked)).flat();
  if (panel.transformations?.length && found.length) found = await lastValueFrom(transformDataFrame(panel.transformations, found));
  const count = { series: 0 };
  const extent = reach(found);
  return found.map((frame) => dress(frame, panel, theme, found, count, extent));
}
