"""xai-sdk: a gRPC client. A stub has one callable per remote method, which this adapter wraps.

The SDK's own span is current inside these callables. A stub belongs to a client, so its callables are replaced when an object
of the SDK is about to use it: a chat when it is created, the clients for images and videos when they are called.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results, xai
from llm_errors.extract.answer import Answer, Reader
from llm_errors.extract.fields import field, text
from llm_errors.instrument import jobs
from llm_errors.instrument.adapters.xai_stubs import APIS, POLLS, tapping, tapping_async, tapping_own
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Kind, Target

_HOST, _PORT = "api.x.ai", 443
_CLIENTS = {
    "image": ("sample", "sample_batch"),
    "video": ("start", "get", "generate", "extend", "extend_start"),
}
"""The modules of the SDK's clients that call a stub directly, and their methods."""


class XaiSdk(Adapter):
    """The adapter of xai-sdk's chats and clients."""

    def targets(self) -> Iterator[Target]:
        """The methods that are about to use a stub, and the method that parses an answer."""
        yield Target("xai_sdk.chat", "BaseChat", "__init__", tapping_own)
        for side, wrap, outer in (
            ("sync", tapping, Kind.OUTER_CALL),
            ("aio", tapping_async, Kind.ASYNC_OUTER_CALL),
        ):
            yield Target(f"xai_sdk.{side}.chat", "Chat", "parse", outer, optional=True)
            for module, methods in _CLIENTS.items():
                for method in methods:
                    yield Target(f"xai_sdk.{side}.{module}", "Client", method, wrap, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a call of a remote method, whose only argument is the request, or of the chat's method `parse`."""
        api = APIS.get(target.attribute)
        if api is None:
            return self._info("chat", field(field(instance, "_proto"), "model"), results.MEDIA)
        return self._info(api.operation, field(args[0], "model"), api.reader, api.streams, api.begins_job)

    def _info(
        self, operation: str, model: Any, reader: Reader, streams: bool = False, begins_job: bool = False
    ) -> CallInfo:
        return self.info(
            operation=operation,
            model=text(model, 256),
            stream=streams,
            address=_HOST,
            port=_PORT,
            reader=reader,
            background=begins_job,
        )

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """Evidence from a gRPC error in the dialect of xai. The class of the error does not show which SDK raised it."""
        return self.read(exc, call.ambient)

    def read(self, exc: BaseException, ambient: int = 0) -> Evidence:
        """Evidence from an exception."""
        return replace(exceptions.read(exc, self.row.dialect, self.row.provider, ambient), dialect=self.row.dialect)

    def polled(self, method: str, job: str, answer: Answer) -> tuple[CallInfo, Answer]:
        """The call that began the job with the id `job`, and the answer about the state of the job."""
        info = jobs.begun_as(job) or self._info(POLLS[method], None, xai.JOB)
        return info, answer._replace(id=job)
