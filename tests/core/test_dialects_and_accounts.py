"""Every dialect that is named has rows; what an empty account says is known in every market's language and dialect."""

import ast
from pathlib import Path

import pytest

import llm_errors
from llm_errors import providers
from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.rules.shipped import DIALECTS
from tests.cases import DIALECTS as CASES

SOURCES = sorted((Path(llm_errors.__file__).parent / "extract").glob("*.py"))


def _named():
    """Every dialect that the table of providers, a reader or a case file names."""
    yield from (row.dialect for row in (*providers.SDKS, *providers.PROVIDERS))
    yield from (providers.dialect_of_package(root) for root in ("botocore", "mistralai", "cohere", "litellm"))
    yield from CASES.values()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "DIALECT":
                yield ast.literal_eval(node.value)


@pytest.mark.parametrize("dialect", sorted(set(_named())))
def test_a_dialect_that_is_named_anywhere_has_rows(dialect):
    assert dialect in DIALECTS


def test_a_dialect_without_rows_falls_back_to_openais():
    found = decide(Evidence(dialect="one_of_tomorrow", status=429, codes=("insufficient_quota",)))
    assert (found.error_class, found.rule) == ("CALL_BUDGET", "openai.quota")


OF_GRPC = {"google", "xai"}
"""Dialects whose codes are those of gRPC, which have no name for a spent quota."""


@pytest.mark.parametrize("dialect", sorted(DIALECTS - OF_GRPC))
def test_a_spent_quota_is_no_busy_minute_in_any_dialect(dialect):
    found = decide(Evidence(dialect=dialect, status=429, codes=("insufficient_quota",)))
    assert (found.error_class, found.retryable) == ("CALL_BUDGET", False)


SENTENCES = [
    ("Your account is overdue.", "billing"),
    ("Your bill is in arrears", "billing"),
    ("The quota for this billing cycle is used up", "insufficient_quota"),
    ("Your prepaid balance is used up", "billing"),
    ("Please top up your account", "billing"),
    ("您的账户已欠费", "billing"),
    ("余额不足或无可用资源包,请充值。", "billing"),
    ("用户额度不足, 剩余额度: ¥0.00", "insufficient_quota"),
    ("该令牌额度已用尽", "insufficient_quota"),
    ("クレジットが不足しています", "billing"),
    ("잔액이 부족합니다", "billing"),
    ("Ihr Guthaben reicht nicht aus.", "billing"),
    ("Crédits insuffisants", "billing"),
    ("Saldo insuficiente en su cuenta", "billing"),
    ("Créditos esgotados", "billing"),
]


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize(("message", "reason"), SENTENCES)
def test_an_empty_account_in_the_languages_of_the_markets(dialect, message, reason):
    for status in (400, 403, 429):
        found = decide(Evidence(dialect=dialect, status=status, message=message))
        assert (found.error_class, found.reason, found.evidence) == ("CALL_BUDGET", reason, "message")
        assert decide(Evidence(dialect=dialect, status=status, message=message), messages=False).evidence == "status"


BUSY = [
    "Rate limit reached, please try again after 1 seconds; upgrade your plan to raise it",
    "free-models-per-day: add 10 credits to unlock more requests",
    "请求过于频繁",
    "Le débit est trop élevé, réessayez plus tard",
]


@pytest.mark.parametrize("message", BUSY)
def test_a_busy_minute_is_no_empty_account(message):
    assert decide(Evidence(dialect="openai", status=429, message=message)).error_class == "RATE_LIMITED"


