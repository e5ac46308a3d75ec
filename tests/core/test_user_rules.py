"""The user's own rules: what a file may say, what it does, and what is said about one that is wrong."""

from pathlib import Path
from typing import Any

import pytest

from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.rules import shipped, user
from llm_errors.rules.user._entry import DIALECTS
from llm_errors.taxonomy import ErrorClass

NO_END = Evidence(channel="in_band", dialect="openai", provider="vllm", facts=frozenset(("no_end",)))
ERROR_429 = Evidence(
    dialect="openai",
    provider="deepseek",
    status=429,
    codes=("quota_gone", "billing"),
    exceptions=(("openai.RateLimitError", "openai.APIError"),),
    message="No credit is left for project 7",
)


def rule(*lines: str, cls: str = 'class = "SERVER"') -> str:
    return "\n".join(("[[rule]]", *lines, cls, ""))


def verdict(text: str, evidence: Evidence, **options: Any) -> Any:
    rows, problems = user.parse(text)
    assert problems == []
    return decide(evidence, own=user.index(rows), **options)


def said(text: str) -> list[str]:
    return [str(p) for p in user.parse(text, "my.toml")[1]]


# --- what a rule does ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition",
    [
        "status = 429",
        "status = [429, 503]",
        'codes = "quota_gone"',
        'codes = ["QUOTA_GONE", "other"]',
        'types = "billing"',
        'exceptions = "openai.RateLimitError"',
        'exceptions = "openai._exceptions.RateLimitError"',
        'exceptions = ".APIError"',
        'dialects = "openai"\nstatus = 429',
        'providers = ["deepseek"]\nstatus = 429',
        'codes = "quota_gone"\ntypes = "billing"\nstatus = 429\nexceptions = ".RateLimitError"',
        'dialects = "openai"\nstatus = 429\nsays = "no credit is left"',
        'dialects = "openai"\ncodes = "quota_gone"\nsays = ["something else", "No Credit is left"]',
    ],
)
def test_a_rule_outranks_ours_when_its_conditions_hold(condition: str) -> None:
    found = verdict(rule(condition, cls='class = "CALL_BUDGET"\nreason = "billing"'), ERROR_429)
    assert (found.error_class, found.reason, found.rule) == (ErrorClass.CALL_BUDGET, "billing", "user.1")


@pytest.mark.parametrize(
    "condition",
    [
        "status = 500",
        'codes = "quota_gone"\nstatus = 500',
        'codes = "quota_gone"\ntypes = "other"',
        'codes = "quota_gone"\nexceptions = ".BadRequestError"',
        'types = "other"',
        'providers = "openai"\nstatus = 429',
        'dialects = "anthropic"\nstatus = 429',
        'dialects = "openai"\nstatus = 429\nsays = "something else"',
    ],
)
def test_a_rule_whose_conditions_do_not_all_hold_does_nothing(condition: str) -> None:
    found = verdict(rule(condition), ERROR_429)
    assert found.error_class is ErrorClass.RATE_LIMITED


def test_a_finish_reason_and_a_block_reason_can_be_named() -> None:
    for key, evidence in (
        ("finish", Evidence(channel="in_band", dialect="openai", finish_reason="eos_guard")),
        ("block", Evidence(channel="in_band", dialect="google", block_reason="eos_guard")),
    ):
        found = verdict(rule(f'{key} = "eos_guard"', cls='class = "OUTPUT_BLOCKED"\nreason = "guardrail"'), evidence)
        assert (found.error_class, found.evidence) == (ErrorClass.OUTPUT_BLOCKED, "finish_reason")


def test_an_answer_can_be_declared_healthy() -> None:
    assert decide(NO_END) is not None
    assert verdict(rule('providers = "vllm"\nfacts = "no_end"', cls='class = "healthy"'), NO_END) is None


def test_the_reason_is_other_when_none_is_given() -> None:
    assert verdict(rule("status = 429"), ERROR_429).reason == "other"


