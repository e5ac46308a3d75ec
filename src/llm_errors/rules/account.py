"""Rules for messages about an account that cannot pay, in eight languages. Every dialect uses these rules.

Few providers have an error code for this case. Some answer 401, 403 or 429 with a code that only repeats the status.
A phrase must occur only in messages about accounts that cannot pay: messages about rate limits advise the reader to pay more, and
must not match.

The English phrases were seen in messages of the providers that are named above each rule, and so were the Chinese ones (Zhipu,
new-api, one-api and DeepSeek).
The Japanese, Korean, German, French, Spanish and Portuguese phrases were found in applications that answer 402. No provider's
documentation was checked for them.
"""

from typing import Final

from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule
from llm_errors.taxonomy import ErrorClass as E

_STATUS: Final = frozenset({400, 401, 402, 403, 429, 500})


def account(dialect: Dialect) -> tuple[Rule, ...]:
    """Return these rules for one dialect."""
    return tuple(dialect.says(row_id, E.CALL_BUDGET, reason, _STATUS, *says) for row_id, reason, *says in _SENTENCES)


def _billing(language: str, *says: str) -> tuple[str, ...]:
    return f"billing.{language}", "billing", *says


def _spent(row_id: str, reason: str, *says: str) -> tuple[str, ...]:
    return row_id, reason, *says


_SENTENCES: Final = (
    # The comment above each rule names providers that send its phrases, with the status or the error code.
    # DeepSeek 402, SiliconFlow 30001, Moonshot 429, Prime Intellect 402, AIHubMix 403.
    _billing("balance", "insufficient balance", "balance is insufficient", "balance insufficient", "not enough balance",
            "exhausted balance", "balance is too low", "balance too low", "negative balance", "balance is not enough",
            "balance has run out", "balance is exhausted", "balance exhausted"),
    # Anthropic 400, OpenRouter 402, Vercel 402, Lovable's gateway 402, Perplexity 401.
    _billing("credits", "credit balance", "insufficient credit", "not enough credits", "no credits", "out of credits",
            "lack of credits", "ran out of credits", "have any credits", "used all available credits",
            "insufficient funds", "not enough funds", "exhausted your credits", "credits exhausted",
            "credits are exhausted", "credits have been exhausted", "credits are depleted"),
    # Volcengine 403 (AccountOverdueError), Alibaba 400 (Arrearage), Huawei ModelArts, BytePlus.
    _billing("overdue", "is overdue", "overdue balance", "overdue payment", "overdue bill", "overdue invoice",
            "account overdue", "in arrears", "arrearage", "arrears", "payment is past due", "past due balance",
            "past due invoice", "unpaid invoice", "outstanding balance", "failed payment"),
    # Gemini 429, StepFun, Baidu: the account is prepaid.
    _billing("prepaid", "prepaid balance", "prepaid credit", "prepayment credits", "prepaid quota is",
            "prepaid account has"),
    # SiliconFlow 403 (30011), AIHubMix 403, Novita 403: the message states the remedy instead of the fault.
    _billing("top_up", "top up and try again", "top up your", "top up the account", "top up to continue",
            "top-up your", "please recharge", "recharge your account", "recharge and try again"),
    # Vercel 403 (customer_verification_required), Anthropic, Hugging Face: the account has no payment method.
    _billing("method", "valid credit card", "valid payment method", "no payment method", "add a payment method",
            "payment instrument", "billing is not active", "billing details are missing", "billing_not_active"),
    # OpenRouter 403, LiteLLM 400, xAI 429, Together 403.
    _spent("budget", "spend_limit",
          "key limit exceeded", "monthly spending limit", "budget has been exceeded", "crossed budget",
          "exceededbudget", "spending limit reached", "spend limit reached", "spending cap", "hard limit reached",
          "monthly spend limit", "reached your spending limit", "over budget", "exceeded your budget"),
    # Kimi's and GLM's coding plans 403, OpenCode, Hugging Face 402 ("monthly included credits").
    _spent("plan", "insufficient_quota",
          "limit for this billing cycle", "limit for the billing cycle", "for your current billing cycle",
          "quota for this billing cycle", "in this billing cycle", "included credits", "free quota has been used up",
          "free tier of the model has been exhausted", "free trial has expired", "trial credits",
          "free allocated quota exceeded"),
    # Chinese. Seen in Zhipu 429 (1113: 您的账户已欠费).
    _billing("zh.arrears", "欠费", "逾期未支付"),
    # Chinese. Seen in DeepSeek 402 and Zhipu 429 (1113: 余额不足或无可用资源包).
    _billing("zh.balance", "余额不足", "余额已用尽", "餘額不足", "请充值", "無可用資源包", "无可用资源包"),
    # Chinese. Seen in new-api and one-api 401/403: the quota of the user or of the token is used up, or too small for what is
    # reserved before the call.
    _spent("quota.zh", "insufficient_quota",
          "额度不足", "额度已用尽", "额度已用完", "额度用尽", "预扣费额度失败", "配额不足", "免费额度已", "額度不足"),
    # new-api 403 in English: "user quota is not enough", "quota [..] preConsumedQuota [..] is not enough".
    _spent("quota.newapi", "insufficient_quota", "user quota is not enough", "token quota is not enough",
          "token quota is exhausted", "pre-consume quota failed", "preconsumedquota"),
    # Japanese. Found in applications that answer 402, not in a provider's documentation.
    _billing("ja", "残高が不足", "残高不足", "クレジットが不足", "クレジット不足", "クレジットがありません", "料金が未払い", "未払いの請求"),
    # Korean. Found in applications that answer 402, not in a provider's documentation.
    _billing("ko", "크레딧이 부족", "잔액이 부족", "크레딧 부족", "잔액 부족", "크레딧이 모두 소진", "요금이 미납"),
    # German. Found in applications that answer 402, not in a provider's documentation.
    _billing("de", "guthaben reicht nicht", "nicht genügend guthaben", "kein guthaben", "guthaben aufgebraucht",
            "guthaben ist aufgebraucht", "nicht ausreichendes guthaben", "offene rechnung"),
    # French. Found in applications that answer 402, not in a provider's documentation.
    _billing("fr", "crédits insuffisants", "crédit insuffisant", "solde insuffisant", "crédits épuisés",
            "crédit épuisé", "facture impayée"),
    # Spanish and Portuguese. Found in applications that answer 402, not in a provider's documentation.
    _billing("es", "saldo insuficiente", "créditos insuficientes", "crédito insuficiente", "créditos agotados",
            "factura pendiente de pago"),
    _billing("pt", "sem créditos", "créditos esgotados", "saldo esgotado", "fatura em atraso", "fatura vencida"),
)  # fmt: skip
