"""`llm-errors demo` end to end: a real child process under `opentelemetry-instrument`, and what is said in the end."""

import argparse
import os
import re
import signal
import subprocess
import sys
import sysconfig
import urllib.request
from collections import Counter
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest.importorskip("openai")
pytest.importorskip("anthropic")
pytest.importorskip("google.genai")
pytest.importorskip("opentelemetry.distro")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http")

from llm_errors.recovery import KINDS
from llm_errors.taxonomy import ErrorClass
from llm_errors.tools.demo import command, monday
from llm_errors.tools.run.environment import INSTRUMENTORS

if "llm_errors" not in entry_points(group=INSTRUMENTORS).names:
    pytest.skip("llm-errors itself is not installed", allow_module_level=True)

ROOT = Path(__file__).parents[3]
PATIENCE = 300
"""Seconds after which a test gives up; no test waits that long when all is well."""
EXPECTED = {
    "quota": ErrorClass.RATE_LIMITED,
    "cut_off": ErrorClass.TRUNCATED,
    "broken_call": ErrorClass.TOOL_PROTOCOL,
    "blocked_prompt": ErrorClass.PROMPT_BLOCKED,
    "safety_stop": ErrorClass.OUTPUT_BLOCKED,
    "refusal": ErrorClass.OUTPUT_BLOCKED,
    "empty": ErrorClass.UNKNOWN,
    "overloaded": ErrorClass.SERVER,
    "dropped": ErrorClass.TRANSPORT,
    "hanging": ErrorClass.TIMEOUT,
    "too_long": ErrorClass.BAD_REQUEST,
    "retired": ErrorClass.NOT_FOUND,
    "revoked": ErrorClass.AUTH,
    "spent": ErrorClass.CALL_BUDGET,
}
"""What the script's author means by each fault: the desk and the provider know nothing of it."""