TABLES = [
    ("Workers AI: a day's allocation", 429, "3036", "RATE_LIMITED/daily_quota"),
    ("Workers AI: model agreement", 403, "5016", "AUTH/permission_denied"),
    ("Workers AI: too large", 413, "3006", "BAD_REQUEST/request_too_large"),
    ("AI Gateway: an answer blocked", 424, "2017", "OUTPUT_BLOCKED/guardrail"),
    ("Qianfan: prompt too long", 400, "tokens_too_long", "BAD_REQUEST/context_overflow"),
    ("Qianfan: unsafe", 400, "system_unsafe", "PROMPT_BLOCKED/content_filter"),
    ("watsonx: plan spent", 403, "token_quota_reached", "CALL_BUDGET/insufficient_quota"),
    ("watsonx: token expired", 401, "authentication_token_expired", "AUTH/expired"),
    ("Vercel: no card", 403, "customer_verification_required", "CALL_BUDGET/billing"),
    ("Vercel: no provider", 503, "no_providers_available", "SERVER/unavailable"),
    ("Volcengine: overdue", 403, "OperationDenied.ServiceOverdue", "CALL_BUDGET/billing"),
    ("Volcengine: image", 400, "InvalidParameter.OversizedImage", "BAD_REQUEST/invalid_media"),
    ("Volcengine: burst", 429, "RequestBurstTooFast", "RATE_LIMITED/requests"),
    ("Volcengine: loading", 429, "ModelLoadingError", "SERVER/model_not_ready"),
    ("Volcengine: endpoint closed", 404, "InvalidEndpoint.ClosedEndpoint", "NOT_FOUND/deployment"),
    ("Volcengine: output risk", 400, "OutputTextRiskDetection", "OUTPUT_BLOCKED/content_filter"),
    ("DashScope: concurrency", 429, "Throttling.Concurrency", "RATE_LIMITED/concurrency"),
    ("DashScope: bill overdue", 400, "PostpaidBillOverdue", "CALL_BUDGET/billing"),
    ("DashScope: rule", 400, "FaqRuleBlocked", "PROMPT_BLOCKED/blocklist"),
    ("DashScope: timeout", 500, "InternalError.Timeout", "TIMEOUT/provider"),
    ("Tencent: package spent", 400, "FailedOperation.ResourcePackExhausted", "CALL_BUDGET/insufficient_quota"),
    ("Together: dynamic limit", 429, "dynamic_request_limited", "RATE_LIMITED/requests"),
    ("Cerebras: wrong key", 401, "wrong_api_key", "AUTH/invalid_key"),
    ("Cerebras: payment", 402, "payment_required_error", "CALL_BUDGET/billing"),
    ("Groq: model blocked", 403, "model_permission_blocked_org", "AUTH/permission_denied"),
    ("Moonshot: wrong key", 401, "incorrect_api_key_error", "AUTH/invalid_key"),
    ("Moonshot: odd output", 500, "unexpected_output", "SERVER/model_error"),
    ("OpenRouter: in flight", 402, "in_flight_budget_exhausted", "CALL_BUDGET/spend_limit"),
    ("OpenAI: conversation in use", 409, "conversation_locked", "SERVER/conflict"),
    ("Databricks: no such endpoint", 404, "ENDPOINT_NOT_FOUND", "NOT_FOUND/deployment"),
    ("SiliconFlow: balance", 403, "30001", "CALL_BUDGET/billing"),
    ("Zhipu: expired token", 401, "1003", "AUTH/expired"),
    ("TGI: tool", 422, "tool_error", "BAD_REQUEST/invalid_parameter"),
]


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
@pytest.mark.parametrize(("name", "status", "code", "wanted"), TABLES, ids=lambda value: str(value)[:40])
def test_a_code_of_a_providers_table(dialect, name, status, code, wanted):
    found = decide(Evidence(dialect=dialect, status=status, codes=(code,)))
    assert f"{found.error_class}/{found.reason}" == wanted, (name, found.rule)


BEDROCK = [
    (400, "ServiceQuotaExceededException", "", "RATE_LIMITED/service_quota"),
    (429, "ModelNotReadyException", "", "SERVER/model_not_ready"),
    (408, "ModelTimeoutException", "", "TIMEOUT/provider"),
    (424, "ModelErrorException", "", "SERVER/model_error"),
    (403, "AccessDeniedException", "denied due to INVALID_PAYMENT_INSTRUMENT: x", "CALL_BUDGET/billing"),
    (404, "ResourceNotFoundException", "This model version has reached the end of its life.", "NOT_FOUND/model"),
    (403, "UnrecognizedClientException", "", "AUTH/invalid_key"),
    (400, "ValidationException", "messages: roles must alternate", "BAD_REQUEST/malformed_history"),
    (429, "ThrottlingException", "Too many tokens for one day", "RATE_LIMITED/daily_quota"),
]


@pytest.mark.parametrize("dialect", ["bedrock", "anthropic"])
@pytest.mark.parametrize(("status", "code", "message", "wanted"), BEDROCK)
def test_bedrocks_exceptions_are_known_by_code_and_not_by_status(dialect, status, code, message, wanted):
    spelt = code[0].lower() + code[1:]
    for given in ({"status": status, "codes": (code,)}, {"embedded": True, "codes": (spelt,)}):
        found = decide(Evidence(dialect=dialect, message=message, **given))
        assert f"{found.error_class}/{found.reason}" == wanted, found.rule
