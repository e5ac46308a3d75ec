"""`explain` reads what people have at hand: what SDKs raise and answer, as logs, consoles and files hold it."""

import io
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from llm_errors.testing.provider import Reply
from llm_errors.tools import cli

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
types = pytest.importorskip("google.genai.types")

SAID = "You exceeded your current quota, please check your plan and billing details."
QUOTA = {"error": {"message": SAID, "type": "insufficient_quota", "code": "insufficient_quota"}}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.fixture
def explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(text: str, *argv: str) -> dict[str, Any]:
        path = tmp_path / "saved"
        path.write_text(text, encoding="utf-8")
        assert cli.main(["explain", str(path), "--json", *argv]) == 0, capsys.readouterr().err
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return call


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(content: bytes) -> str:
        path = tmp_path / "saved"
        path.write_bytes(content)
        assert cli.main(["explain", str(path)]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        return str(err)

    return call


@pytest.fixture
def quota(provider: Any) -> Exception:
    """What the OpenAI SDK raises for an account without credit."""
    url = provider([Reply(429, json=QUOTA)]).url
    with (
        openai.OpenAI(api_key="k", base_url=url, max_retries=0) as client,
        pytest.raises(openai.RateLimitError) as caught,
    ):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    return caught.value


def printed(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def verdict(report: dict[str, Any]) -> str:
    return f"{report['class']}/{report['reason']}"


# --- exceptions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        str,
        repr,
        lambda error: f"openai.RateLimitError: {error}",
        lambda error: f"2026-11-30 09:00:00,123 ERROR desk.answer: call failed: {error}",
        printed,
        lambda error: json.dumps({"level": "error", "time": 1, "msg": f"call failed: {error}"}),
        lambda error: json.dumps({"levelname": "ERROR", "message": "call failed", "exc_info": printed(error)}),
        lambda error: f"openai.RateLimitError: Error code: 429 - {QUOTA}",
        lambda error: f"openai.RateLimitError: Error code: 429 - {QUOTA}"[:-2],
    ],
    ids=["str", "repr", "class and str", "log line", "traceback", "JSON log", "JSON log, traceback", "body", "cut off"],
)
def test_an_exhausted_account_is_no_rate_limit_in_whatever_form_it_was_saved(explained, quota, form):
    report = explained(form(quota))
    assert (report["class"], report["notifies"]) == ("CALL_BUDGET", "owning team")


def test_the_exception_of_an_application_around_that_of_the_sdk(explained, quota):
    def answer():
        try:
            raise quota
        except openai.OpenAIError as error:
            raise RuntimeError("no answer today") from error

    with pytest.raises(RuntimeError) as caught:
        answer()
    report = explained(f"some log\n{printed(caught.value)}\nanother line")
    assert report["class"] == "CALL_BUDGET"
    assert report["evidence"]["exceptions"] == [["builtins.RuntimeError"], ["openai.RateLimitError"]]


def test_a_refused_connection_is_seen_through_the_sdk_s_own_exception(explained):
    nowhere = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9", max_retries=0)
    with nowhere as client, pytest.raises(openai.APIConnectionError) as caught:
        client.models.list()
    assert verdict(explained(printed(caught.value))) == "TRANSPORT/connection_refused"


def test_missing_credentials_are_told_by_the_text_alone(explained, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(openai.OpenAIError) as caught:
        openai.OpenAI()
    assert verdict(explained(printed(caught.value))) == "AUTH/missing_key"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups are printed by Python 3.11 and newer")
def test_a_group_is_judged_by_its_first_member(explained, quota):
    def gather():
        raise ExceptionGroup("two calls", [quota, ValueError("x")])  # noqa: F821

    with pytest.raises(Exception, match="two calls") as caught:
        gather()
    assert explained(printed(caught.value))["class"] == "CALL_BUDGET"


def test_earlier_tracebacks_of_a_log_are_named_as_ignored(explained, quota):
    def other():
        raise ValueError("x")

    with pytest.raises(ValueError, match="x") as caught:
        other()
    report = explained(f"{printed(caught.value)}\n2026-11-30 ERROR\n{printed(quota)}")
    assert report["class"] == "CALL_BUDGET"
    assert report["ignored"] == ["1 other traceback"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("APITimeoutError('Request timed out.')", "TIMEOUT/other"),
        ("TimeoutError: timed out", "TIMEOUT/other"),
        ("httpx.ReadTimeout: The read operation timed out", "TIMEOUT/read"),
        ("Traceback (most recent call last):\nTimeoutError", "TIMEOUT/other"),
    ],
)
def test_an_exception_without_a_response(explained, text, wanted):
    assert verdict(explained(text)) == wanted


