"""Numbers that GLM (Zhipu, Z.ai) sends as codes through both of its APIs, which speak openai's and anthropic's dialect.

A number says something only together with the HTTP status: other vendors count, too.
"""

from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule
from llm_errors.taxonomy import ErrorClass as E

_BUSY, _BAD = frozenset({429}), frozenset({400})


def glm(dialect: Dialect) -> tuple[Rule, ...]:
    """The rows, in a dialect."""
    code = dialect.code
    return (
        code("glm.balance", E.CALL_BUDGET, "billing", "1113 1309", status=_BUSY, weight=1),
        code("glm.concurrency", E.RATE_LIMITED, "concurrency", "1302", status=_BUSY, weight=1),
        code("glm.rate", E.RATE_LIMITED, "requests", "1303 1305", status=_BUSY, weight=1),
        # Of a day, of five hours, of a week or month: nothing that a retry could wait for.
        code("glm.window", E.RATE_LIMITED, "daily_quota", "1304 1308 1310", status=_BUSY, weight=1),
        code("glm.plan", E.AUTH, "permission_denied", "1220 1311", status=_BUSY, weight=1),
        code("glm.account", E.AUTH, "account_disabled", "1112 1121", status=_BUSY, weight=1),
        code("glm.blocked", E.PROMPT_BLOCKED, "content_filter", "1301", status=_BAD, weight=1),
        code("glm.model", E.NOT_FOUND, "model", "1211 1212 1222", status=_BAD, weight=1),
        code("glm.context", E.BAD_REQUEST, "context_overflow", "1261", status=_BAD, weight=1),
    )
