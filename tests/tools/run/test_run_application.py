"""`llm-errors run` around a script: what is reported, and that the application behaves as without it."""

import contextlib
import fcntl
import json
import os
import re
import signal
import sys
import termios
import threading

import pytest

from tests.tools.run.conftest import APPS, CLASSES, PATIENCE, SAID, calls

OUTPUT = "asked: how are you\n" + "\n".join(SAID) + "\n"
ERRORS = "to standard error\n"


def finish(process, given="how are you\n"):
    out, err = process.communicate(given, timeout=PATIENCE)
    return process.returncode, out, err


def classes(report):
    return {row["class"]: row["count"] for row in report["failures"]["classes"]}


def rows(text):
    found = re.findall(r"^  ([A-Z_]{4,}) +(\d+) +[\d.]+ % ", text, re.M)
    return {name: int(count) for name, count in found}


def test_a_script_is_reported_after_its_own_output(start, model):
    code, out, err = finish(start(*calls(model, "end"), options=[]))
    assert (code, out) == (0, OUTPUT + "done\n")
    before, mark, report = err.partition("\nllm-errors run: ")
    assert (before, mark) == (ERRORS, "\nllm-errors run: ")
    assert "5 calls, 4 failed: 3 thrown, 1 in_band (inside an HTTP 200 response)" in report
    assert rows(report) == CLASSES
    assert max(map(len, report.splitlines())) <= 80
    assert len(set(re.findall(r"^  [A-Z_]{4,} +([0-9a-f]{32}) ", report, re.M))) == len(CLASSES)
    assert 'id = "unknown.' in report
    assert "owning team (page)" in report
    assert re.search(r"^ +content_filter 1 in_band$", report, re.M)


def test_providers_that_the_application_sets_in_its_code_work_as_without_us_and_report_here_too(start, model):
    command = [sys.executable, str(APPS / "in_code.py"), model.url]
    alone = finish(start(*command))
    model.requests.clear()
    code, out, err = finish(start(*command, options=[]))
    assert (code, out) == alone[:2]
    assert "shop 4" in out
    before, mark, report = err.partition("\nllm-errors run: ")
    assert (before, mark) == (alone[2], "\nllm-errors run: ")
    assert rows(report) == CLASSES


@pytest.mark.parametrize("how", ["exit", "crash", "kill", "raise"])
def test_exit_code_and_output_are_those_of_the_application_however_it_ends(start, model, how, tmp_path):
    code, out, err = finish(start(*calls(model, how)))
    file = tmp_path / "report.json"
    model.requests.clear()
    options = ["--json", "--output", str(file)]
    assert finish(start(*calls(model, how), options=options)) == (code, out, err)
    report = json.loads(file.read_text())
    assert report["run"]["exit_code"] == code
    assert report["calls"] == {"total": 5, "ok": 1, "failed": 4, "cancelled": 0}
    assert classes(report) == CLASSES


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_ends_the_application_ends_in_a_report(start, model, number):
    process = start(*calls(model, "wait"), options=[])
    process.stdin.write("how are you\n")
    process.stdin.flush()
    while process.stdout.readline() != "ready\n":
        assert process.poll() is None
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == -number  # as for the bare script
    assert f"ended by signal {number.value}" in err
    if number == signal.SIGINT:
        assert err.count("KeyboardInterrupt") == 1
        assert rows(err) == CLASSES


def test_an_application_that_handles_a_signal_gets_it_once_and_decides(start, model):
    process = start(*calls(model, "tidy"), options=[])
    process.stdin.write("how are you\n")
    process.stdin.flush()
    while process.stdout.readline() != "ready\n":
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert err.count("tidied up") == 1
    assert rows(err) == CLASSES