def test_a_description_as_json_names_the_fields_that_it_does_not_know(explained):
    report = explained('{"exceptions": ["openai.RateLimitError"], "status": 429, "user": 7}')
    assert (verdict(report), report["ignored"]) == ("RATE_LIMITED/requests", ["fields: user"])


# --- answers -------------------------------------------------------------------------------------------------------

CHAT = {
    "id": "x", "created": 1, "model": "m", "object": "chat.completion",
    "choices": [{"index": 0, "finish_reason": "content_filter", "message": {"role": "assistant", "content": None}}],
}  # fmt: skip


@pytest.mark.parametrize("form", [str, repr, lambda a: repr(a.model_dump()), lambda a: a.model_dump_json()])
def test_a_printed_chat_completion(explained, form):
    answer = __import__("openai.types.chat").types.chat.ChatCompletion.model_validate(CHAT)
    assert verdict(explained(form(answer))) == "OUTPUT_BLOCKED/content_filter"


@pytest.mark.parametrize("form", [str, repr])
@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (
            {"candidates": [{"finishReason": "SAFETY", "content": {"parts": [{"text": "a <b>, c=d"}]}}]},
            "OUTPUT_BLOCKED/safety",
        ),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "PROMPT_BLOCKED/prohibited_content"),
    ],
    ids=["answer", "prompt"],
)
def test_a_printed_answer_of_gemini(explained, form, answer, wanted):
    assert verdict(explained(form(types.GenerateContentResponse.model_validate(answer)))) == wanted


# --- bodies, logs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (repr(QUOTA), "CALL_BUDGET/insufficient_quota"),
        (f"body was:\n{json.dumps(QUOTA, indent=1)}\nend", "CALL_BUDGET/insufficient_quota"),
        ('httpx HTTP Request: POST https://x/v1 "HTTP/1.1 429 Too Many Requests"', "RATE_LIMITED/requests"),
        ('10.0.0.1 - - [30/Nov/2026] "POST /v1/chat/completions HTTP/1.1" 503 512', "SERVER/unavailable"),
        ("<html><h1>502 Bad Gateway</h1></html>", "SERVER/gateway"),
        ("<Response [401 Unauthorized]>", "AUTH/invalid_key"),
        ("429 Client Error: Too Many Requests for url: https://x", "RATE_LIMITED/requests"),
        (json.dumps({"id": "b", "response": {"status_code": 429, "body": QUOTA}}), "CALL_BUDGET/insufficient_quota"),
        (json.dumps({"status": 529, "body": OVERLOADED}), "SERVER/overloaded"),
        (json.dumps({"level": "error", "status": 529, "error": OVERLOADED["error"]}), "SERVER/overloaded"),
        ("something odd", "UNKNOWN/unexpected_body"),
    ],
)
def test_what_a_log_holds(explained, text, wanted):
    assert verdict(explained(text)) == wanted


def test_a_wait_in_a_log_line_counts(explained):
    assert explained("status=429 retry-after: 7 error=slow")["retry_after"] == 7.0


def test_what_was_read_and_what_was_ignored_is_said(explained):
    report = explained("starting\nERROR status=503\nstopped")
    assert (report["read"], report["ignored"]) == (["status 503"], ["2 other lines"])


def test_a_text_without_a_sign_of_a_failure_is_said_to_be_one(explained):
    assert explained("something odd")["read"] == ["plain text, without a status, code, body or exception"]