def test_a_rule_may_have_a_name() -> None:
    assert verdict(rule('id = "gateway.quota"', "status = 429"), ERROR_429).rule == "gateway.quota"


def test_rules_that_match_text_can_be_switched_off() -> None:
    text = rule('dialects = "openai"\nstatus = 429\nsays = "no credit is left"')
    assert verdict(text, ERROR_429, messages=False).error_class is ErrorClass.RATE_LIMITED


def test_the_more_specific_of_two_rules_wins() -> None:
    both = rule("status = 429") + rule("status = 429", 'providers = "deepseek"', cls='class = "AUTH"')
    assert verdict(both, ERROR_429).error_class is ErrorClass.AUTH


def test_an_empty_file_has_no_rules() -> None:
    assert user.parse("") == ([], [])


@pytest.mark.parametrize("alias", ["gemini", "google-genai", "Gemini"])
def test_a_provider_may_be_named_by_an_alias(alias: str) -> None:
    evidence = Evidence(dialect="google", provider="gcp.gemini", status=429)
    assert verdict(rule(f'providers = ["{alias}"]', "status = 429"), evidence).rule == "user.1"


@pytest.mark.parametrize("name", ["our-gateway", "openai-eu", "vllm"])
def test_a_provider_may_be_a_gateway_of_one_s_own(name: str) -> None:
    evidence = Evidence(dialect="openai", provider=name, status=429)
    assert verdict(rule(f'providers = ["{name}"]', "status = 429"), evidence).rule == "user.1"


def test_every_dialect_of_the_shipped_rules_can_be_named() -> None:
    assert set(DIALECTS) == shipped.DIALECTS