def _plain_signals():
    """Whatever pytest was started with, a shell's foreground job has no signal ignored."""
    for name in ("SIGINT", "SIGTERM"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


@contextmanager
def _demo(*arguments):
    """The command as a process of its own, killed in the end if it is still there."""
    script = Path(sysconfig.get_path("scripts")) / "llm-errors"
    with subprocess.Popen(
        [script, "demo", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_plain_signals,
    ) as demo:
        try:
            yield demo
        finally:
            demo.kill()


@pytest.fixture(scope="module")
def shown():
    with _demo() as demo:
        out, err = demo.communicate(timeout=PATIENCE)
    assert demo.returncode == 0, err
    return out


def _meant():
    """Class -> how many tickets of the script have a fault of it that no retry cures."""
    meant = Counter()
    for scene in monday.SCENES:
        for fault in scene.faults:
            if fault.attempts == monday.EVERY:
                meant[EXPECTED[fault.name].value] += fault.tickets
    return meant


def _rows(shown):
    """The rows of the views: class -> count and the rest of its line."""
    before_examples = shown.partition("EXAMPLES")[0]
    rows = re.findall(r"^  ([A-Z_]+) +(\d+) +([\d.]+) % +(.*)$", before_examples, re.M)
    return {name: (int(count), float(share), rest) for name, count, share, rest in rows}


def test_every_class_is_counted_as_often_as_the_script_plays_it(shown):
    counts = {name: count for name, (count, _, _) in _rows(shown).items()}
    assert counts == _meant()
    assert set(counts) == {c.value for c in ErrorClass}


def test_shares_are_of_all_calls(shown):
    calls = sum(scene.tickets for scene in monday.SCENES)
    assert f"{calls} calls, {sum(_meant().values())} failed" in shown
    for count, share, _ in _rows(shown).values():
        assert share == pytest.approx(100 * count / calls, abs=0.051)


def test_the_quota_spike_ends_at_four_percent_with_blocks_left_out_of_availability(shown):
    row = re.search(rf"^  {re.escape(monday.FLASH)} .*$", shown, re.M)[0]
    refused, blocked, calls = 20, 14, 500
    available = f"{100 * (calls - blocked - refused) / (calls - blocked):.1f} %"
    assert row.split("  ")[-1].strip() == "4.0 %"
    assert available in row
    assert f"{100 * (calls - blocked - refused) / calls:.1f} %" in row


def test_hidden_retries_are_told_and_whether_they_helped(shown):
    saved = sum(f.tickets for s in monday.SCENES for f in s.faults if f.attempts == 1)
    attempts = saved + 2 * _meant()["RATE_LIMITED"]
    told = " ".join(shown.split())
    assert f"RATE_LIMITED {attempts}, CALL_BUDGET {2 * _meant()['CALL_BUDGET']}" in told
    assert f"retries rescued {saved} calls; 27 failed anyway" in shown


def test_it_says_who_is_notified(shown):
    rows = _rows(shown)
    assert "owning team (page)" in rows["AUTH"][2]
    assert "platform on-call (page)" in rows["RATE_LIMITED"][2]
    assert "trust and safety (ticket)" in rows["PROMPT_BLOCKED"][2]


def test_the_desk_acts_on_one_case_of_each_kind(shown):
    acted = shown.partition("ADVICE")[2]
    assert {kind for kind in KINDS if re.search(rf"^  {kind} ", acted, re.M)} == set(KINDS)


def test_one_trace_of_each_class(shown):
    examples = re.findall(r"^  ([A-Z_]+) +([0-9a-f]{32}) ", shown, re.M)
    assert {name for name, _ in examples} == {c.value for c in ErrorClass}
    assert len({trace for _, trace in examples}) == len(ErrorClass)


def test_it_fits_the_terminal_and_is_plain(shown):
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.isascii()
    assert "\x1b" not in shown


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing there")
def test_serve_keeps_prometheus_metrics_up_until_ctrl_c():
    pytest.importorskip("opentelemetry.exporter.prometheus")
    with _demo("--serve") as demo:
        url = next(m[1] for line in demo.stdout if (m := re.match(r"metrics: (\S+)", line)))
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=10) as answer:
            metrics = answer.read().decode()
        demo.send_signal(signal.SIGINT)
        _, err = demo.communicate(timeout=PATIENCE)
    errors = Counter()
    for name, value in re.findall(r'^llm_errors_total\{.*llm_error_class="([A-Z_]+)".*\} ([\d.]+)', metrics, re.M):
        errors[name] += int(float(value))
    assert errors == _meant()
    assert (demo.returncode, err) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="signals are another thing there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_play_ends_its_desk_too(number):
    with _demo() as demo:
        next(line for line in demo.stdout if line.startswith("  07:30"))
        demo.send_signal(number)
        _, err = demo.communicate(timeout=PATIENCE)  # returns when the desk, which holds the same pipe, has gone too
    assert (demo.returncode, err) == (130 if number == signal.SIGINT else -number, "")


def test_the_documentation_shows_what_the_demo_prints(shown):
    block = re.search(r"<!-- demo -->\n```text\n(.*?)```", (ROOT / "src/llm_errors/docs/demo.md").read_text(), re.S)[1]
    told, mark, _ = block.partition("  ...\n")
    assert mark
    plain = [re.sub(r"[0-9a-f]{32}", "TRACE", text) for text in (told, shown)]
    assert plain[1].startswith(plain[0])


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
def test_a_child_of_the_demo_ends_with_its_parent():
    """A demo that is killed closes the pipe that it holds; a child in the middle of its work then ends by itself."""
    code = "from llm_errors.tools.demo.parent import end_with_parent; end_with_parent(); print('on', flush=True)\n"
    code += "import threading; threading.Event().wait()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"on\n"
        child.stdin.close()
        assert child.wait(PATIENCE) == 1
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
def test_a_child_without_such_a_parent_goes_on():
    code = "from llm_errors.tools.demo.parent import end_with_parent; end_with_parent()\n"
    code += "import threading; print(threading.active_count())"
    done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert done.stdout.strip() == b"1"


def test_a_desk_that_hangs_is_ended(monkeypatch, capsys):
    hang = [sys.executable, "-c", "import threading; threading.Event().wait()"]
    monkeypatch.setattr(command, "_desk", lambda provider, stay: hang)
    monkeypatch.setattr(command, "LONGEST", 0.2)
    assert _run() == 1
    assert "the desk stopped with exit code -9" in capsys.readouterr().err


def _run(serve=False):
    return command.run(argparse.Namespace(serve=serve))


def test_a_missing_sdk_is_one_line_with_the_remedy(monkeypatch, capsys):
    monkeypatch.setitem(command.NEEDED, "no_such_sdk.inside", "no-such-sdk")
    assert _run() == 2
    assert capsys.readouterr().err == "llm-errors demo: no-such-sdk not installed: pip install 'llm-errors[demo]'\n"


def test_a_desk_that_crashes_is_said_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(command, "_desk", lambda provider, stay: [sys.executable, "-c", "raise SystemExit(3)"])
    assert _run() == 1
    assert capsys.readouterr().err == "llm-errors demo: the desk stopped with exit code 3\n"


def test_the_desk_gets_nothing_of_the_users_that_would_change_the_play():
    given = {"PATH": "/bin", "HTTPS_PROXY": "x", "OTEL_SDK_DISABLED": "true", "GOOGLE_GENAI_USE_VERTEXAI": "1"}
    made = command.environment(given, "127.0.0.1:1", None)
    assert {"HTTPS_PROXY", "OTEL_SDK_DISABLED", "GOOGLE_GENAI_USE_VERTEXAI"}.isdisjoint(made)
    assert made["PATH"] == "/bin"
