"""What one incident sends: the shipped rules and routing, in a real Prometheus and Alertmanager, with time running faster.

Eight services call three models of one provider each. After a while of good traffic all calls of a service fail alike
for ten minutes, then all succeed: two services meet an outage, two a rate limit, two a revoked key, two a spent quota.
Every duration of rules and routing is divided by the same factor, so that nothing but the clock differs from
production. As a program: the table of `dashboards/README.md`.

    python tests/monitoring/incidents.py [FACTOR] [MINUTES OF GOOD TRAFFIC BEFORE]
"""

import contextlib
import json
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from artifact_tools import REPOSITORY, STACK, tool

DASHBOARDS = REPOSITORY / "dashboards"
INCIDENTS = {
    "outage": ("SERVER", "unavailable"),
    "rate limit": ("RATE_LIMITED", "requests"),
    "revoked key": ("AUTH", "invalid_key"),
    "spent quota": ("CALL_BUDGET", "insufficient_quota"),
}
SERVICES = tuple(f"{incident}/{place}" for incident in INCIDENTS for place in "ab")
MODELS = ("large", "small", "tiny")
CALLS_A_MINUTE = 20
"""Of each model."""
FAILING_MINUTES = 10
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def faster(duration: str, factor: float) -> str:
    """A duration of Prometheus, divided."""
    parts = re.findall(r"(\d+)(ms|[smhd])", duration)
    return f"{max(1, round(sum(int(n) * UNITS[unit] for n, unit in parts) / factor * 1000))}ms"


def faster_expression(expression: str, factor: float) -> str:
    """An expression with all its ranges, steps and offsets divided."""
    pattern = r"(?<=[\[:])(?:\d+(?:ms|[smhd]))+(?=[\]:])|(?<=offset )(?:\d+(?:ms|[smhd]))+"
    return re.sub(pattern, lambda found: faster(found[0], factor), expression)


def rule_file(factor: float) -> dict[str, Any]:
    """The shipped rules at another speed."""
    rules: dict[str, Any] = yaml.safe_load((DASHBOARDS / "prometheus/llm-errors.rules.yml").read_text())
    for group in rules["groups"]:
        group["interval"] = faster(group["interval"], factor)
        for rule in group["rules"]:
            rule["expr"] = faster_expression(rule["expr"], factor)
            rule.update({key: faster(rule[key], factor) for key in ("for", "keep_firing_for") if key in rule})
    return rules


def routing(factor: float, address: str) -> dict[str, Any]:
    """The shipped routing at another speed, with all receivers at one address."""
    configuration: dict[str, Any] = yaml.safe_load((DASHBOARDS / "alertmanager.yml").read_text())

    def hasten(route: dict[str, Any]) -> None:
        for key in ("group_wait", "group_interval", "repeat_interval"):
            if key in route:
                route[key] = faster(route[key], factor)
        for one in route.get("routes", []):
            hasten(one)

    hasten(configuration["route"])
    for receiver in configuration["receivers"]:
        receiver["webhook_configs"][0]["url"] = f"{address}/{receiver['name']}"
    return configuration


@dataclass(frozen=True)
class Notification:
    """One message to a receiver; `minute` counts from the first failure, at production speed."""

    receiver: str
    service: str
    is_over: bool
    alerts: tuple[str, ...]
    minute: float

    @property
    def is_page(self) -> bool:
        return self.receiver.startswith("page-")


def counters(service: str, good: int, failed: int) -> Iterator[str]:
    """What a service exports; its name begins with the incident that it meets."""
    error_class, reason = INCIDENTS[service.split("/")[0]]
    for model in MODELS:
        labels = f'job="{service}",instance="a",cluster="one",gen_ai_provider_name="openai",'
        labels += f'gen_ai_request_model="{model}",gen_ai_operation_name="chat"'
        yield f'llm_calls_total{{{labels},llm_call_outcome="ok"}} {good}'
        if failed:
            why = f'llm_error_class="{error_class}",llm_error_reason="{reason}",llm_error_channel="thrown"'
            yield f'llm_calls_total{{{labels},llm_call_outcome="error"}} {failed}'
            yield f"llm_errors_total{{{labels},{why}}} {failed}"


