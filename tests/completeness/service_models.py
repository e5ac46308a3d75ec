"""What AWS declares in its service models, which botocore brings along: exceptions by code, and enumerations."""

import re
from collections.abc import Iterator
from typing import Any

from llm_errors import classify
from llm_errors.classify import decide
from llm_errors.evidence import Classification
from llm_errors.extract.answer import suspect
from llm_errors.extract.bedrock_agents import INTERVENED, EventsReader, PolicyReader
from tests.completeness import probes
from tests.completeness.probes import Probe
from tests.completeness.walking import Value

SERVICES = ("bedrock-runtime", "bedrock-agent-runtime", "sagemaker-runtime")
_REASONS = re.compile(r"(StopReason|CompletionReason|^Gua(r)?drailAction)$")
"""Enumerations of why an answer ended, or was stopped. (`GuadrailAction` is AWS' own spelling.)"""


def models() -> dict[str, Any]:
    """The service models of the installed botocore."""
    import botocore.session

    session = botocore.session.Session()
    return {name: session.get_service_model(name) for name in SERVICES}


def modelled_exceptions(model: Any) -> list[str]:
    """The names of the exceptions that a service declares."""
    return [
        name for name in model.shape_names if getattr(model.shape_for(name), "metadata", {}).get("exception") is True
    ]


def code(name: str) -> Classification | None:
    """An error with this code, as botocore raises it."""
    from botocore.exceptions import ClientError

    answered = {"Error": {"Code": name, "Message": "m"}, "ResponseMetadata": {}}
    return classify(ClientError(answered, "Converse"))


def _policy(action: str) -> Classification | None:
    """An action of a guardrail. Any but these would pass for none, so that nobody would miss it."""
    if action not in ("NONE", *INTERVENED):
        return decide(suspect("bedrock", "unnatural_finish", finish_reason=action))
    return probes.of(PolicyReader().whole({"action": action}))


def _flow(reason: str) -> Classification | None:
    chunks = EventsReader(("flowOutputEvent",), "flowCompletionEvent").chunks()
    chunks.chunk({"flowOutputEvent": {"content": {"document": "hi"}}})
    chunks.chunk({"flowCompletionEvent": {"completionReason": reason}})
    return probes.of(chunks.end())


BY_ENUMERATION: dict[str, Probe] = {
    "StopReason": probes.converse,
    "GuardrailAction": _policy,
    "GuadrailAction": _policy,
    "FlowCompletionReason": _flow,
}


def declared() -> Iterator[tuple[Value, Probe | None]]:
    """Every exception and every reason, with its probe."""
    for service, model in models().items():
        for name in modelled_exceptions(model):
            yield Value(service, name), code
        for shape in model.shape_names:
            for value in getattr(model.shape_for(shape), "enum", ()) if _REASONS.search(shape) else ():
                yield Value(f"{service}.{shape}", value), BY_ENUMERATION.get(shape)
