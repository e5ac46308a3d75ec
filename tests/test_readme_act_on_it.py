"""The code blocks of the pages on recovery and on rules do what the text beside them says."""

import re
import warnings
from pathlib import Path
from types import SimpleNamespace as Space
from typing import Any

import pytest

from llm_errors.rules import user as user_rules
from llm_errors.tools import cli
from tests.recovery.failures import Response, with_code, with_status

DOCS = Path(__file__).parent.parent / "src/llm_errors/docs"
SECTION = "".join((DOCS / f"{page}.md").read_text() for page in ("recovery", "rules"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)


class Completions:
    """Fails as told, then answers."""

    def __init__(self, *failures: Exception) -> None:
        self.failures, self.calls = list(failures), []  # type: ignore[var-annotated]

    def create(self, **call: Any) -> Any:
        self.calls.append(call)
        if self.failures:
            raise self.failures.pop(0)
        return Space(choices=[Space(finish_reason="stop", message=Space(content="hello"))])


def client(*failures: Exception) -> Any:
    return Space(chat=Space(completions=Completions(*failures)), max_retries=0)


def block(containing: str) -> str:
    (found,) = [b for b in blocks("python") if containing in b]
    return found


def comments(code: str) -> list[str]:
    """What the comments beside `print` say, up to a colon."""
    return [line.split("# ")[1].split(":")[0] for line in code.splitlines() if "print(" in line and "# " in line]


OF_FRAMEWORKS = 4
"""Blocks that tests/frameworks/test_recovery_page.py and test_litellm_recovery_page.py run."""


def test_every_block_is_tested() -> None:
    assert (len(blocks("python")) - OF_FRAMEWORKS, len(blocks("toml")), len(blocks("console"))) == (4, 1, 2)


def test_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    code = block("print(advice.category")
    busy = with_status(429, response=Response(429, {"retry-after": "7"}))
    exec(code, {"client": client(busy), "messages": []})
    assert capsys.readouterr().out.splitlines() == comments(code)


def test_tenacity(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tenacity")
    down = [with_status(503, retry_after=0)] * 3
    one = client(with_code(400, "context_length_exceeded"), *down)
    exec(block("llm_retry"), {"client": one, "messages": [1, 2, 3]})
    calls = one.chat.completions.calls
    assert capsys.readouterr().out == "hello\n"
    assert [len(c["messages"]) for c in calls] == [3, 2, 2, 2, 2]
    assert [c["model"] for c in calls] == ["gpt-5-mini"] * 4 + ["gpt-5-nano"]


def test_google_adk() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("google.adk.apps")
        from google.adk.agents import LlmAgent

        given: dict[str, Any] = {"agent": LlmAgent(name="helper", model="gemini-3")}
        exec(block("LlmErrorsPlugin"), given)
    assert given["app"].plugins == [given["plugin"]]


def test_on_error(capsys: pytest.CaptureFixture[str]) -> None:
    code = block("on_error")
    exec(code, {})
    assert capsys.readouterr().out == code.split("# ")[1]


def test_the_rules_are_right(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(blocks("toml")[0])
    assert user_rules.load(str(path))[1] == []
    assert cli.main(["rules", "check", str(path)]) == 0


def test_the_commands_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.toml").write_text(blocks("toml")[0])
    Path("error.json").write_text('{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}')
    lines = [line.removeprefix("$ llm-errors ").split() for block in blocks("console") for line in block.splitlines()]
    # The last one asks servers that are not there: one line, status 2.
    assert [cli.main([w.replace("localhost:", "127.0.0.1:1") for w in words]) for words in lines] == [0, 0, 0, 2]