def test_an_argument_wins_over_the_input_and_says_so(explained):
    report = explained("status=503", "--status", "401")
    assert (verdict(report), report["ignored"]) == ("AUTH/invalid_key", ["status in the input; the argument wins"])


def test_windows_shells_write_utf_16(tmp_path, capsys):
    path = tmp_path / "saved.json"
    path.write_bytes(json.dumps(QUOTA).encode("utf-16"))
    assert cli.main(["explain", str(path)]) == 0
    assert capsys.readouterr().out.startswith("CALL_BUDGET  insufficient_quota")


# --- several -------------------------------------------------------------------------------------------------------


def test_several_files_are_explained_one_by_one(tmp_path, capsys):
    paths = [tmp_path / "a", tmp_path / "b"]
    paths[0].write_text("status=503")
    paths[1].write_text("status=401")
    assert cli.main(["explain", *map(str, paths)]) == 0
    out = capsys.readouterr().out
    assert f"{paths[0]}\nSERVER  unavailable" in out
    assert f"{paths[1]}\nAUTH  invalid_key" in out
    cli.main(["explain", "--json", *map(str, paths)])
    assert [verdict(r) for r in json.loads(capsys.readouterr().out)] == ["SERVER/unavailable", "AUTH/invalid_key"]


def test_a_file_of_json_lines_is_explained_line_by_line(explained):
    reports = explained("\n".join(json.dumps({"status": s, "body": {}}) for s in (503, 401)))
    assert [(verdict(r), r["source"][-2:]) for r in reports] == [
        ("SERVER/unavailable", ":1"),
        ("AUTH/invalid_key", ":2"),
    ]


# --- standard input ------------------------------------------------------------------------------------------------


def piped(text: str, *argv: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "llm_errors", "explain", *argv]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, **more)


def test_a_pipe_needs_no_dash():
    assert piped(json.dumps(QUOTA)).stdout.startswith("CALL_BUDGET  insufficient_quota")


def test_a_pipe_is_read_beside_the_status_too():
    assert piped(json.dumps({"error": {"message": "x"}}), "--status", "503").stdout.startswith("SERVER  unavailable")
    assert piped(json.dumps(QUOTA), "--status", "429").stdout.startswith("CALL_BUDGET  insufficient_quota")


def test_an_empty_pipe_beside_enough_arguments_is_nothing():
    assert piped("", "--status", "503").stdout.startswith("SERVER  unavailable")


def test_an_open_pipe_that_says_nothing_does_not_hold_up_what_the_arguments_tell():
    reader, writer = os.pipe()
    try:
        command = [sys.executable, "-m", "llm_errors", "explain", "--status", "503"]
        done = subprocess.run(command, stdin=reader, capture_output=True, text=True, check=False)
    finally:
        os.close(reader)
        os.close(writer)
    assert done.stdout.startswith("SERVER  unavailable")


def test_an_ascii_locale_prints_what_it_can():
    said = piped(
        json.dumps({"error": {"message": "überlastet …"}}),
        "--status",
        "503",
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert "\\xfcberlastet" in said.stdout


# --- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"[" * 100_000, "is nested too deeply"),
        (b"\x89PNG\0\0\1", "is binary, not text"),
        (b" \n", "is empty; pass --status"),
        (b'INFO HTTP Request: POST https://x "HTTP/1.1 200 OK"', "HTTP 200 without the body of the response"),
        (b'{"level": "INFO", "message": "started"}', "a log record without an error"),
    ],
    ids=["deep", "binary", "empty", "success", "log"],
)
def test_what_cannot_be_explained_is_refused_in_one_line(refused, content, line):
    assert line in refused(content)


def test_a_python_value_of_great_depth_is_no_traceback(explained):
    assert verdict(explained("{'a':" * 20_000)).startswith("UNKNOWN")


def test_standard_input_may_be_closed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert cli.main(["explain", "-"]) == 2
    assert capsys.readouterr().err == "llm-errors explain: standard input is closed\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert cli.main(["explain"]) == 2
