"""The servers under test, started from the files that users copy: the Collector, Prometheus and Alertmanager."""

import json
import subprocess
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from processes import Daemon, eventually, free_port, get
from sink import CallRecorder

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "collector-config"
DASHBOARDS = ROOT / "dashboards"
BIN = ROOT / ".cache" / "stack" / "bin"

QUICK = {"DECISION_WAIT": "2s"}
"""What tests set otherwise than the defaults, to wait less."""


def run(binary: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / binary), *map(str, arguments)]
    return subprocess.run(command, cwd=CONFIGURATION, capture_output=True, text=True, timeout=60, check=False)


class Collector(Daemon):
    """One Collector with its own ports and queue; `settings` are environment variables of the configuration files."""

    def __init__(self, folder: Path, *files: str, name: str = "collector", **settings: str):
        self.port, self.health, self.self_metrics, self.scrape, shard = (free_port() for _ in range(5))
        self.otlp = f"http://127.0.0.1:{self.port}"
        self.shard = f"http://127.0.0.1:{shard}"
        ports = {
            "OTLP_HTTP_ENDPOINT": f"127.0.0.1:{self.port}",
            "OTLP_GRPC_ENDPOINT": f"127.0.0.1:{free_port()}",
            "HEALTH_ENDPOINT": f"127.0.0.1:{self.health}",
            "SELF_METRICS_PORT": str(self.self_metrics),
            "SCRAPE_ENDPOINT": f"127.0.0.1:{self.scrape}",
            "SERIAL_ENDPOINT": f"127.0.0.1:{free_port()}",
            "SHARD_ENDPOINT": f"127.0.0.1:{shard}",
            "QUEUE_DIRECTORY": str(folder / name / "queue"),
        }
        configs = [part for file in files for part in ("--config", CONFIGURATION / file)]
        super().__init__(name, [BIN / "otelcol", *configs], folder / name, f"http://127.0.0.1:{self.health}/",
                         {**ports, **QUICK, **settings})  # fmt: skip

    def own_metric(self, name: str, **labels: str) -> float:
        """The sum of one of the Collector's own metrics over the series with these labels."""
        total = 0.0
        for line in (get(f"http://127.0.0.1:{self.self_metrics}/metrics") or b"").decode().splitlines():
            if line.startswith(name + "{") and all(f'{key}="{value}"' in line for key, value in labels.items()):
                total += float(line.rsplit(" ", 1)[1])
        return total


@dataclass(frozen=True)
class Sample:
    labels: dict[str, str]
    value: float


class Prometheus(Daemon):
    """Prometheus with the shipped configuration; only targets, intervals and folders are this run's."""

    def __init__(
        self, folder: Path, *, scrapes: tuple[int, ...] = (), alertmanager: int | None = None, interval: str = "1s"
    ):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.otlp = f"{self.url}/api/v1/otlp"
        home = folder / "prometheus"
        home.mkdir(parents=True, exist_ok=True)
        (home / "prometheus.yml").write_text(_prometheus_configuration(scrapes, alertmanager, interval))
        flags = yaml.safe_load((CONFIGURATION / "compose.yaml").read_text())["services"]["prometheus"]["command"]
        shipped = [flag for flag in flags if not flag.startswith(("--config.file", "--storage.tsdb.path"))]
        own = [
            "--config.file=prometheus.yml",
            "--storage.tsdb.path=data",
            f"--web.listen-address=127.0.0.1:{self.port}",
        ]
        super().__init__("prometheus", [BIN / "prometheus", *shipped, *own], home, f"{self.url}/-/ready")

    def ask(self, path: str, **parameters: str) -> Any:
        body = get(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        return json.loads(body)["data"] if body else None

    def query(self, expression: str) -> list[Sample]:
        data = self.ask("query", query=expression) or {"result": []}
        return [Sample(found["metric"], float(found["value"][1])) for found in data["result"]]

    def number(self, expression: str) -> float:
        """The value of an expression that has one result; 0 while it has none."""
        found = self.query(expression)
        assert len(found) <= 1, f"{expression} has {len(found)} results"
        return found[0].value if found else 0.0

    def reaches(self, expression: str, value: float, seconds: float = 30) -> None:
        """Waits for the value and fails as soon as it is overshot: too many is as wrong as too few."""

        numbers = [0.0]

        def there() -> bool:
            numbers[0] = self.number(expression)
            assert numbers[0] <= value, f"{expression} is {numbers[0]}, more than {value}"
            return numbers[0] == value

        try:
            eventually(there, "", seconds)
        except AssertionError as error:
            raise AssertionError(f"{expression} is {numbers[0]} and should be {value}") from error


def _prometheus_configuration(scrapes: tuple[int, ...], alertmanager: int | None, interval: str) -> str:
    config = yaml.safe_load((CONFIGURATION / "prometheus.yml").read_text())
    config["global"].update(scrape_interval=interval, evaluation_interval=interval)
    jobs = {job["job_name"]: job for job in config["scrape_configs"]}
    jobs["short-lived"]["static_configs"] = [{"targets": [f"127.0.0.1:{port}" for port in scrapes]}]
    config["scrape_configs"] = [jobs["short-lived"]] if scrapes else []
    targets = [f"127.0.0.1:{alertmanager}"] if alertmanager else []
    config["alerting"]["alertmanagers"] = [{"static_configs": [{"targets": targets}]}]
    config["rule_files"] = [str(file) for file in rule_files()] if alertmanager else []
    return yaml.safe_dump(config)


def outputs(prometheus: Prometheus, sink: CallRecorder) -> dict[str, str]:
    return {
        "METRICS_ENDPOINT": prometheus.otlp,
        "TRACES_ENDPOINT": sink.endpoint,
        "LOGS_ENDPOINT": sink.endpoint,
        "TRUST_AND_SAFETY_ENDPOINT": sink.endpoint,
    }


def rule_files() -> list[Path]:
    """The rule files that the shipped configuration loads."""
    config = yaml.safe_load((CONFIGURATION / "prometheus.yml").read_text())
    patterns = [Path(pattern).name for pattern in config["rule_files"]]
    return sorted(file for pattern in patterns for file in (DASHBOARDS / "prometheus").glob(pattern))


class Alertmanager(Daemon):
    """Alertmanager with the shipped routing; each receiver's address is this run's webhook plus the receiver's name."""

    def __init__(self, folder: Path, webhook: str):
        self.port = free_port()
        home = folder / "alertmanager"
        home.mkdir(parents=True, exist_ok=True)
        config = yaml.safe_load((DASHBOARDS / "alertmanager.yml").read_text())
        for receiver in config["receivers"]:
            hooks = [{"url": f"{webhook}/{receiver['name']}", "send_resolved": False}]
            receiver.update({key: hooks for key in list(receiver) if key != "name"} or {"webhook_configs": hooks})
        (home / "alertmanager.yml").write_text(yaml.safe_dump(config))
        flags = ["--config.file=alertmanager.yml", "--storage.path=data", "--cluster.listen-address="]
        super().__init__("alertmanager", [BIN / "alertmanager", *flags, f"--web.listen-address=127.0.0.1:{self.port}"],
                         home, f"http://127.0.0.1:{self.port}/-/ready")  # fmt: skip
