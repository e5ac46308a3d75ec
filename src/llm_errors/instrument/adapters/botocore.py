"""botocore and aiobotocore: one method makes the calls of every AWS service, and another one makes each attempt.

An operation that is not listed in `aws_operations` is ignored immediately. An attempt returns its failure instead of raising
it. An event stream raises its errors when it parses an event. Any other body is read by the application, and these reads are
observed.
"""

from collections.abc import Iterator
from copy import copy
from inspect import iscoroutinefunction
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import bodies, retry_after
from llm_errors.extract.answer import Answer
from llm_errors.extract.fields import field, number
from llm_errors.instrument.adapters.aws_operations import APIS
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.instrument.tap import JsonBody, tap_reads


class Botocore(Adapter):
    """The adapter of botocore or of aiobotocore."""

    only_models = False

    @property
    def _asynchronous(self) -> bool:
        return self.row.package != "botocore"

    def targets(self) -> Iterator[Target]:
        """The methods for a call, for an attempt, for reading a body and for closing.

        aiobotocore's event streams inherit `close` from those of botocore.
        """
        own, asynchronous = self.row.package, self._asynchronous
        prefix = "Aio" if asynchronous else ""
        call, attempt = (Kind.ASYNC_CALL, Kind.ASYNC_ATTEMPT) if asynchronous else (Kind.CALL, Kind.ATTEMPT)
        yield Target(f"{own}.client", f"{prefix}BaseClient", "_make_api_call", call)
        yield Target(f"{own}.endpoint", f"{prefix}Endpoint", "_get_response", attempt)
        part = Kind.ASYNC_PART if asynchronous else Kind.PART
        yield Target(f"{own}.response", "StreamingBody", "read", part)
        yield Target(f"{own}.response", "HttpxStreamingBody", "read", part, optional=True)
        yield Target(f"{own}.response", "StreamingBody", "close", Kind.CLOSE, optional=True)
        if not asynchronous:
            yield Target(f"{own}.eventstream", "EventStream", "close", Kind.CLOSE)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes an operation that `APIS` lists for the service of the client; None for any other operation."""
        api = APIS.get(args[0] if args else kwargs.get("operation_name", ""))
        if api is None or instance.meta.service_model.service_name != api.service:
            return None
        given = args[1] if len(args) > 1 else kwargs.get("api_params")
        host, port = split_address(instance.meta.endpoint_url)
        return self.info(
            operation=api.operation,
            model=api.model(given),
            reader=api.reader_for(given),
            provider=api.provider,
            stream=api.stream,
            address=host,
            port=port,
        )

    def is_of(self, call: Invocation, target: Target, instance: Any) -> bool:
        """Whether the client of the call makes the attempt. While the call runs, another client may renew the credentials."""
        return field(call.instance, "_endpoint") is instance

    def attempt_returned(self, call: Invocation, result: Any) -> BaseException | Evidence | None:
        """Read the pair that an attempt returns: the HTTP response with the parsed answer, or else an exception."""
        answer, failure = result
        if answer is None:
            return failure if isinstance(failure, BaseException) else None
        response, parsed = answer
        status = number(field(response, "status_code"))
        if status is None or status < 300:
            return None
        body = bodies.read(parsed, status)
        return Evidence(
            dialect=self.row.dialect,
            provider=call.info.provider,
            status=status,
            codes=body.codes,
            facts=body.facts,
            message=body.message,
            retry_after=retry_after.from_headers(field(response, "headers")),
        )

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge an answer, follow an event stream, or observe a body that the application reads."""
        holds = APIS[call.args[0] if call.args else call.kwargs["operation_name"]].holds
        held = field(result, holds) if holds else None
        if held is None:
            call.judge(result)
        elif hasattr(held, "_event_generator"):
            follow(call, held)
        elif hasattr(held, "read"):
            headers = field(field(result, "ResponseMetadata"), "HTTPHeaders")
            body = JsonBody(call.info.reader, call.info.dialect, headers)
            call.expect(body)
            call.attach_finalizer(held, body.end)
            raw = None if self._asynchronous else field(held, "_raw_stream")
            if hasattr(raw, "__dict__"):
                call.share_finalizer(held, raw)
                tap_reads(call, raw)
        else:  # a stub that a test of the application returns
            call.settle(Answer())

    def part(self, call: Invocation, result: Any) -> None:
        """The application has read a piece of a body of aiobotocore. `tap_reads` observes the bodies of botocore instead."""
        if self._asynchronous:
            call.took(result)


def follow(call: Invocation, stream: Any) -> None:
    """Observe the parsed events of a stream. The stream then iterates over a copy of itself, which parses them and raises."""
    twin = copy(stream)
    asynchronous = hasattr(stream, "__aiter__")
    stream._event_generator = call.follow_async(aiter(twin)) if asynchronous else call.follow(iter(twin))
    stream._parse_event = _parsed_async if iscoroutinefunction(twin._parse_event) else _parsed
    call.attach_finalizer(stream)


def _parsed(event: Any) -> Any:
    return event


async def _parsed_async(event: Any) -> Any:
    return event
