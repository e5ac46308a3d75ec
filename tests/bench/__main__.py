"""Measures every variant in turn, round after round, and compares medians: a busy machine slows all of them alike.

What a variant adds is the difference between observed and plain calls of one process, which takes turns between them:
processes differ among themselves by more than a chunk's observation costs. And since they differ, by where their memory
happens to lie, there are several of each variant, whose median counts.
"""

import argparse
import os
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from statistics import median

from llm_errors import providers

ROOT = Path(__file__).parents[2]
PEERS = ("official", "openinference")
VARIANTS = ("minimum", "ours", "adopted", *PEERS)
STREAMS = ("ours", *PEERS)


class Process:
    """A worker and the questions it answers."""

    def __init__(self, variant: str) -> None:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))}
        command = [sys.executable, str(ROOT / "tests" / "bench" / "worker.py"), variant]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def ask(self, what: str, number: int) -> tuple[float, float]:
        """The measure, plain and observed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("a worker without pipes")
        print(what, number, file=stdin, flush=True)
        plain, observed = stdout.readline().split()
        return float(plain), float(observed)

    def close(self) -> None:
        self._process.communicate()


def rounds(processes: dict[str, Process], count: int, what: str, number: int) -> tuple[float, dict[str, float]]:
    """The median plain measure, and what each variant adds: the median of its differences over rounds of alternating direction."""
    plain, added = [], {name: [] for name in processes}
    for turn in range(count):
        for name in list(processes)[:: -1 if turn % 2 else 1]:
            without, observed = processes[name].ask(what, number)
            plain.append(without)
            added[name].append(observed - without)
    return median(plain), {name: median(values) for name, values in added.items()}


def medians(found: list[tuple[float, dict[str, float]]]) -> tuple[float, dict[str, float]]:
    """Of what the rounds of each set of processes found."""
    return median(f[0] for f in found), {name: median(f[1][name] for f in found) for name in found[0][1]}


def start_up(ours: bool) -> tuple[float, str]:
    """Milliseconds of an instrumented process that does nothing, and the SDKs it has imported."""
    others = {e.name for e in entry_points(group="opentelemetry_instrumentor")} - ({"llm_errors"} if ours else set())
    env = {**os.environ, "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": ",".join(sorted(others))}
    env |= {f"OTEL_{signal}_EXPORTER": "none" for signal in ("TRACES", "METRICS", "LOGS")}
    sdks = {row.package for row in providers.SDKS} | {"httpx", "httpx2"}
    program = f"import sys; print(*{sdks!r} & set(sys.modules))"
    command = [str(Path(sys.executable).with_name("opentelemetry-instrument")), sys.executable, "-c", program]
    began = time.perf_counter()
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return (time.perf_counter() - began) * 1e3, done.stdout.strip()


class Report:
    """The table, and whether every target has been met."""

    def __init__(self) -> None:
        self.missed = False

    def line(self, what: str, value: float, unit: str = "us") -> None:
        print(f"{what:<58}{value:>10.1f} {unit}")

    def target(self, what: str, value: float, limit: float) -> None:
        met = value <= limit
        self.missed = self.missed or not met
        print(f"{what:<58}{value:>10.3f}    at most {limit:<6g}{'' if met else '  MISSED'}")


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    arguments.add_argument("--processes", type=int, default=7, help="of each variant (default: %(default)s)")
    count = arguments.parse_args().processes
    report = Report()
    calls, chunks = [], []
    for number in range(count):
        print(f"processes {number + 1} of {count} ...", file=sys.stderr, flush=True)
        processes = {name: Process(name) for name in VARIANTS}
        rounds(processes, 1, "calls", 30)
        calls.append(rounds(processes, 9, "calls", 30))
        chunks.append(rounds({name: processes[name] for name in STREAMS}, 9, "chunks", 1000))
        few, many = processes["ours"].ask("memory", 2000)
        for process in processes.values():
            process.close()
    call, added = medians(calls)
    chunk, added_chunk = medians(chunks)
    boots = [(start_up(False)[0], *start_up(True)) for _ in range(max(count, 3))]

    report.line("one call, bare", call)
    for name, value in added.items():
        report.line(f"  added by {name}", value)
    report.line("one chunk, bare", chunk)
    for name, value in added_chunk.items():
        report.line(f"  added by {name}", value)
    report.line("start-up of opentelemetry-instrument", median(b[0] for b in boots), "ms")
    report.line("  with us", median(b[1] for b in boots), "ms")
    print()
    cheapest = min(added[p] for p in PEERS)
    report.target("call: own span / hand-written minimum", added["ours"] / added["minimum"], 1.3)
    report.target("call: own span / cheapest peer", added["ours"] / cheapest, 0.5)
    report.target("call: beside an adopted span / own span", added["adopted"] / added["ours"], 0.5)
    report.target("chunk: ours / cheapest peer", added_chunk["ours"] / min(added_chunk[p] for p in PEERS), 0.1)
    report.target("memory: kB more of ours in a stream of 2000 than of 100", (many - few) / 1e3, 1)
    report.target("start-up: SDKs imported", float(len({b[2] for b in boots} - {""})), 0)
    return int(report.missed)


if __name__ == "__main__":
    sys.exit(main())
