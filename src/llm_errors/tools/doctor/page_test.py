"""Makes one call with a model name that cannot exist, so that an operator can check that the alert arrives at the pager.

`run` starts this module in a process under `opentelemetry-instrument`, with the name of an SDK as its argument.
"""

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module

from llm_errors import ErrorClass, classify
from llm_errors.tools.doctor import packages
from llm_errors.tools.doctor.finding import Finding, fault, good

MODEL = "llm-errors-page-test-no-such-model"
_HEALTHY = "healthy"
MESSAGES = [{"role": "user", "content": "ping"}]


def _openai() -> None:
    import_module("openai").OpenAI(max_retries=0).chat.completions.create(model=MODEL, messages=MESSAGES)


def _anthropic() -> None:
    import_module("anthropic").Anthropic(max_retries=0).messages.create(model=MODEL, max_tokens=1, messages=MESSAGES)


def _google_genai() -> None:
    client = import_module("google.genai").Client()
    client.models.generate_content(model=MODEL, contents="ping")


CALLS: dict[str, Callable[[], None]] = {"openai": _openai, "anthropic": _anthropic, "google-genai": _google_genai}
"""SDK -> the function that makes the call. Each SDK reads its credential and address from the environment."""


def run(sdk: str) -> Finding:
    """Make the call in a separate process that is instrumented like the application, and report how it ended."""
    launcher = packages.launcher()
    if launcher is None and not packages.injected():
        return fault("opentelemetry-instrument is not installed", packages.INSTALL)
    command = [sys.executable, "-m", "llm_errors.tools.doctor.page_test", sdk]
    if launcher and not packages.injected():
        command.insert(0, launcher)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ended = done.stdout.strip().splitlines()[-1:] or [f"nothing: {done.stderr.strip().splitlines()[-1:]}"]
    if ended == [ErrorClass.NOT_FOUND.value]:
        return good(f"a call for the model {MODEL} ended in NOT_FOUND: watch LLMCredentialOrModelError reach the pager")
    if ended == [_HEALTHY]:
        return fault(
            f"a call for the model {MODEL} succeeded: the server answers for any model name",
            "It may be a gateway that substitutes models, or a fake. Run the page test against the provider itself.",
        )
    return fault(
        f"a call for the model {MODEL} ended in {ended[0]}, not in NOT_FOUND",
        "AUTH: check the credential in this environment. TRANSPORT: check the network. It is counted under that class.",
    )


def main() -> None:
    """Make the call and print its class."""
    try:
        CALLS[sys.argv[1]]()
    except Exception as error:  # noqa: BLE001 - every exception of an SDK is a result
        verdict = classify(error)
        print(verdict.error_class if verdict else _HEALTHY)
    else:
        print(_HEALTHY)


if __name__ == "__main__":
    main()
