"""A real Prometheus over the seed data, with every recording rule and alert backfilled in the order of their
dependence.

As a program it runs a command over the seeded Prometheus: see `dashboards/screenshots/take.sh`.
"""

import argparse
import contextlib
import json
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import monday

from llm_errors.monitoring import promql, rules
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import Series
from llm_errors.monitoring.slo import Recording

Rule = dict[str, Any]
CARRIED = ("llm_errors_first_seen:time", "llm_errors_last_seen:time")
"""What rules carry on from their own last value: promtool cannot backfill it, so it is computed here."""


def backfill_rules(options: Options) -> list[Rule]:
    """The recording rules, and each alert as a recording of `ALERTS`; `for` and `keep_firing_for` are not played."""
    found: list[Rule] = []
    for rule in (rule for group in rules.groups(options) for rule in group["rules"]):
        if "record" in rule:
            found += [] if rule["record"].endswith(CARRIED) else [rule]
            continue
        labels = {"alertname": rule["alert"], "alertstate": "firing", **rule["labels"]}
        found.append({"record": "ALERTS", "expr": f"(\n{rule['expr']}\n) * 0 + 1", "labels": labels})
    return found


def slow(options: Options) -> set[str]:
    """The names of what is recorded each 5 minutes only: sums over it would count each event several times otherwise."""
    return {rule["record"] for rule in Recording(options).long_term()}


def layers(listed: list[Rule]) -> list[list[Rule]]:
    """Rules in waves: each wave reads only what earlier waves recorded, or its own past, which is empty here."""
    names = {rule["record"] for rule in listed} - {"ALERTS"}
    pending, done, waves = list(listed), set[str](), []
    while pending:
        reads = {id(rule): _read_by(rule) & names for rule in pending}
        wave = [rule for rule in pending if reads[id(rule)] <= done]
        if not wave:
            raise ValueError("the rules depend on each other in a circle")
        waves.append(wave)
        done |= {rule["record"] for rule in wave}
        pending = [rule for rule in pending if rule not in wave]
    return waves


def _read_by(rule: Rule) -> set[str]:
    return set(re.findall(r"[a-z_]\w*:\w+:\w+", rule["expr"])) - {rule["record"]}


