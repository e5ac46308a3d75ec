"""Simulates the support desk in the afternoon: after each failure it asks `llm_errors.recovery` for a plan and follows it.

The retries of the SDKs are switched off, because the plan decides about retries. Run this module with
`python -m llm_errors.tools.demo.careful URL`, where URL is the address of a provider that plays `monday.CASES`.
"""

import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai
from google import genai

from llm_errors.recovery import RecoveryPlan, plan
from llm_errors.recovery.plan import MAX_RETRIES
from llm_errors.taxonomy import HANDLING
from llm_errors.tools.demo import monday
from llm_errors.tools.demo.parent import end_with_parent

WIDTH = 80
PATIENCE = 2.5
"""The timeout of an OpenAI request in seconds. It is long enough for a busy machine."""
SPEED = 1000
"""The desk divides each wait that the plan advises by this number."""
CONTEXT = 200_000
"""The size of the models' context in tokens."""
SPARE = {monday.SONNET: ("openai", monday.MINI), monday.MINI: ("anthropic", monday.SONNET)}
"""Model -> the provider and model to fall back to."""
ATTEMPTS = 1 + MAX_RETRIES + len(SPARE)
"""The maximum number of attempts of one case, over all models."""


@dataclass
class Outcome:
    """The outcome of one case: the first plan, what the desk did, whether it got an answer, and how the case ended."""

    first: RecoveryPlan
    did: list[str] = field(default_factory=list)
    answered: bool = False
    end: str = ""


class CarefulDesk:
    """Asks a model about a ticket until the model answers or the plan advises to stop."""

    def __init__(self, url: str) -> None:
        self._openai = openai.OpenAI(base_url=f"{url}/v1", api_key="demo", max_retries=0, timeout=PATIENCE)
        self._anthropic = anthropic.Anthropic(base_url=url, api_key="demo", max_retries=0)
        options = genai.types.HttpOptions(base_url=url, retry_options=genai.types.HttpRetryOptions(attempts=1))
        self._gemini = genai.Client(api_key="demo", vertexai=False, http_options=options)

    def close(self) -> None:
        """Close the clients."""
        for client in (self._openai, self._anthropic, self._gemini):
            client.close()

    def _ask(self, provider: str, model: str, question: str) -> Any:
        """Ask the model once and return its answer or the exception. `plan` accepts both."""
        asked: Any = [{"role": "user", "content": question}]
        try:
            if provider == "openai":
                return self._openai.chat.completions.create(model=model, messages=asked)
            if provider == "anthropic":
                return self._anthropic.messages.create(model=model, max_tokens=400, messages=asked)
            return self._gemini.models.generate_content(model=model, contents=question)
        except Exception as error:  # noqa: BLE001 - the plan accepts any exception
            return error

    def answer(self, case: monday.Case) -> Outcome:
        """Ask, and follow the plan while it advises another attempt."""
        provider, model, attempt = case.provider, case.model, 1
        said = self._ask(provider, model, case.ticket.question)
        advice = _advice(said, provider, model, attempt, case)
        outcome = Outcome(advice)
        while advice.error_class is not None and attempt < ATTEMPTS:
            if attempt > 1 and advice.should_fallback_model and model in SPARE:
                provider, model = SPARE[model]
                outcome.did.append(f"fell back to {model}")
            elif not self._repair(advice, attempt, outcome):
                break
            attempt += 1
            said = self._ask(provider, model, case.ticket.question)
            advice = _advice(said, provider, model, attempt, case)
        outcome.answered = advice.error_class is None
        outcome.end = "answered" if outcome.answered else _give_up(advice)
        return outcome

    def _repair(self, advice: RecoveryPlan, attempt: int, outcome: Outcome) -> bool:
        """Do what the plan advises before the next attempt, and return whether there is a next attempt."""
        if advice.should_compress_context:
            outcome.did.append(f"compressed to {advice.compress_to_tokens} tokens")
        elif advice.should_rotate_credential and attempt == 1:
            outcome.did.append("took the spare key")
            self._anthropic = self._anthropic.with_options(api_key="demo-spare")
        elif advice.is_retryable:
            time.sleep(advice.backoff_seconds / SPEED)
            waited = f"waited {advice.backoff_seconds:.0f} s, " if advice.backoff_seconds else ""
            outcome.did.append(f"{waited}asked again")
        else:
            return False
        return True


def _advice(outcome: Any, provider: str, model: str, attempt: int, case: monday.Case) -> RecoveryPlan:
    return plan(
        outcome,
        provider=provider,
        model=model,
        attempt=attempt,
        prompt_tokens=case.tokens,
        context_length=CONTEXT,
        fallbacks=len(SPARE),
    )


def _give_up(advice: RecoveryPlan) -> str:
    rule = HANDLING[advice.error_class] if advice.error_class else None
    return f"paged the {rule.audience}; gave up" if rule and rule.severity == "page" else "gave up"


def afternoon(url: str) -> Iterator[str]:
    """Yields the lines of the report. For each case: the kind of the plan, the class, what the desk did and how it ended.

    A case without an answer also shows the text for the customer.
    """
    with closing(CarefulDesk(url)) as desk:
        for case in monday.CASES:
            outcome = desk.answer(case)
            deeds = "; ".join((*outcome.did, outcome.end))
            line = f"  {outcome.first.kind:<17}{outcome.first.error_class or '-':<15}{deeds}"
            yield from textwrap.wrap(line, WIDTH, subsequent_indent=" " * 34, break_on_hyphens=False)
            if not outcome.answered:
                reply = f'"{outcome.first.user_message}"'
                yield from textwrap.wrap(reply, WIDTH, initial_indent=" " * 19, subsequent_indent=" " * 20)


if __name__ == "__main__":
    end_with_parent()
    for line in afternoon(sys.argv[1]):
        print(line, flush=True)
