// One visual per panel type. Numbers, lines and tables are Grafana's own components; the state timeline lives in Grafana's
// server, so it is drawn here as plain SVG in Grafana's colours.
import { BigValue, TimeSeries } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import { dateTime, FieldType, reduceField } from '@grafana/data';

const AXIS = 22;

function hours(range, width, left) {
  const span = range.to - range.from;
  const every = [1, 2, 3, 4, 6].find((hour) => span / (hour * 3600) <= 10) * 3600;
  const first = Math.ceil(range.from / every) * every;
  return Array.from({ length: Math.floor((range.to - first) / every) + 1 }, (_, i) => first + i * every).map((time) => ({
    x: left + ((time - range.from) / span) * (width - left),
    text: new Date(time * 1000).toISOString().slice(11, 16),
  }));
}

function Times({ range, width, height, left, theme }) {
  return hours(range, width, left).map(({ x, text }) => (
    <text key={x} x={x} y={height - 5} textAnchor="middle" fill={theme.colors.text.secondary}>
      {text}
    </text>
  ));
}

function spells(field, times) {
  const found = [];
  field.values.forEach((value, i) => {
    const last = found.at(-1);
    if (value == null) return;
    if (last && last.value === value && last.index === i - 1) Object.assign(last, { index: i, end: times[i + 1] ?? times[i] });
    else found.push({ value, index: i, start: times[i], end: times[i + 1] ?? times[i] });
  });
  return found;
}

function Timeline({ frames, width, height, range, theme }) {
  const left = 360;
  const rows = frames.filter((frame) => frame.fields[1].values.some((value) => value != null));
  const tall = (height - AXIS) / rows.length;
  const x = (millis) => left + ((millis / 1000 - range.from) / (range.to - range.from)) * (width - left);
  return (
    <svg width={width} height={height} fontSize="12">
      {rows.map((frame, row) => (
        <g key={row}>
          <text x={left - 10} y={row * tall + tall / 2 + 4} textAnchor="end" fill={theme.colors.text.primary}>
            {frame.fields[1].state.displayName}
          </text>
          <rect x={left} y={row * tall + tall * 0.12} width={width - left} height={tall * 0.76} fill={theme.colors.background.secondary} />
          {spells(frame.fields[1], frame.fields[0].values).map((spell) => (
            <rect
              key={spell.start}
              x={x(spell.start)}
              y={row * tall + tall * 0.12}
              width={Math.max(3, x(spell.end) - x(spell.start))}
              height={tall * 0.76}
              fill={frame.fields[1].display(spell.value).color}
              opacity="0.9"
            />
          ))}
        </g>
      ))}
      <Times {...{ range, width, height, left, theme }} />
    </svg>
  );
}

function Numbers({ frames, width, height, options, theme }) {
  const fields = frames.map((frame) => frame.fields.find((field) => field.type === FieldType.number));
  const stacked = options.orientation === 'horizontal';
  const named = options.textMode === 'value_and_name' || fields.length > 1;
  const [calc] = options.reduceOptions.calcs;
  const gap = stacked ? 4 : 0;
  return (
    <div style={{ display: 'flex', flexDirection: stacked ? 'column' : 'row', gap }}>
      {fields.map((field, i) => (
        <BigValue
          key={i}
          theme={theme}
          width={stacked ? width : width / fields.length}
          height={stacked ? (height - gap * (fields.length - 1)) / fields.length : height}
          value={{ ...field.display(reduceField({ field, reducers: [calc] })[calc]), title: named ? field.state.displayName : undefined }}
          colorMode={options.colorMode}
          graphMode="none"
          justifyMode={options.justifyMode}
          textMode={options.textMode ?? 'auto'}
          text={options.text}
          count={fields.length}
          disableWideLayout={options.wideLayout === false}
        />
      ))}
    </div>
  );
}

const CELL = { align: 'auto', inspect: false, minWidth: 60, cellOptions: { type: 'auto' } };

function Table({ frames, width, height, panel, range }) {
  const fields = frames[0].fields.map((f) => ({ ...f, config: { ...f.config, custom: { ...CELL, ...f.config.custom } } }));
  return (
    <TableNG
      data={{ ...frames[0], fields }}
      width={width}
      height={height}
      cellHeight="sm"
      columnMinWidth={90}
      structureRev={1}
      timeRange={grafanaRange(range)}
      fieldConfig={panel.fieldConfig}
    />
  );
}

// Deployments, as Grafana draws annotations: a dashed line with its name.
function drawMarks(config, { marks = [] }, theme) {
  config.setPadding([null, 20, null, null]); // half of a time that stands at the right edge
  config.addHook('draw', (plot) => {
    const { ctx: canvas, bbox } = plot;
    const scale = devicePixelRatio;
    canvas.save();
    canvas.strokeStyle = canvas.fillStyle = theme.visualization.getColorByName('blue');
    canvas.setLineDash([4 * scale, 4 * scale]);
    canvas.font = `${11 * scale}px ${theme.typography.fontFamily}`;
    canvas.textAlign = 'right';
    for (const { time, text } of marks) {
      const x = plot.valToPos(time * 1000, 'x', true);
      canvas.beginPath();
      canvas.moveTo(x, bbox.top);
      canvas.lineTo(x, bbox.top + bbox.height);
      canvas.stroke();
      if (plot.width > 600) canvas.fillText(text, x - 4 * scale, bbox.top + 12 * scale); // else it would cover lines
    }
    canvas.restore();
  });
}

const grafanaRange = ({ from, to }) => {
  const ends = { from: dateTime(from * 1000), to: dateTime(to * 1000) };
  return { ...ends, raw: ends };
};

export function Visual({ panel, frames, ...rest }) {
  const options = panel.options ?? {};
  if (panel.type === 'timeseries')
    return (
      <TimeSeries
        {...{ frames, width: rest.width, height: rest.height, options, legend: options.legend }}
        structureRev={1}
        timeRange={grafanaRange(rest.range)}
        timeZone="utc"
      >
        {(config) => drawMarks(config, rest.range, rest.theme) ?? null}
      </TimeSeries>
    );
  if (panel.type === 'text') return null;
  const kinds = { stat: Numbers, table: Table, 'state-timeline': Timeline };
  const Kind = kinds[panel.type];
  return <Kind {...{ panel, frames, options, ...rest }} />;
}
