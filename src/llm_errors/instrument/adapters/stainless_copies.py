"""SDKs whose client is a copy of a Stainless client, maintained by hand: some names differ, and retries are recursive.

The rows of these SDKs are in `providers`. The module `stainless` has the code that they share with the original family.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.instrument.adapters.stainless import Stainless
from llm_errors.instrument.protocol import Kind, Target

_ZHIPU = ("core._http_client", "HttpClient")
_BASES: dict[str, tuple[str, str]] = {"zai": _ZHIPU, "zhipuai": _ZHIPU}
"""Package -> module and class of the synchronous base client. Packages that are not listed use the names of the original."""


class StainlessCopies(Stainless):
    """The adapter of one of these SDKs."""

    def targets(self) -> Iterator[Target]:
        """`request` of the clients, and the method that `request` calls for another attempt. Some SDKs have no async client."""
        module, base = _BASES.get(self.row.package, ("_base_client", "SyncAPIClient"))
        module = f"{self.row.package}.{module}"
        for client in self.row.clients:
            (_, sync), (_, asynchronous) = client.pair
            yield Target(client.module, sync, "request", Kind.CALL)
            yield Target(client.module, asynchronous, "request", Kind.ASYNC_CALL, optional=True)
        yield Target(module, base, "_retry_request", Kind.RETRY)
        yield Target(module, "AsyncAPIClient", "_retry_request", Kind.ASYNC_RETRY, optional=True)
        yield Target(f"{self.row.package}._streaming", "Stream", "close", Kind.CLOSE, optional=True)
        yield Target(f"{self.row.package}._streaming", "AsyncStream", "close", Kind.ASYNC_CLOSE, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a call as for the original. Some copies use other names for the body and the extra fields of a request."""
        options = args[1] if len(args) > 1 else kwargs.get("options")
        if options is None:
            return None
        given = vars(options)
        named = SimpleNamespace(
            method=given["method"],
            url=given["url"],
            json_data=given.get("json_data") or given.get("body"),
            extra_json=given.get("extra_json") or given.get("extra_body"),
        )
        return super().describe(target, instance, (), {**kwargs, "options": named})