# --- what is wrong, where, and what to write instead ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[rule]\n", "my.toml:1: is not TOML:"),
        ('x = "', "my.toml:1: is not TOML:"),
        ('a = 1\nb = "\n', "my.toml:2: is not TOML:"),
        ("\n[rules]\n", "my.toml:2: unknown table 'rules'; write [[rule]] above each rule"),
        ("\n[rule]\nstatus = 4\n", "my.toml:2: write [[rule]], with two brackets, above each rule"),
        ("rule = [1]\n", "my.toml:1: write [[rule]], with two brackets, above each rule"),
        (rule("status = 4"), "my.toml:2: status must be an HTTP status or a list of them, such as status = [429, 503]"),
        (rule('status = "429"'), "my.toml:2: status must be an HTTP status"),
        (rule("status = true"), "my.toml:2: status must be an HTTP status"),
        (rule("", 'code = "x"'), "my.toml:3: unknown condition 'code'; write 'codes'"),
        (rule('finish_reason = "x"'), "my.toml:2: unknown condition 'finish_reason'; write 'finish'"),
        (rule('"statuz" = 429'), "my.toml:2: unknown condition 'statuz'; write 'status'"),
        (rule('weight = "x"'), "my.toml:2: unknown condition 'weight'; known: id, dialects,"),
        (rule("codes = 3"), "my.toml:2: codes must be a string or a list of strings, such as codes = "),
        (rule('codes = [""]'), "my.toml:2: codes must be a string"),
        (rule('dialects = "opnai"', "status = 400"), "my.toml:2: unknown dialect 'opnai'; write one of openai,"),
        (
            rule('providers = "opnai"', "status = 400"),
            "my.toml:2: unknown provider 'opnai'; did you mean 'openai'?",
        ),
        (rule('facts = "noend"'), "my.toml:2: unknown fact 'noend'; write one of no_end,"),
        (rule('exceptions = "RateLimitError"'), "my.toml:2: write 'package.RateLimitError', or '.RateLimitError'"),
        (
            rule('dialects = "openai"', "status = 400", 'says = "no"'),
            "my.toml:4: 'no' is too short to be specific; use at least 6 characters",
        ),
        (rule("status = 400", 'says = "no credit"'), "my.toml:3: `says` cannot stand alone: add dialects or providers"),
        (
            rule('dialects = "openai"', 'says = "no credit"'),
            "my.toml:3: `says` cannot stand alone: add dialects or providers",
        ),
        (rule("status = 4") + rule('id = "a"', "status = 400") * 2, "my.toml:2: status"),
        (rule('dialects = "openai"'), "my.toml:3: a rule needs at least one of status, codes,"),
        (rule("status = 400", cls=""), "my.toml:1: class is missing; write one of TRANSPORT, TIMEOUT,"),
        (
            rule("status = 400", cls='class = "RATELIMITED"'),
            "my.toml:3: unknown class 'RATELIMITED'; write 'RATE_LIMITED'",
        ),
        (rule("status = 400", cls='class = "server"'), "my.toml:3: unknown class 'server'; write 'SERVER'"),
        (
            rule("status = 400", cls='class = "UNKNOWN"'),
            "my.toml:3: class 'UNKNOWN' leaves the failure unclassified; write one of TRANSPORT,",
        ),
        (rule("status = 400", cls='class = "zzz"'), "my.toml:3: unknown class 'zzz'; write one of TRANSPORT,"),
        (
            rule("status = 400", 'reason = "overloadd"'),
            "my.toml:3: SERVER has no reason 'overloadd'; write 'overloaded'",
        ),
        (rule("status = 400", 'reason = "zzz"'), "my.toml:3: SERVER has no reason 'zzz'; write one of internal,"),
        (
            rule('facts = "no_end"', 'reason = "other"', cls='class = "healthy"'),
            "my.toml:3: a healthy answer has no reason; remove this line",
        ),
        (
            rule("status = 500", cls='class = "healthy"'),
            "my.toml:3: only answers can be healthy: give one of finish, block, facts;",
        ),
        (rule('id = "a b"', "status = 400"), "my.toml:2: id must be a short name"),
        (rule("id = 3", "status = 400"), "my.toml:2: id must be a short name"),
        (
            rule('id = "a"', "status = 400") + rule('id = "a"', "status = 500"),
            "my.toml:6: id 'a' is used twice",
        ),
        (rule("status = 400") + rule("", "status = 4"), "my.toml:6: status must be an HTTP status"),
        ('rule = [{status = 4, class = "SERVER"}]', "my.toml:1: status must be an HTTP status"),
        (rule("status = 400") * 501, "my.toml: has 501 rules; the limit is 500"),
    ],
)
def test_what_is_said_about_a_file_that_is_wrong(text: str, problem: str) -> None:
    assert said(text)[0].startswith(problem)


def test_every_problem_is_told_at_once() -> None:
    assert len(said(rule("status = 4", 'code = "x"') + rule(cls='class = "zzz"'))) == 4


def test_one_wrong_rule_disables_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(rule("status = 400") + rule("status = 4"))
    index, problems = user.load(str(path))
    assert index is None
    assert str(problems[0]).startswith(f"{path}:5: status")


def test_a_right_file_gives_an_index(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(rule("status = 429"))
    index, problems = user.load(str(path))
    assert problems == []
    assert index is not None
    found = decide(ERROR_429, own=index)
    assert found is not None
    assert found.error_class is ErrorClass.SERVER


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    index, problems = user.load(str(tmp_path / "none.toml"))
    assert index is None
    assert str(problems[0]).endswith("none.toml: cannot be read: No such file or directory")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert str(user.load(str(path))[1][0]).endswith("is not UTF-8 text")


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text("#" * (user.SIZE_LIMIT + 1))
    assert str(user.load(str(path))[1][0]).endswith("is larger than 256 KiB")


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("httpx2.ReadTimeout", "httpx.ReadTimeout"),
        ("google.genai.errors.ClientError", "google.genai.ClientError"),
        ("asyncio.exceptions.TimeoutError", "builtins.TimeoutError"),
    ],
)
def test_exceptions_may_be_written_as_python_prints_them(written: str, seen: str) -> None:
    evidence = Evidence(exceptions=((seen,),))
    assert verdict(rule(f'exceptions = "{written}"'), evidence).rule == "user.1"
