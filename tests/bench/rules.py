"""What the rules cost at a given number of raw series: wall time and CPU seconds of each group, in a real Prometheus.

    python -m tests.bench.rules [SERIES] [ROUNDS]

65 minutes of counters, one sample each 15 seconds, are written by remote write; then every rule of a group is evaluated
in turn. Deterministic data: 25 services in 2 clusters call 5 models each, with 8 series for each process and model.
CPU seconds are those of the whole process, garbage collection included; wall time depends on what else runs. Only raw
series are there: rules over recorded series read what these add up to, 250 models and 50 services, and cost next to
nothing.
"""

import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from socket import create_server

import yaml

REPOSITORY = Path(__file__).parents[2]
RULES = REPOSITORY / "dashboards/prometheus/llm-errors.rules.yml"
STACK = Path(os.environ.get("LLM_ERRORS_STACK") or REPOSITORY / ".cache/stack/bin")
INTERVAL, PAST_MINUTES, BATCH = 15, 65, 2500
SERVICES, CLUSTERS, MODELS = 25, 2, 5
SERIES_OF_A_MODEL = (
    ("llm_calls_total", {"llm_call_outcome": "ok"}),
    ("llm_calls_total", {"llm_call_outcome": "error"}),
    *(
        ("llm_errors_total", {"llm_error_class": name, "llm_error_reason": reason, "llm_error_channel": "thrown"})
        for name, reason in (
            ("SERVER", "overloaded"),
            ("RATE_LIMITED", "requests"),
            ("TIMEOUT", "read"),
            ("AUTH", "invalid_key"),
        )
    ),
    (
        "llm_errors_total",
        {"llm_error_class": "TRUNCATED", "llm_error_reason": "max_tokens", "llm_error_channel": "in_band"},
    ),
    ("llm_retries_total", {"llm_error_class": "RATE_LIMITED"}),
)


def varint(number: int) -> bytes:
    """Protocol buffers' and snappy's variable-length number."""
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def block(field: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return bytes([field << 3 | 2]) + varint(len(content)) + content


def label_sets(number: int) -> Iterator[dict[str, str]]:
    """The raw series."""
    replicas = number // (SERVICES * CLUSTERS * MODELS * len(SERIES_OF_A_MODEL))
    for service in range(SERVICES):
        for cluster in range(CLUSTERS):
            for replica in range(replicas):
                process = {"job": f"service-{service}", "cluster": f"cluster-{cluster}", "instance": f"{replica:032x}"}
                for model in range(MODELS):
                    called = {"gen_ai_provider_name": "openai", "gen_ai_request_model": f"model-{model}"}
                    for name, own in SERIES_OF_A_MODEL:
                        yield {"__name__": name, **process, **called, "gen_ai_operation_name": "chat", **own}


def encoded(labels: dict[str, str]) -> bytes:
    """The labels of a series, as remote write wants them: sorted."""
    return b"".join(
        block(1, block(1, key.encode()) + block(2, value.encode())) for key, value in sorted(labels.items())
    )


class Counters:
    """All series; each follows one of 50 patterns of growth, so that encoding them is cheap."""

    def __init__(self, number: int) -> None:
        chance = random.Random(15)
        self.labels = [encoded(labels) for labels in label_sets(number)]
        self.pattern = [chance.randrange(50) for _ in self.labels]
        self.rate = [chance.choice((0, 0, 0, 1, 2, 5)) for _ in range(50)]
        self.steps = 0

    def requests(self, moments: list[int]) -> Iterator[bytes]:
        """Write requests with a sample of every series at each moment (milliseconds)."""
        samples = []
        for rate in self.rate:
            values = ((self.steps + i) * rate for i in range(len(moments)))
            pairs = zip(values, moments, strict=True)
            samples.append(b"".join(block(2, b"\x09" + struct.pack("<d", v) + b"\x10" + varint(at)) for v, at in pairs))
        self.steps += len(moments)
        for start in range(0, len(self.labels), BATCH):
            chunk = zip(self.labels[start : start + BATCH], self.pattern[start : start + BATCH], strict=True)
            yield b"".join(block(1, labels + samples[pattern]) for labels, pattern in chunk)


class Server:
    """A Prometheus that takes remote write."""

    def __init__(self, folder: Path) -> None:
        with create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        config = folder / "prometheus.yml"
        config.write_text("global: {}\n")
        command = [STACK / "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}"]
        flags = ["--web.enable-remote-write-receiver", f"--web.listen-address={self.address}", "--query.timeout=30m"]
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen([*map(str, command), *flags], stdout=log, stderr=log)
        self._await_ready()

    def _await_ready(self) -> None:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=2).close()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("Prometheus did not get ready")

    def write(self, request: bytes) -> None:
        """Sends a write request, in a snappy frame that holds it as it is."""
        framed = varint(len(request)) + b"\xfc" + struct.pack("<I", len(request) - 1) + request
        headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"}
        headers["X-Prometheus-Remote-Write-Version"] = "0.1.0"
        post = urllib.request.Request(f"http://{self.address}/api/v1/write", framed, headers)
        urllib.request.urlopen(post, timeout=300).close()

    def evaluate(self, expression: str, moment: float) -> None:
        """Evaluates an expression once."""
        query = urllib.parse.urlencode({"query": expression, "time": str(moment), "limit": "1"}).encode()
        urllib.request.urlopen(f"http://{self.address}/api/v1/query", data=query, timeout=1800).close()

    def cpu(self) -> float:
        """CPU seconds that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """Ends the process."""
        self.process.terminate()
        self.process.wait(60)


def main(number: int = 50_000, rounds: int = 3) -> None:
    """Fills, evaluates each rule some rounds long and prints a table of the mean costs."""
    counters = Counters(number)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            moment = _fill(server, counters)
            _measure(server, moment, rounds)
        finally:
            server.stop()


def _fill(server: Server, counters: Counters) -> float:
    """Writes the past in spans of 5 minutes; returns its end."""
    started = time.time()
    begin = int(started) - PAST_MINUTES * 60
    for span in range(begin, int(started), 20 * INTERVAL):
        for request in counters.requests([(span + i * INTERVAL) * 1000 for i in range(20)]):
            server.write(request)
    print(
        f"{len(counters.labels):,} raw series, {PAST_MINUTES} min written in {time.time() - started:.0f} s", flush=True
    )
    return begin + PAST_MINUTES * 60 - INTERVAL


def _measure(server: Server, moment: float, rounds: int) -> None:
    print("| group | interval | CPU | CPU of the interval | wall |\n|---|---|---|---|---|")
    for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]:
        begun, used = time.monotonic(), server.cpu()
        for _ in range(rounds):
            for rule in group["rules"]:
                server.evaluate(rule["expr"], moment)
        cpu, wall = (server.cpu() - used) / rounds, (time.monotonic() - begun) / rounds
        interval = int(group["interval"].removesuffix("s").removesuffix("m")) * (60 if "m" in group["interval"] else 1)
        print(f"| `{group['name']}` | {interval} s | {cpu:.2f} s | {cpu / interval:.0%} | {wall:.2f} s |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