class SeededPrometheus:
    """Prometheus over a folder of blocks; `query` asks it at a time or over a range."""

    def __init__(self, prometheus: str, promtool: str, folder: Path) -> None:
        self.prometheus, self.promtool, self.folder = (Path(p).resolve() for p in (prometheus, promtool, folder))
        self.data = self.folder / "data"
        self.address = f"http://127.0.0.1:{_free_port()}"

    def seed(self, days: int, options: Options, *, calm: bool = False) -> None:
        """Writes the raw blocks, then the recorded ones wave by wave, then what only a running Prometheus records."""
        self.write(monday.open_metrics(days, calm=calm))
        for wave in layers(backfill_rules(options)):
            long = [rule for rule in wave if rule["record"] in slow(options)]
            short = [rule for rule in wave if rule not in long]
            start = monday.NOW - days * 86400
            with self.running():
                self._backfill(wave, start, monday.FINE_FROM, monday.COARSE_STEP)
                self._backfill(long, monday.FINE_FROM, monday.NOW, monday.COARSE_STEP)
                self._backfill(short, monday.FINE_FROM, monday.NOW, monday.FINE_STEP)

        with self.running():
            carried = self._carried(days, Series(options))
        self.write(carried)

    def _backfill(self, listed: list[Rule], start: int, end: int, step: int) -> None:
        if not listed:
            return
        path = Path("wave.json")  # promtool chooses the moments of evaluation by the name that it is given
        (self.folder / path).write_text(json.dumps({"groups": [{"name": "wave", "rules": listed}]}))
        span = ("--start", str(start), "--end", str(end), "--eval-interval", f"{step}s")
        self._promtool("rules", *span, "--url", self.address, "--output-dir", str(self.data), str(path))

    def write(self, text: str) -> None:
        """Adds samples that are given as OpenMetrics."""
        raw = self.folder / "seed.om"
        raw.write_text(text)
        self._promtool("openmetrics", str(raw), str(self.data))

    def _carried(self, days: int, series: Series) -> str:
        """Since when failures come again and again, when they were last seen, and since when alerts fire."""
        lines = {name: [f"# TYPE {name} gauge"] for name in (series.first_seen, series.last_seen, "ALERTS_FOR_STATE")}
        asked = promql.sum_by((*series.by_class, promql.REASON), series.errors) + " > 0"
        begin, fine, now, step = monday.NOW - days * 86400, monday.FINE_FROM, monday.NOW, monday.FINE_STEP
        for found in self._api("query_range", query=asked, start=begin, end=now, step=300):
            seen = [int(moment) for moment, _ in found["values"]]
            for moment in range(max(seen[0], fine), now + 1, step):
                last = max(each for each in seen if each <= moment)
                for name, value in ((series.first_seen, seen[0]), (series.last_seen, last)):
                    lines[name].append(f"{name}{_braces(found['metric'])} {value} {moment}")
        for found in self._api("query_range", query="ALERTS", start=fine, end=now, step=step):
            labels = {key: value for key, value in found["metric"].items() if key not in ("__name__", "alertstate")}
            began = before = 0
            for moment in (int(moment) for moment, _ in found["values"]):
                began = began if moment - before == step else moment
                before = moment
                lines["ALERTS_FOR_STATE"].append(f"ALERTS_FOR_STATE{_braces(labels)} {began} {moment}")
        return "\n".join([*(line for listed in lines.values() for line in listed), "# EOF", ""])

    def query(self, expression: str, *, instant: bool, hours: float, step: int) -> list[dict[str, Any]]:
        """The series that a query answers with; raises `urllib.error.HTTPError` when it is refused."""
        if instant:
            return self._api("query", query=expression, time=monday.NOW)
        return self._api("query_range", query=expression, start=monday.NOW - hours * 3600, end=monday.NOW, step=step)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Prometheus is up inside."""
        config = self.folder / "prometheus.yml"
        config.write_text("global: {scrape_interval: 1m}\n")
        with (self.folder / "prometheus.log").open("ab") as log:
            process = subprocess.Popen(
                [
                    str(self.prometheus),
                    f"--config.file={config}",
                    f"--storage.tsdb.path={self.data}",
                    "--storage.tsdb.retention.time=10y",
                    f"--web.listen-address={self.address.removeprefix('http://')}",
                ],
                stdout=log,
                stderr=log,
            )
            try:
                self._await_ready(process)
                yield
            finally:
                process.terminate()
                try:
                    process.wait(300)
                finally:
                    process.kill()

    def _await_ready(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + 300
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.address}/-/ready", timeout=300):
                return
            time.sleep(0.1)
        raise RuntimeError((self.folder / "prometheus.log").read_text()[-2000:])

    def _promtool(self, kind: str, *arguments: str) -> None:
        command = [str(self.promtool), "tsdb", "create-blocks-from", "--max-block-duration=512h", kind, *arguments]
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=self.folder)

    def _api(self, path: str, **parameters: Any) -> list[dict[str, Any]]:
        body = urllib.parse.urlencode(parameters).encode()
        with urllib.request.urlopen(f"{self.address}/api/v1/{path}", data=body, timeout=300) as answer:
            result: list[dict[str, Any]] = json.load(answer)["data"]["result"]
        return result


def _braces(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--story", choices=("incident", "calm", "no-data"), default="incident")
    parser.add_argument("--prometheus", default=shutil.which("prometheus"))
    parser.add_argument("--promtool", default=shutil.which("promtool"))
    parser.add_argument(
        "command", nargs="+", help="run with the address, the time and a file of log rows as last arguments"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seeded = SeededPrometheus(args.prometheus, args.promtool, Path(folder))
        if args.story != "no-data":
            seeded.seed(args.days, Options(), calm=args.story == "calm")
        logs = Path(folder) / "logs.json"
        logs.write_text(json.dumps(monday.LOG_ROWS if args.story == "incident" else {}))
        with seeded.running():
            subprocess.run([*args.command, seeded.address, str(monday.NOW), str(logs)], check=True)


if __name__ == "__main__":
    main()