@dataclass
class World:
    """The services' counters, as a target for Prometheus, and the pager, as a webhook for Alertmanager."""

    factor: float
    good_minutes: float
    began: float = field(default_factory=time.time)
    received: list[Notification] = field(default_factory=list)

    @property
    def minute(self) -> float:
        """Minutes since the first failure, at production speed; negative before."""
        return (time.time() - self.began) * self.factor / 60 - self.good_minutes

    def metrics(self) -> str:
        """What a scrape reads now."""
        minute = self.minute
        failed = int(max(0, min(minute, FAILING_MINUTES)) * CALLS_A_MINUTE)
        good = int((self.good_minutes + min(minute, 0) + max(0, minute - FAILING_MINUTES)) * CALLS_A_MINUTE)
        lines = [line for service in SERVICES for line in counters(service, good, failed)]
        return "\n".join(lines) + "\n"

    def heard(self, receiver: str, body: dict[str, Any]) -> None:
        over = body["status"] == "resolved"
        state = "resolved" if over else "firing"
        named = {
            " ".join(filter(None, (a["labels"]["alertname"], a["labels"].get("window"))))
            for a in body["alerts"]
            if a["status"] == state
        }
        service = body["groupLabels"].get("job", "")
        self.received.append(Notification(receiver, service, over, tuple(sorted(named)), self.minute))


def handler(world: World) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(world.metrics().encode())

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            world.heard(self.path.strip("/"), body)
            self.answer(b"")

        def answer(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # Prometheus gives up a scrape that takes too long
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Silence: what counts is what was received."""

    return Handler


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextlib.contextmanager
def running(command: list[str], folder: Path, ready: str) -> Iterator[None]:
    with (folder / f"{Path(command[0]).name}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while not answers(ready):
                alive = process.poll() is None and time.monotonic() < deadline
                assert alive, Path(log.name).read_text()[-2000:]
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
            process.wait(30)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def prometheus(factor: float, target: int, alertmanager: int) -> dict[str, Any]:
    often = faster("15s", factor)
    return {
        "global": {"scrape_interval": often, "scrape_timeout": often, "evaluation_interval": often},
        "rule_files": ["rules.yml"],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}]},
        "scrape_configs": [
            {"job_name": "x", "honor_labels": True, "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}
        ],
    }


def watched(factor: float, good_minutes: float, until_minute: float, folder: Path, kind: type[World] = World) -> World:
    """Lets the incidents happen, and returns what was told about them up to a minute after the first failure."""
    pager, telling = free_port(), free_port()
    world = kind(factor, good_minutes)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(world))
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    target = server.server_port
    (folder / "rules.yml").write_text(yaml.safe_dump(rule_file(factor)))
    (folder / "prometheus.yml").write_text(yaml.safe_dump(prometheus(factor, target, telling)))
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(routing(factor, f"http://127.0.0.1:{target}")))
    telling_command = [tool("alertmanager", STACK), "--config.file=alertmanager.yml", "--storage.path=told"]
    telling_command += [f"--web.listen-address=127.0.0.1:{telling}", "--cluster.listen-address="]
    watching = [tool("prometheus", STACK), "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
    watching += [f"--web.listen-address=127.0.0.1:{pager}", f"--rules.alert.resend-delay={faster('1m', factor)}"]
    watching += [f"--query.lookback-delta={faster('5m', factor)}"]
    try:
        with running(telling_command, folder, f"http://127.0.0.1:{telling}/-/ready"):
            world.began = time.time()
            with running(watching, folder, f"http://127.0.0.1:{pager}/-/ready"):
                while world.minute < until_minute:
                    time.sleep(0.2)
    finally:
        server.shutdown()
        server.server_close()
    return world


def table(received: list[Notification]) -> str:
    """Notifications per service, as Markdown."""
    lines = [
        "| incident/service | page after | updates | resolved, after the repair | tickets |",
        "|---|---|---|---|---|",
    ]
    for service in SERVICES:
        told = [one for one in received if one.service == service]
        pages = [one for one in told if one.is_page and not one.is_over]
        over = [one for one in told if one.is_page and one.is_over]
        tickets = [one for one in told if not one.is_page]
        first = f"{pages[0].minute:.1f} min" if pages else "never"
        ended = ", ".join(f"{one.minute - FAILING_MINUTES:.1f} min" for one in over) or "never"
        lines.append(f"| {service} | {first} | {max(0, len(pages) - 1)} | {ended} | {len(tickets)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    given = [float(text) for text in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as scratch:
        result = watched(*(*given, *(30, 15)[len(given) :]), 75, Path(scratch))
    print(table(result.received))
    for one in result.received:
        what = ("resolved: " if one.is_over else "firing: ") + ", ".join(one.alerts)
        print(f"{one.minute:6.1f} {one.service or '-':14} {one.receiver:20} {what}", file=sys.stderr)
