"""Rules for numeric error codes, for every dialect: those of GLM (Zhipu, Z.ai), Workers AI and SiliconFlow.

A number is matched only together with its HTTP status, because other vendors use the same numbers. An error in the
middle of a stream has no status; there, the number is matched alone, with the lowest precedence.
"""

from dataclasses import replace

from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule
from llm_errors.taxonomy import ErrorClass as E

_BUSY, _BAD = frozenset({429}), frozenset({400})


def numbers(dialect: Dialect) -> tuple[Rule, ...]:
    """Return these rules for one dialect."""
    code = dialect.code
    rows = (
        code("glm.balance", E.CALL_BUDGET, "billing", "1113 1309", status=_BUSY, weight=1),
        code("glm.concurrency", E.RATE_LIMITED, "concurrency", "1302", status=_BUSY, weight=1),
        code("glm.rate", E.RATE_LIMITED, "requests", "1303 1305", status=_BUSY, weight=1),
        code("glm.overloaded", E.SERVER, "overloaded", "1312", status=_BUSY, weight=1),
        # The number is the same for a limit of the caller and for an overloaded model. Only the text distinguishes them.
        code("glm.overloaded.said", E.SERVER, "overloaded",
             "1305",
             status=_BUSY, says=("temporarily overloaded", "访问量过大"), weight=2),
        # Limits per five hours, day, week or month. They last longer than a retry can wait.
        code("glm.window", E.RATE_LIMITED, "daily_quota", "1304 1308 1310", status=_BUSY, weight=1),
        code("glm.plan", E.AUTH, "permission_denied", "1220 1311", status=_BUSY, weight=1),
        code("glm.account", E.AUTH, "account_disabled", "1112 1121", status=_BUSY, weight=1),
        code("glm.blocked", E.PROMPT_BLOCKED, "content_filter", "1301", status=_BAD, weight=1),
        code("glm.model", E.NOT_FOUND, "model", "1211 1212 1222", status=_BAD, weight=1),
        code("glm.context", E.BAD_REQUEST, "context_overflow", "1261", status=_BAD, weight=1),
        code("glm.key", E.AUTH, "invalid_key", "1000 1001 1002 1004", status=frozenset({401, 403}), weight=1),
        code("glm.key.expired", E.AUTH, "expired", "1003", status=frozenset({401, 403}), weight=2),
        code("glm.server", E.SERVER, "internal", "1230 1234", status=frozenset({500})),
        # Numbers of Workers AI and its AI gateway (3036: the free allocation of the day is used up).
        code("workers.daily", E.RATE_LIMITED, "daily_quota", "3036 4006", status=_BUSY),
        code("workers.capacity", E.SERVER, "overloaded", "3040", status=_BUSY),
        code("workers.model", E.NOT_FOUND, "model", "5007 3042", status=frozenset({400, 404})),
        code("workers.request", E.BAD_REQUEST, "invalid_parameter", "5004 3003 3039", status=_BAD),
        code("workers.too_large", E.BAD_REQUEST, "request_too_large", "3006", status=frozenset({413})),
        code("workers.timeout", E.TIMEOUT, "provider", "3007 3008", status=frozenset({408})),
        code("workers.denied", E.AUTH, "permission_denied", "5016 5018 3041", status=frozenset({403})),
        code("workers.account", E.AUTH, "account_disabled", "3023", status=frozenset({403})),
        code("workers.key", E.AUTH, "invalid_key", "10000", status=frozenset({400, 401, 403})),
        code("workers.guardrail", E.PROMPT_BLOCKED, "guardrail", "2016", status=frozenset({400, 403, 424})),
        code("workers.guardrail.output", E.OUTPUT_BLOCKED, "guardrail", "2017", status=frozenset({400, 403, 424})),
        # Numbers of SiliconFlow.
        code("silicon.balance", E.CALL_BUDGET, "billing", "30001 30011", status=frozenset({402, 403})),
        code("silicon.model", E.NOT_FOUND, "model", "20012 30003", status=frozenset({400, 403})),
        code("silicon.overloaded", E.SERVER, "overloaded", "50505 50603", status=frozenset({429, 503})),
    )  # fmt: skip
    alone = (row for row in rows if not row.says)
    in_stream = (replace(row, id=f"{row.id}.stream", status=frozenset(), embedded=True, generic=True) for row in alone)
    # Only in streams: if there is a status, rules for texts are more specific than these numbers.
    parameter = code("glm.parameter.stream", E.BAD_REQUEST, "invalid_parameter",
                     "1210 1213 1214 1215",
                     embedded=True, generic=True)  # fmt: skip
    return (*rows, *in_stream, parameter)
