#!/usr/bin/env bash
# Draws the committed dashboards with Grafana's own components into this folder, in an incident, in calm and without data:
# seed data -> Prometheus -> Chromium -> PNG.
set -euo pipefail
cd "$(dirname "$0")/../.."
node=$(command -v node) || { echo "Node 20 or newer is needed, as 'node' on PATH" >&2; exit 2; }
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[ -n "$CHROMIUM" ] || { echo "Chromium is needed; on Debian: apt-get install chromium" >&2; exit 2; }
export CHROMIUM
built=.cache/screenshots
mkdir -p "$built"
cp -r dashboards/screenshots/renderer/. "$built"
(
  cd "$built"
  if ! cmp -s package.json node_modules/.made-from; then
    npm install --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error
    cp package.json node_modules/.made-from
  fi
  "$node" build.mjs
)
for story in incident calm no-data; do
  themes=dark
  if [ "$story" = incident ]; then themes=dark,light; fi
  "$PYTHON" tests/monitoring/seeded_prometheus.py --days 30 --story "$story" \
    --prometheus .cache/stack/bin/prometheus --promtool .cache/stack/bin/promtool \
    "$node" "$built/shoot.mjs" dashboards/grafana dashboards/screenshots "$story" "$themes"
done
