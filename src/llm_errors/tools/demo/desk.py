"""Simulates the application of the demo: a support desk that uses three real SDKs, but not OpenTelemetry or llm-errors.

`python -m llm_errors.tools.demo.desk` runs the desk alone. Without `--provider URL` it starts its own provider.
"""

import argparse
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import anthropic
import openai
import pydantic
from google import genai

from llm_errors.testing.provider import Provider
from llm_errors.tools.demo import monday
from llm_errors.tools.demo.parent import end_with_parent
from llm_errors.tools.demo.stage import Stage

OVER = "the morning is over"
"""The last line that the desk prints."""
AGENTS = 4
"""The number of tickets that the desk handles at the same time."""
PATIENCE = 4.0
"""The timeout of a request in the live chat, in seconds. The desk does not repeat such a request."""
FIND_ORDER = {
    "type": "function",
    "function": {
        "name": "find_order",
        "parameters": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
    },
}


class Sorted(pydantic.BaseModel):
    """The answer of the model that sorts a mail: the department, and whether the mail is urgent."""

    queue: str
    urgent: bool


class Desk:
    """Has one method for each task. Each method asks a model about one ticket."""

    def __init__(self, url: str) -> None:
        self._openai = openai.OpenAI(base_url=f"{url}/v1", api_key="demo")
        self._chat = self._openai.with_options(timeout=PATIENCE, max_retries=0)
        self._anthropic = anthropic.Anthropic(base_url=url, api_key="demo")
        retry = genai.types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.05, jitter=0.01)
        options = genai.types.HttpOptions(base_url=url, retry_options=retry)
        self._gemini = genai.Client(api_key="demo", vertexai=False, http_options=options)

    def sort(self, question: str) -> None:
        """Ask OpenAI for an answer that follows a schema."""
        self._openai.chat.completions.parse(
            model=monday.MINI,
            messages=[{"role": "user", "content": question}],
            response_format=Sorted,
            max_completion_tokens=40,
        )

    def look_up(self, question: str) -> None:
        """Ask OpenAI, and offer a tool."""
        self._openai.chat.completions.create(
            model=monday.MINI, messages=[{"role": "user", "content": question}], tools=[FIND_ORDER]
        )

    def invoice(self, question: str) -> None:
        """Ask OpenAI for a plain answer."""
        self._openai.chat.completions.create(model=monday.MINI, messages=[{"role": "user", "content": question}])

    def chat(self, question: str) -> None:
        """Ask OpenAI for a streamed answer."""
        words = self._chat.chat.completions.create(
            model=monday.MINI, messages=[{"role": "user", "content": question}], stream=True
        )
        for _ in words:
            pass

    def answer(self, question: str) -> None:
        """Ask Gemini for a plain answer."""
        self._gemini.models.generate_content(model=monday.FLASH, contents=question)

    def suggest(self, question: str) -> None:
        """Ask Gemini for a streamed answer."""
        for _ in self._gemini.models.generate_content_stream(model=monday.LITE, contents=question):
            pass

    def letter(self, question: str) -> None:
        """Ask Anthropic for a streamed answer."""
        asked = [{"role": "user", "content": question}]
        with self._anthropic.messages.stream(model=monday.SONNET, max_tokens=400, messages=asked) as words:
            for _ in words.text_stream:
                pass

    def summary(self, question: str) -> None:
        """Ask Anthropic for a plain answer."""
        asked = [{"role": "user", "content": question}]
        self._anthropic.messages.create(model=monday.SONNET, max_tokens=400, messages=asked)

    def digest(self, question: str) -> None:
        """Ask a model of OpenAI that was retired."""
        self._openai.chat.completions.create(model=monday.RETIRED, messages=[{"role": "user", "content": question}])


def work(desk: Desk, scene: monday.Scene, agents: ThreadPoolExecutor) -> int:
    """Do the task of a scene for each of its tickets, and return how many tickets ended in an exception."""
    task = getattr(desk, scene.task)

    def failed(ticket: monday.Ticket) -> bool:
        try:
            task(ticket.question)
        except Exception:  # noqa: BLE001 - the desk goes on with the next ticket, whatever an SDK raises
            return True
        return False

    return sum(agents.map(failed, monday.tickets(scene)))


def main(argv: Sequence[str] | None = None) -> int:
    """Work through the scenes of the morning and print one line for each."""
    parser = argparse.ArgumentParser(prog="python -m llm_errors.tools.demo.desk", description=__doc__)
    parser.add_argument("--provider", metavar="URL", help="the models' address (default: a provider of its own)")
    parser.add_argument("--stay", action="store_true", help="stay after the last scene")
    args = parser.parse_args(argv)
    with ExitStack() as stack:
        url = args.provider or stack.enter_context(Provider(Stage().answer)).url
        agents = stack.enter_context(ThreadPoolExecutor(AGENTS))
        desk = Desk(url)
        for scene in monday.SCENES:
            failed = work(desk, scene, agents)
            line = f"{scene.at}  {scene.title:<25}{scene.model:<20}{scene.tickets:>4} calls /{failed:>3} exceptions"
            print(line, flush=True)
        print(OVER, flush=True)
        if args.stay:
            threading.Event().wait()
    return 0


if __name__ == "__main__":
    end_with_parent()
    raise SystemExit(main())
