"""Processes that count calls and failures without an SDK, so that a test says what they export and when they began; they
are scraped or push. And a Prometheus with the shipped rules, evaluated each second, that can go away for 70 minutes."""

import json
import re
import shutil
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from otlp import counter, point, post
from processes import Daemon, eventually, free_port, get
from services import BIN, DASHBOARDS, Sample

MODEL = {"gen_ai_provider_name": "openai", "gen_ai_request_model": "gpt", "gen_ai_operation_name": "chat"}
AUTH = {**MODEL, "llm_error_class": "AUTH", "llm_error_reason": "invalid_key", "llm_error_channel": "thrown"}
ERROR = {**MODEL, "llm_call_outcome": "error"}
TAKE = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@dataclass
class Process:
    """A process in which `failures` calls failed for a wrong key; it began `age` seconds ago. Nothing is exported
    before the first failure, as with an SDK."""

    failures: int = 0
    age: float = 60
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self.born = time.time() - self.age
        process = self

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = process.exposition().encode()
                self.send_response(200)
                self.send_header("Content-Type", TAKE)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Scrapes are no news."""

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Page)

    def exposition(self) -> str:
        """The counters as OpenMetrics, each with the time at which its series began."""
        lines: list[str] = []
        for name, labels in (("llm_calls", ERROR), ("llm_errors", AUTH)):
            lines.append(f"# TYPE {name} counter")
            written = ",".join(f'{key}="{value}"' for key, value in labels.items())
            if self.failures:
                lines.append(f"{name}_total{{{written}}} {self.failures}")
                lines.append(f"{name}_created{{{written}}} {self.born:.3f}")
        return "\n".join([*lines, "# EOF", ""])

    def push(self, endpoint: str, service: str, **resource: str) -> None:
        """The same by OTLP."""
        end, start = time.time_ns(), int(self.born * 1e9)
        named = {"service.name": service, "service.instance.id": str(self.port), **resource}
        for name, labels in (("llm_calls_total", ERROR), ("llm_errors_total", AUTH)):
            dotted = {_otel(key): value for key, value in labels.items()}
            post(endpoint, "metrics", counter(name, [point(self.failures, dotted, start=start, end=end)], named))

    def start(self) -> None:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def _otel(label: str) -> str:
    known = ("gen_ai.provider.name", "gen_ai.request.model", "gen_ai.operation.name", "llm.call.outcome")
    known += ("llm.error.class", "llm.error.reason", "llm.error.channel")
    return next(name for name in known if name.replace(".", "_") == label)


class RuledPrometheus(Daemon):
    """Prometheus 3 that scrapes `targets` (port -> labels) each second and evaluates the shipped rules as often."""

    def __init__(
        self,
        folder: Path,
        *features: str,
        name: str = "prometheus",
        sends_to: str = "",
        ruled: bool = True,
        translation: str = "UnderscoreEscapingWithSuffixes",
    ):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.home, self.sends_to, self.targets = folder / name, sends_to, dict[int, dict[str, str]]()
        self.ruled, self.translation = ruled and not sends_to, translation
        self.home.mkdir(parents=True, exist_ok=True)
        rules = (DASHBOARDS / "prometheus/llm-errors.rules.yml").read_text(encoding="utf-8")
        (self.home / "rules.yml").write_text(re.sub(r"interval: \S+", "interval: 1s", rules))
        self.configure()
        enabled = [f"--enable-feature={feature}" for feature in features if feature]
        flags = ["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.enable-lifecycle"]
        flags += ["--web.enable-otlp-receiver", "--web.enable-remote-write-receiver"]
        address = f"--web.listen-address=127.0.0.1:{self.port}"
        super().__init__(name, [BIN / "prometheus", *flags, *enabled, address], self.home, f"{self.url}/-/ready")

    def configure(self) -> None:
        scrapes = [
            {
                "job_name": f"{labels['job']}-{port}",
                "static_configs": [{"targets": [f"127.0.0.1:{port}"], "labels": labels}],
            }
            for port, labels in self.targets.items()
        ]
        config: dict[str, Any] = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "scrape_configs": scrapes,
            "otlp": {
                "promote_resource_attributes": ["deployment.environment.name"],
                "translation_strategy": self.translation,
            },
            "storage": {"tsdb": {"out_of_order_time_window": "10m"}},
            "rule_files": ["rules.yml"] if self.ruled else [],
        }
        if self.sends_to:
            config["remote_write"] = [{"url": f"{self.sends_to}/api/v1/write"}]
        (self.home / "prometheus.yml").write_text(yaml.safe_dump(config))

    def scrape(self, process: Process, **labels: str) -> None:
        """Begins to scrape a process, or scrapes it on with other labels."""
        self.targets[process.port] = labels
        self.configure()
        if self.process:
            self.reload()

    def reload(self) -> None:
        """Makes Prometheus read its configuration again."""
        request = urllib.request.Request(f"{self.url}/-/reload", method="POST")
        urllib.request.urlopen(request, timeout=20).close()

    def load_rules(self, process: Process) -> None:
        """Loads the rules once the process has been scraped, so that their first evaluation finds its past."""
        eventually(lambda: self.query(f'llm_errors_total{{instance="127.0.0.1:{process.port}"}}'), "a first scrape")
        self.ruled = True
        self.configure()
        self.reload()

    def was_away(self, minutes: int) -> None:
        """Stops, moves all that is stored into the past by so many minutes, and starts on that."""
        self.stop()
        old, new = self.home / "data", self.home / "moved"
        dump = [str(BIN / "promtool"), "tsdb", "dump-openmetrics", str(old)]
        text = subprocess.run(dump, check=True, capture_output=True, text=True).stdout
        lines = [_earlier(line, minutes * 60) for line in text.splitlines()]
        (self.home / "moved.om").write_text("\n".join([*lines, ""]))
        blocks = [str(BIN / "promtool"), "tsdb", "create-blocks-from", "openmetrics", str(self.home / "moved.om")]
        subprocess.run([*blocks, str(new)], check=True, capture_output=True)
        shutil.rmtree(old)
        new.rename(old)
        self.start()

    def query(self, expression: str) -> list[Sample]:
        body = get(f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': expression})}")
        found = json.loads(body)["data"]["result"] if body else []
        return [Sample(one["metric"], float(one["value"][1])) for one in found]

    def evaluations(self, number: int) -> None:
        """Waits until the rules have been evaluated so many times more."""
        last = "timestamp(job:llm_rules_evaluated:bool)"
        seen: set[float] = {sample.value for sample in self.query(last)}
        wanted = len(seen) + number

        def enough() -> bool:
            seen.update(sample.value for sample in self.query(last))
            return len(seen) >= wanted

        eventually(enough, f"{number} evaluations", seconds=60)

    def pages(self, **labels: str) -> set[str]:
        """The jobs for which a wrong key pages."""
        matchers = "".join(f',{key}="{value}"' for key, value in labels.items())
        fires = f'ALERTS{{alertname="LLMCredentialOrModelError",alertstate="firing"{matchers}}}'
        return {sample.labels["job"] for sample in self.query(fires)}

    def unreadable(self) -> set[tuple[str, str]]:
        """The jobs whose series no rule can read, with the problem."""
        fires = 'ALERTS{alertname="LLMTelemetryUnreadable",alertstate="firing"}'
        return {(sample.labels["job"], sample.labels["problem"]) for sample in self.query(fires)}

    def new_failures(self, job: str) -> float:
        """What counts as new."""
        return sum(s.value for s in self.query(f'job_attributes:llm_errors:count5m{{job="{job}"}}'))


def _earlier(line: str, seconds: float) -> str:
    if line.startswith("#") or not line:
        return line
    series, value, moment = line.rsplit(" ", 2)
    return f"{series} {value} {float(moment) - seconds:.3f}"
