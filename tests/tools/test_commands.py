"""The commands: what they print, and one clear line with status 2 for input that cannot be used."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from llm_errors.rules import user
from llm_errors.tools import cli, rule_template

GEMINI_KEY = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*argv: str) -> tuple[int, str, str]:
        status = cli.main(argv)
        out, err = capsys.readouterr()
        return status, out, err

    return call


def written(path: Path, content: Any) -> str:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


# --- explain -------------------------------------------------------------------------------------------------------


def test_explain_a_saved_body(command: Any, tmp_path: Path) -> None:
    body = written(tmp_path / "body.json", GEMINI_KEY)
    status, out, _ = command("explain", "--provider", "gemini", "--status", "400", "--body", body)
    assert status == 0
    assert out.splitlines()[0] == "AUTH  invalid_key"
    for line in ("what to do     Re-raise and page", "notifies       owning team", "rule           google.key"):
        assert line in out
    assert "matching rules (first one wins)\n  1. google.key " in out


def test_explain_for_machines(command: Any, tmp_path: Path) -> None:
    body = written(tmp_path / "body.json", GEMINI_KEY)
    report = json.loads(command("explain", body, "--provider", "gemini", "--status", "400", "--json")[1])
    assert (report["class"], report["rule"], report["evidence"]["status"]) == ("AUTH", "google.key", 400)
    assert report["matches"][0]["rule"] == "google.key"
    assert len(report["matches"]) > 1


@pytest.mark.parametrize(
    ("arguments", "headline"),
    [
        (["--status", "503"], "SERVER  unavailable"),
        (["--status", "429", "--header", "Retry-After: 7"], "RATE_LIMITED  requests"),
        (["--provider", "openai", "--code", "insufficient_quota"], "CALL_BUDGET  insufficient_quota"),
        (["--provider", "openai", "--finish-reason", "length"], "TRUNCATED  max_tokens"),
        (["--provider", "gemini", "--finish-reason", "NEW_REASON"], "UNKNOWN  unrecognised_finish_reason"),
        (["--exception", "openai.APITimeoutError", "--exception", "httpx.ReadTimeout"], "TIMEOUT  read"),
        (["--exception", "asyncio.exceptions.TimeoutError"], "TIMEOUT  other"),
        (["--exception", "builtins.ConnectionRefusedError"], "TRANSPORT  connection_refused"),
        (["--exception", "my.app.TaskLimit"], "UNKNOWN  foreign_exception"),
        (["--provider", "openai", "--status", "400", "--message", "maximum context length is 9"], "BAD_REQUEST  "),
    ],
)
def test_explain_single_facts(command: Any, arguments: list[str], headline: str) -> None:
    assert command("explain", *arguments)[1].startswith(headline)


def test_explain_an_exception_given_as_json(command: Any, tmp_path: Path) -> None:
    document = {"exceptions": ["openai.RateLimitError"], "status": 429, "headers": {"retry-after": "3"}}
    report = json.loads(command("explain", written(tmp_path / "e.json", document), "--json")[1])
    assert (report["class"], report["retry_after"]) == ("RATE_LIMITED", 3.0)
    one = written(tmp_path / "one.json", {"exception": "httpx.ConnectError"})
    assert command("explain", one)[1].startswith("TRANSPORT  other")


def test_explain_reads_standard_input(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("<html>Bad Gateway</html>"))
    assert command("explain", "-")[1].startswith("UNKNOWN  unexpected_body")


def test_explain_a_healthy_answer(command: Any, tmp_path: Path) -> None:
    answer = {"choices": [{"finish_reason": "stop", "message": {"content": "hi"}}]}
    assert command("explain", written(tmp_path / "a.json", answer))[1].startswith("healthy\n")


@pytest.mark.parametrize(
    ("events", "headline"),
    [
        (['{"type":"response.created"}'], "TRANSPORT  stream_cut"),
        (['{"type":"message_start","message":{}}', '{"type":"error","error":{"type":"overloaded_error"}}'], "SERVER  "),
        (['{"ping": 1}'], "UNKNOWN  unexpected_body"),
    ],
)
def test_explain_a_saved_stream(command: Any, tmp_path: Path, events: list[str], headline: str) -> None:
    stream = "".join(f"data: {event}\n\n" for event in events) + "data: [DONE]\n"
    out = command("explain", written(tmp_path / "s.txt", stream))[1]
    assert out.startswith(headline) or out.startswith("UNKNOWN  empty_response")


def test_an_unknown_failure_comes_with_a_row_to_name_it(command: Any) -> None:
    out = command("explain", "--provider", "deepseek", "--status", "418", "--code", "teapot")[1]
    assert out.startswith("UNKNOWN  unrecognised_error")
    assert (
        '[[rule]]\n  id = "openai.pattern"\n  providers = ["deepseek"]\n  status = [418]\n  codes = ["teapot"]' in out
    )
    assert 'Rule("openai.pattern", E.UNKNOWN, "other", providers=frozenset({"deepseek"})' in out


def test_explain_with_rules_of_one_s_own(command: Any, tmp_path: Path) -> None:
    rules = written(tmp_path / "r.toml", '[[rule]]\nid = "tea"\nstatus = 418\nclass = "SERVER"\n')
    out = command("explain", "--status", "418", "--rules", rules)[1]
    assert out.startswith("SERVER  other")
    assert "rule           tea" in out
    healthy = written(tmp_path / "h.toml", '[[rule]]\nfinish = "odd"\nclass = "healthy"\n')
    assert command("explain", "--finish-reason", "odd", "--rules", healthy)[1].startswith("healthy")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "llm-errors explain: nothing to explain: give a file, or"),
        (["none.json"], "llm-errors explain: none.json: No such file or directory"),
        (["--status", "500", "--header", "x"], "llm-errors explain: --header 'x' has no colon; write NAME:VALUE"),
        (["--status", "500", "--rules", "none.toml"], "llm-errors explain: none.toml: cannot be read:"),
    ],
)
def test_explain_of_bad_input_is_one_line(command: Any, arguments: list[str], line: str) -> None:
    status, out, err = command("explain", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(line)
    assert err.count("\n") == 1


# --- rules check ---------------------------------------------------------------------------------------------------


def test_rules_check(command: Any, tmp_path: Path) -> None:
    good = written(tmp_path / "good.toml", '[[rule]]\nstatus = 418\nclass = "SERVER"\n')
    status, out, _ = command("rules", "check", good)
    assert status == 0
    assert "user.1                           -> SERVER/other" in out
    assert json.loads(command("rules", "check", good, "--json")[1])["rules"][0]["class"] == "SERVER"


def test_rules_check_tells_of_a_provider_that_it_cannot_check(command: Any, tmp_path: Path) -> None:
    own = written(
        tmp_path / "own.toml", '[[rule]]\nproviders = ["our-gateway", "gemini"]\nstatus = 418\nclass = "SERVER"\n'
    )
    status, out, _ = command("rules", "check", own)
    assert status == 0
    assert "note: user.1: 'our-gateway' is not a provider that llm-errors knows" in out
    (note,) = json.loads(command("rules", "check", own, "--json")[1])["notes"]
    assert "our-gateway" in note


def test_rules_check_of_a_file_that_is_wrong(command: Any, tmp_path: Path) -> None:
    bad = written(tmp_path / "bad.toml", '[[rule]]\nstatuz = 418\nclass = "SERVER"\n')
    status, out, err = command("rules", "check", bad)
    assert (status, out) == (1, "")
    assert f"{bad}:2: unknown condition 'statuz'; write 'status'" in err
    assert command("rules", "check", bad, "--json")[0] == 1


def test_rules_check_of_several_files(command: Any, tmp_path: Path) -> None:
    good = written(tmp_path / "good.toml", '[[rule]]\nstatus = 418\nclass = "SERVER"\n')
    bad = written(tmp_path / "bad.toml", '[[rule]]\nstatuz = 418\nclass = "SERVER"\n')
    status, out, err = command("rules", "check", good, bad)
    assert status == 1
    assert f"{good}: 1 rule, OK" in out
    assert f"{bad}:2:" in err
    reports = json.loads(command("rules", "check", good, bad, "--json")[1])
    assert [(r["file"], len(r["rules"]), len(r["problems"])) for r in reports] == [(good, 1, 0), (bad, 0, 2)]


def test_rules_check_of_standard_input(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('[[rule]]\nstatuz = 418\nclass = "SERVER"\n'))
    status, _, err = command("rules", "check", "-")
    assert (status, err.splitlines()[0]) == (1, "standard input:2: unknown condition 'statuz'; write 'status'")


def test_rules_check_without_a_file_checks_the_one_in_use(
    command: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good = written(tmp_path / "good.toml", '[[rule]]\nstatus = 418\nclass = "SERVER"\n')
    monkeypatch.setenv("LLM_ERRORS_RULES_FILE", good)
    assert f"{good}: 1 rule, OK" in command("rules", "check")[1]


def test_rules_check_of_nothing_is_wrong_use(command: Any) -> None:
    assert command("rules", "check", "/nowhere.toml")[0] == 2
    status, _, err = command("rules", "check")
    assert (status, err) == (2, "llm-errors rules check: nothing to check: give a file, or set LLM_ERRORS_RULES_FILE\n")


# --- rows to paste -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        rule_template.Pattern("a", provider="deepseek", status=418, codes=("x", "y")),
        rule_template.Pattern("a", dialect="openai", finish="odd"),
        rule_template.Pattern("a", exception="my.Error"),
        rule_template.Pattern("a", provider="vllm", facts=("no_end",)),
        rule_template.Pattern("a", status=418, exception="openai.APIStatusError"),
    ],
)
def test_a_row_to_paste_is_right_once_a_class_is_chosen(pattern: rule_template.Pattern) -> None:
    suggested = rule_template.toml(pattern)
    assert user.parse(suggested.replace('"UNKNOWN"', '"SERVER"'))[1] == []
    (problem,) = user.parse(suggested)[1]
    assert problem.message.startswith("class 'UNKNOWN' leaves the failure unclassified; write one of TRANSPORT, ")
    assert rule_template.python(pattern).startswith('Rule("a", E.UNKNOWN, "other"')