def test_ctrl_c_at_a_terminal_reaches_the_application_once(start, model):
    ours, theirs = os.openpty()

    def take_the_terminal():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    terminal = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "preexec_fn": take_the_terminal}
    process = start(*calls(model, "wait"), options=[], **terminal)
    os.close(theirs)
    watch = threading.Timer(PATIENCE, process.kill)
    watch.start()
    try:
        os.write(ours, b"how are you\n")
        said = b""
        while b"ready" not in said:
            said += os.read(ours, 4096)
        os.write(ours, b"\x03")
        with contextlib.suppress(OSError):  # what a terminal says when its last user has gone
            while more := os.read(ours, 4096):
                said += more
        assert process.wait(PATIENCE) == -signal.SIGINT
    finally:
        watch.cancel()
        os.close(ours)
    assert said.count(b"KeyboardInterrupt") == 1
    assert b"ended by signal 2" in said
    assert b"5 calls, 4 failed" in said


def test_the_live_table_is_there_while_the_application_runs(start, model):
    process = start(*calls(model, "wait"), options=["--watch"])
    process.stdin.write("how are you\n")
    process.stdin.flush()
    shown = ""
    for line in process.stderr:
        shown += line
        if line.startswith("  OUTPUT_BLOCKED "):
            break
    assert "5 calls, 4 failed" in shown
    assert "llm-errors run: " not in shown  # the report is still to come
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert "ended by signal 15" in process.communicate(timeout=PATIENCE)[1]


def test_fail_on_turns_a_good_exit_code_into_1_if_a_class_has_occurred(start, model):
    assert finish(start(*calls(model, "end"), options=["--fail-on", "auth,NOT_FOUND"]))[0] == 1
    model.requests.clear()
    assert finish(start(*calls(model, "end"), options=["--fail-on", "NOT_FOUND,TIMEOUT"]))[0] == 0
    model.requests.clear()
    assert finish(start(*calls(model, "exit"), options=["--fail-on", "any"]))[0] == 7


def test_the_page_holds_everything_and_needs_nothing_else(start, model, tmp_path):
    file = tmp_path / "report.html"
    assert finish(start(*calls(model, "end"), options=["--html", str(file)]))[0] == 0
    page = file.read_text()
    assert not re.findall(r"<(?:script|link|img|iframe|object)|src=|href=|@import|url\(", page)
    for wanted in (
        *CLASSES,
        "<svg",
        "llm.error.rule",
        "I am a teapot",
        "rate_limit_exceeded",
        "[[rule]]",
        "gpt-5-mini",
    ):
        assert wanted in page


def test_without_a_call_the_report_says_what_may_be_the_matter(start):
    code, out, err = finish(start(sys.executable, "-c", "print('quiet')", options=[]))
    assert (code, out) == (0, "quiet\n")
    assert "0 calls" in err
    assert "called no supported SDK" in err
    code, out, err = finish(start("sh", "-c", "echo quiet", options=[]))
    assert (code, out) == (0, "quiet\n")
    assert "No process of this command was instrumented" in err
    err = finish(start(sys.executable, "-c", "", options=[], variables={"OTEL_SDK_DISABLED": "true"}))[2]
    assert "OTEL_SDK_DISABLED=true switches OpenTelemetry off" in err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "nothing to run"),
        (["--", "no-such-command"], 127, "command not found: no-such-command"),
        (["--output", "/no/such/directory/x", "--", "true"], 2, "cannot write /no/such/directory/x"),
        (["--fail-on", "NONSENSE", "--", "true"], 2, "unknown class NONSENSE; known: TRANSPORT, "),
    ],
)
def test_wrong_use_is_one_line(arguments, code, said, capsys):
    from llm_errors.tools import cli

    assert cli.main(["run", *arguments]) == code
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_missing_package_is_one_line_with_the_remedy(monkeypatch, capsys):
    from llm_errors.tools import cli
    from llm_errors.tools.run import environment

    monkeypatch.setitem(environment.NEEDED, "no_such_module.inside", "no-such-package")
    assert cli.main(["run", "--", "true"]) == 2
    assert capsys.readouterr().err == "llm-errors run: no-such-package not installed: pip install 'llm-errors[otlp]'\n"
