"""Measures every variant in turn, round after round, and compares the fastest calls.

What a variant adds is the difference between observed and plain calls of one process, which takes turns between them. Each
call is timed alone, and the fastest counts: the interpreter's warm-up and other processes on the machine can only add time,
and a call of a millisecond is sometimes left alone even on a busy machine. Rounds go on until no process has become faster.
The median of runs of 30 calls, which this program compared before, measured the neighbours: the same code was 0.45 to 0.59
of a peer, and counting instructions (valgrind's callgrind) says 0.40. Processes differ among themselves by where their
memory happens to lie, so there are several of each variant, whose median counts.

Start-up and imports are CPU time of whole processes, again the fastest of several, with compiled bytecode.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from math import inf
from pathlib import Path
from statistics import median

from llm_errors import providers

ROOT = Path(__file__).parents[2]
PEERS = ("official", "openinference")
VARIANTS = ("minimum", "ours", "adopted", *PEERS)
STREAMS = ("ours", *PEERS)
AWS = ("aws",)
NEWS = 0.998
"""Of what was the fastest before: anything above is no improvement. A chunk of 100 us, of which 2 us are ours, needs so fine a
measure.
"""
PATIENCE, MOST_ROUNDS = 3, 30
"""Rounds without an improvement after which the measurement ends, and the most rounds of all."""
Added = dict[str, float]


def environment(**more: str) -> dict[str, str]:
    """The environment of a measured process: this source tree, and bytecode that is kept as in any installation."""
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "", **more}


class Process:
    """A worker and the questions it answers."""

    def __init__(self, variant: str) -> None:
        command = [sys.executable, str(ROOT / "tests" / "bench" / "worker.py"), variant]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
        )

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


@contextmanager
def started(names: tuple[str, ...]) -> Iterator[dict[str, Process]]:
    """A worker of each variant."""
    processes = {name: Process(name) for name in names}
    try:
        yield processes
    finally:
        for process in processes.values():
            process.close()


def rounds(processes: dict[str, Process], names: tuple[str, ...], what: str, number: int) -> tuple[float, Added]:
    """The plain measure, and what each variant adds to it: the fastest of all rounds, whose direction alternates."""
    best = {name: (inf, inf) for name in names}
    idle = turn = 0
    while idle < PATIENCE and turn < MOST_ROUNDS:
        before = dict(best)
        for name in names[:: -1 if turn % 2 else 1]:
            plain, observed = processes[name].ask(what, number)
            best[name] = min(best[name][0], plain), min(best[name][1], observed)
        improved = any(now < NEWS * was for name in names for now, was in zip(best[name], before[name], strict=True))
        idle, turn = 0 if improved else idle + 1, turn + 1
    return median(plain for plain, _ in best.values()), {name: b - a for name, (a, b) in best.items()}


def medians(found: list[tuple[float, Added]]) -> tuple[float, Added]:
    """Of what the rounds of each set of processes found."""
    return median(f[0] for f in found), {name: median(f[1][name] for f in found) for name in found[0][1]}


class Program:
    """A process that runs to its end: the fastest of its runs, in CPU milliseconds, and what it has printed."""

    def __init__(self, *command: str, **more: str) -> None:
        self._command, self._env = command, environment(**more)
        self.fastest = inf
        self.printed: set[str] = set()

    def run(self) -> None:
        process = subprocess.Popen(self._command, env=self._env, stdout=subprocess.PIPE, text=True)
        said = process.stdout.read() if process.stdout is not None else ""
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise RuntimeError(f"{self._command} ended with status {status}")
        self.fastest = min(self.fastest, (used.ru_utime + used.ru_stime) * 1e3)
        self.printed |= {said.strip()}


def programs(count: int) -> dict[str, Program]:
    """Start-up with us and without, imports, and the first failure, run in turn."""
    python = (sys.executable, "-c")
    instrumented = (str(Path(sys.executable).with_name("opentelemetry-instrument")), *python)
    packages = {root for row in providers.OBSERVED for root in (row.package, *row.roots)} | {"httpx", "httpx2"}
    sdks = f"import sys; print(*{packages!r} & set(sys.modules))"
    others = {e.name for e in entry_points(group="opentelemetry_instrumentor")} - {"llm_errors"}
    silent = {f"OTEL_{signal}_EXPORTER": "none" for signal in ("TRACES", "METRICS", "LOGS")}
    disabled = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"
    found = {
        "without": Program(*instrumented, sdks, **silent, **{disabled: ",".join((*others, "llm_errors"))}),
        "with": Program(*instrumented, sdks, **silent, **{disabled: ",".join(others)}),
        "python": Program(*python, "pass"),
        "import": Program(*python, "import llm_errors"),
        "failure": Program(*python, "import llm_errors; llm_errors.classify(ValueError())"),
    }
    for _ in range(count):
        for program in found.values():
            program.run()
    return found


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
    calls, chunks, aws = [], [], []
    for number in range(count):
        print(f"processes {number + 1} of {count} ...", file=sys.stderr, flush=True)
        with started((*VARIANTS, *AWS)) as processes:
            calls.append(rounds(processes, VARIANTS, "calls", 100))
            chunks.append(rounds(processes, STREAMS, "chunks", 1000))
            aws.append(rounds(processes, AWS, "calls", 100))
            few, many = processes["ours"].ask("memory", 2000)
    call, added = medians(calls)
    chunk, added_chunk = medians(chunks)
    s3, added_s3 = medians(aws)
    ran = programs(max(2 * count, 7))
    milliseconds = {name: program.fastest for name, program in ran.items()}

    report.line("one call, bare", call)
    for name, value in added.items():
        report.line(f"  added by {name}", value)
    report.line("one chunk, bare", chunk)
    for name, value in added_chunk.items():
        report.line(f"  added by {name}", value)
    report.line("100 S3 calls of botocore, bare", 100 * s3)
    report.line("  added by ours", 100 * added_s3["aws"])
    report.line("start-up of opentelemetry-instrument", milliseconds["without"], "ms")
    first = milliseconds["failure"] - milliseconds["import"]
    report.line("first failure, where no SDK was imported before", first, "ms")
    print()
    cheapest = min(added[p] for p in PEERS)
    report.target("call: own span / hand-written minimum", added["ours"] / added["minimum"], 1.3)
    report.target("call: own span / cheapest peer", added["ours"] / cheapest, 0.5)
    report.target("call: beside an adopted span / own span", added["adopted"] / added["ours"], 0.5)
    report.target("chunk: ours / cheapest peer", added_chunk["ours"] / min(added_chunk[p] for p in PEERS), 0.1)
    report.target("100 S3 calls of botocore: added / bare", added_s3["aws"] / s3, 0.02)
    report.target("memory: kB more of ours in a stream of 2000 than of 100", (many - few) / 1e3, 1)
    report.target("start-up: SDKs imported", float(len(ran["with"].printed - {""})), 0)
    report.target("start-up: ms that we add", milliseconds["with"] - milliseconds["without"], 60)
    report.target("import llm_errors: ms", milliseconds["import"] - milliseconds["python"], 30)
    return int(report.missed)


if __name__ == "__main__":
    sys.exit(main())
