"""huggingface_hub: one method of the inference client sends every request and returns the body or the lines of a stream."""

from collections.abc import Iterator, Sequence
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import causes, results
from llm_errors.extract.answer import Reader
from llm_errors.extract.fields import field, text
from llm_errors.extract.tgi import LinesReader, TextGenerationReader
from llm_errors.instrument.adapters.generators import eager, eager_async
from llm_errors.instrument.adapters.refusals import refusal, refusal_in, refusal_in_async
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Target
from llm_errors.providers import provider_of_host

_ERROR_SIZE = 16_384
"""The maximum size, in bytes, of a body of media that is checked for an error or an HTML page."""
_MEDIA = LinesReader(results.MEDIA)
TASKS: dict[str, tuple[str, Reader]] = {
    "conversational": ("chat", LinesReader(results.CHAT)),
    "text-generation": ("text_completion", LinesReader(TextGenerationReader())),
    "feature-extraction": ("embeddings", _MEDIA),
    "automatic-speech-recognition": ("transcription", _MEDIA),
}
"""Task -> operation and reader. The operation of any other task has the task's name; the shape of its result varies."""


_REFUSE = (
    *("document_question_answering", "text_generation", "translation", "visual_question_answering"),
    "zero_shot_image_classification",
)
"""Public methods that check arguments themselves. Each is named after its task."""


def _of(task: str) -> tuple[str, Reader]:
    return TASKS.get(task) or (task.replace("-", "_") or "chat", _MEDIA)


def _named(model: str) -> str | None:
    return None if "://" in model else model


_CLIENTS = (
    ("huggingface_hub.inference._client", "InferenceClient", eager, refusal_in("_b64_encode")),
    (
        "huggingface_hub.inference._generated._async_client",
        "AsyncInferenceClient",
        eager_async,
        refusal_in_async("_b64_encode"),
    ),
)


class HuggingFace(Adapter):
    """The adapter of huggingface_hub's inference clients."""

    def targets(self) -> Iterator[Target]:
        """The method that sends every request, and the functions and methods that check its arguments first."""
        for module, client, sends, refuses in _CLIENTS:
            yield Target(module, client, "_inner_post", sends)
            yield Target(module, "", "get_provider_helper", refusal, optional=True)
            for name in _REFUSE:
                yield Target(module, client, name, refuses, optional=True)
        yield Target("huggingface_hub.inference._providers._common", "TaskProviderHelper", "prepare_request", refusal)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a request. Its model is unknown if the application named a URL instead of a model."""
        request = args[0] if args else kwargs.get("request_parameters")
        operation, reader = _of(text(field(request, "task"), 64))
        model = text(field(field(request, "json"), "model"), 256) or text(field(request, "model"), 256)
        host, port = split_address(text(field(request, "url")))
        return self.info(
            operation=operation,
            model=_named(model),
            stream=bool(kwargs.get("stream")),
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=reader,
        )

    def refused(self, instance: Any, exc: BaseException, given: Sequence[Any] = ()) -> CallInfo | None:
        """Describes a call without a key, with a model or a task that the provider does not have, or with wrong arguments."""
        task, model = field(instance, "task"), None
        method = next((name for name in causes.passed(exc) if name in _REFUSE), None)
        if method is not None:
            task = method.replace("_", "-")
        elif task is None and len(given) > 1:  # `get_provider_helper(provider, task, model)`
            task, model = given[:2]
        operation, reader = _of(text(task, 64))
        return self.info(operation=operation, model=_named(text(model, 256)), reader=reader)

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge the body of an answer. Media is only checked for an error if it is small."""
        if call.info.stream:
            return
        if call.info.reader is _MEDIA and (len(result) > _ERROR_SIZE or result[:64].lstrip()[:1] not in (b"{", b"<")):
            result = b""
        call.judge_text(result)
