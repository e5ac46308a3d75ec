#!/usr/bin/env bash
# Builds the Collector, Prometheus, promtool, Alertmanager, amtool, kustomize and the compose file checker from their Go
# modules into .cache/stack/bin, and unpacks the Prometheus operator's resource definitions beside it. What is there in the
# pinned version is kept, so a second run takes a second.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=$root/.cache/stack
bin=$cache/bin
manifest=$root/collector-config/builder.yaml
# shellcheck source=versions.env
source "$here/versions.env"
collector=$(sed -n 's/^  version: //p' "$manifest")

# No cgo: nothing of it is needed, and no C compiler then. GOFLAGS=-p=1 in the environment makes the build gentler.
export CGO_ENABLED=0 GOWORK=off GOFLAGS="-buildvcs=false ${GOFLAGS:-}"
small=(-trimpath "-ldflags=-s -w")

say() { printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"; }
fail() { printf 'make stack: %s\n' "$*" >&2; exit 1; }

need_go() {
  command -v go >/dev/null || fail "Go is not installed. Install Go $GO_MINIMUM or newer (https://go.dev/dl, or your package manager)."
  local have
  have=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
  have=${have#go}
  [ "$(printf '%s\n' "$GO_MINIMUM" "$have" | sort -V | head -1)" = "$GO_MINIMUM" ] ||
    fail "Go $have is too old: Prometheus $PROMETHEUS needs Go $GO_MINIMUM or newer (https://go.dev/dl)."
}

# present STAMP BINARY...: true if all binaries were built from what the stamp names.
present() {
  local stamp=$1 binary
  shift
  for binary in "$@"; do
    [ -x "$bin/$binary" ] && [ "$(cat "$bin/$binary.stamp" 2>/dev/null)" = "$stamp" ] || return 1
  done
}

# part STAMP FUNCTION BINARY...: builds the binaries with the function unless they are present.
part() {
  local stamp=$1 build=$2 binary start
  shift 2
  if present "$stamp" "$@"; then say "kept   $* ($stamp)"; return; fi
  need_go
  say "build  $* ($stamp)"
  start=$SECONDS
  "$build" || fail "the build of $* failed; the lines above say where."
  for binary in "$@"; do printf '%s' "$stamp" >"$bin/$binary.stamp"; done
  say "built  $* in $((SECONDS - start)) s"
}

# The linker flags by which a binary knows its version.
named() { printf -- '-ldflags=-s -w -X github.com/prometheus/common/version.Version=%s' "$1"; }

# A writable copy of a module's source: the folder that its own go.mod and go.sum pin.
module_source() {
  local module=$1 version=$2 target=$3 answer dir
  answer=$(cd / && go mod download -json "$module@$version") || true
  dir=$(sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p' <<<"$answer")
  [ -n "$dir" ] || fail "no $module@$version: $(sed -n 's/^\t"Error": //p' <<<"$answer")"
  rm -rf "$target" && mkdir -p "$(dirname "$target")"
  cp -r "$dir" "$target" && chmod -R u+w "$target"
}

build_collector() {
  (cd / && GOBIN=$cache/tools go install "go.opentelemetry.io/collector/cmd/builder@v$collector") || return
  rm -rf "$cache/src/collector" && mkdir -p "$cache/src/collector" || return
  sed "s#^  output_path:.*#  output_path: $cache/src/collector#" "$manifest" >"$cache/builder.yaml"
  "$cache/tools/builder" --config "$cache/builder.yaml" --skip-compilation || return
  (cd "$cache/src/collector" && go build "${small[@]}" -o "$bin/otelcol" .)
}

build_prometheus() {
  module_source github.com/prometheus/prometheus "$PROMETHEUS" "$cache/src/prometheus"
  # Static and file discovery are all that is used here; the clouds' clients double the build.
  (cd "$cache/src/prometheus" && go build -trimpath "$(named "$(cat VERSION)")" -tags=remove_all_sd -o "$bin/" ./cmd/prometheus ./cmd/promtool)
}

build_alertmanager() {
  local source=$cache/src/alertmanager ui
  module_source github.com/prometheus/alertmanager "$ALERTMANAGER" "$source"
  # The module holds the notification templates but not the built web pages: an empty page stands in for them.
  for ui in elm mantine; do
    mkdir -p "$source/ui/app/dist/$ui" && echo '<title>Alertmanager</title>' >"$source/ui/app/dist/$ui/index.html"
  done
  (cd "$source" && go build -trimpath "$(named "$(cat VERSION)")" -o "$bin/" ./cmd/alertmanager ./cmd/amtool)
}

build_compose_check() {
  module_source github.com/compose-spec/compose-go/v2 "$COMPOSE_GO" "$cache/src/compose-go"
  (cd "$cache/src/compose-go" && go build "${small[@]}" -o "$bin/compose-check" ./cmd)
}

build_kustomize() {
  (cd / && GOBIN=$bin go install "${small[@]}" "sigs.k8s.io/kustomize/kustomize/v5@$KUSTOMIZE")
}

# Not a program: the schemas of ServiceMonitor, PrometheusRule and the like.
unpack_operator_resources() {
  module_source github.com/prometheus-operator/prometheus-operator "$PROMETHEUS_OPERATOR" "$cache/src/operator"
  rm -rf "$cache/resources" && mkdir -p "$cache/resources" || return
  cp "$cache"/src/operator/example/prometheus-operator-crd/*.yaml "$cache/resources/"
}

build_vmalert_tool() {
  module_source github.com/VictoriaMetrics/VictoriaMetrics "$VICTORIAMETRICS" "$cache/src/victoriametrics"
  (cd "$cache/src/victoriametrics" && go build "${small[@]}" -o "$bin/" ./app/vmalert-tool)
}

mkdir -p "$bin" "$cache/tools"
part "$collector $(sha256sum <"$manifest" | cut -c1-12)" build_collector otelcol
part "$PROMETHEUS" build_prometheus prometheus promtool
part "$ALERTMANAGER" build_alertmanager alertmanager amtool
part "$COMPOSE_GO" build_compose_check compose-check
part "$VICTORIAMETRICS" build_vmalert_tool vmalert-tool
part "$KUSTOMIZE" build_kustomize kustomize
if [ "$(cat "$cache/resources/version" 2>/dev/null)" != "$PROMETHEUS_OPERATOR" ]; then
  need_go
  unpack_operator_resources || fail "the Prometheus operator's resource definitions could not be unpacked."
  printf '%s' "$PROMETHEUS_OPERATOR" >"$cache/resources/version"
fi
rm -rf "$cache/src"
say "ready  $bin"
