// Reads [[language, query], ...] from standard input and writes, for each, where its first error is, or null.
import fs from 'node:fs';
import { parser as logql } from '@grafana/lezer-logql';
import { parser as traceql } from '@grafana/lezer-traceql';

const parsers = { logql, traceql };

function firstError(language, query) {
  let found = null;
  parsers[language].parse(query).iterate({
    enter: ({ type, from }) => {
      if (type.isError) found ??= from;
    },
  });
  return found;
}

const asked = JSON.parse(fs.readFileSync(0, 'utf8'));
console.log(JSON.stringify(asked.map(([language, query]) => firstError(language, query))));
