"""replicate: `run` and `stream` create a prediction and wait for it. Other predictions are jobs that the application polls."""

import json
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions
from llm_errors.extract.answer import Answer, suspect
from llm_errors.extract.fields import field, number, text
from llm_errors.extract.vendors import FAILED_CODE, REPLICATE
from llm_errors.instrument.adapters.methods import Methods
from llm_errors.instrument.adapters.received import Received
from llm_errors.instrument.adapters.unusual import poll, poll_async
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.invocation import ACTIVE, NOTHING, Invocation
from llm_errors.instrument.protocol import Kind, Target

_CREATING = (
    ("replicate.prediction", "Predictions"),
    ("replicate.model", "ModelsPredictions"),
    ("replicate.deployment", "DeploymentPredictions"),
)
_STATES = "a prediction without output counts as good, whatever its state is"


class Replicate(Methods):
    """The adapter of replicate's client."""

    def targets(self) -> Iterator[Target]:
        """The methods that create predictions, and the methods that poll them."""
        client = "replicate.client"
        yield Target(client, "Client", "run", Kind.CALL)
        yield Target(client, "Client", "async_run", Kind.ASYNC_CALL)
        yield Target(client, "Client", "stream", Kind.GENERATOR)
        yield Target(client, "Client", "async_stream", Kind.ASYNC_GENERATOR)
        for module, owner in _CREATING:
            yield Target(module, owner, "create", Kind.CALL, optional=True)
            yield Target(module, owner, "async_create", Kind.ASYNC_CALL, optional=True)
            yield Target(module, "", "_json_to_prediction", Kind.ATTEMPT, optional=True, lost=_STATES)
        yield Target("replicate.prediction", "Prediction", "reload", poll)
        yield Target("replicate.prediction", "Prediction", "async_reload", poll_async)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a call. A prediction that `run` or `stream` creates belongs to that call, so it is ignored here."""
        outer = ACTIVE.get()
        if outer is not None and outer.adapter is self:
            return None
        first = args[0] if args else None
        named = kwargs.get("ref") or kwargs.get("model") or kwargs.get("version") or kwargs.get("deployment") or first
        creates = target.attribute.endswith("create")
        client = field(instance, "_client") if creates else instance
        return self._info(client, named, target.attribute.endswith("stream"), creates)

    def _info(self, client: Any, named: Any, stream: bool = False, background: bool = False) -> CallInfo:
        url = text(field(client, "_base_url")) or "https://api.replicate.com"
        host, port = split_address(url)
        owner, name = named if isinstance(named, tuple) and len(named) == 2 else (None, None)
        model = f"{owner}/{name}" if owner is not None else text(named, 256) or text(field(named, "id"), 256)
        return self.info(
            operation="generate_content",
            model=model.partition(":")[0],
            stream=stream,
            address=host,
            port=port,
            reader=REPLICATE,
            background=background,
        )

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge a prediction, or the result of `run`. If `run` returned nothing, the state of its prediction tells why."""
        kept, call.parsed = call.parsed, NOTHING
        if call.info.background:
            call.judge(result)
            return
        state = text(field(kept.response, "status"), 32) if type(kept) is Received else ""
        if result is None and state == "canceled":
            call.settle(Answer(), cancelled=True)
        else:  # a prediction that is still running has no output yet
            empty = result is None and state == "succeeded"
            call.settle(Answer(suspect(call.info.dialect, "empty") if empty else None))

    def polled(self, instance: Any, result: Any) -> tuple[CallInfo, Answer] | None:
        """Describes a prediction that failed after it was created; None for any other."""
        answer = REPLICATE.whole(instance)
        outer = ACTIVE.get()
        if answer.suspicion is None or (outer is not None and outer.adapter is self):
            return None
        return self._info(field(instance, "_client"), field(instance, "model", "version")), answer

    def read_failure(
        self, call: Invocation, exc: BaseException, names: tuple[str, ...], response: Any
    ) -> Evidence | None:
        """Evidence from an error of the API, with its status and problem details, or from the error of a failed prediction."""
        if "replicate.ModelError" in names:
            message = text(field(field(exc, "prediction"), "error"))
            return replace(
                suspect("openai", codes=(FAILED_CODE,), finish_reason="failed", message=message), exceptions=(names,)
            )
        status = number(field(exc, "status"))
        if "replicate.ReplicateError" not in names or status is None:
            return None
        body = json.dumps({name: field(exc, name) for name in ("title", "detail")})
        rebuilt = SimpleNamespace(status_code=status, _content=body.encode(), headers=None)
        return replace(exceptions.of_response(rebuilt, self.row.dialect, call.info.provider), exceptions=(names,))
