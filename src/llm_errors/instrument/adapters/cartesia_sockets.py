"""cartesia's websockets: speech, and transcripts with turns or without. A manager object connects."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from llm_errors.call import CallInfo
from llm_errors.extract.fields import field, text
from llm_errors.extract.spoken import SpokenReader
from llm_errors.instrument.adapters.sockets import connecting, connecting_async
from llm_errors.instrument.adapters.spoken import Spoken
from llm_errors.instrument.adapters.spoken_apis import CARTESIA_SPEECH, CARTESIA_TRANSCRIPT, CARTESIA_TURNS
from llm_errors.instrument.adapters.wire import observing
from llm_errors.instrument.endpoints import address_of
from llm_errors.instrument.protocol import Target
from llm_errors.providers import provider_of_host


class _Manager(NamedTuple):
    """One API and the class of its manager. `through` is the attribute of the returned object that holds the connection."""

    module: str
    owner: str
    operation: str
    reader: SpokenReader
    methods: tuple[str, ...]
    async_methods: tuple[str, ...]
    through: str = ""


_RECONNECTS = ("_connect_ws",)
"""The method that opens a connection, and opens it again after a failure."""
_MANAGERS = (
    _Manager(
        "cartesia.lib._tts",
        "TTSResourceConnectionManager",
        "speech",
        CARTESIA_SPEECH,
        ("__enter__", "enter"),
        ("__aenter__", "enter"),
        "_connection",
    ),
    _Manager(
        "cartesia.resources.stt.auto_finalize",
        "AutoFinalizeResourceConnectionManager",
        "transcription",
        CARTESIA_TURNS,
        _RECONNECTS,
        _RECONNECTS,
    ),
    _Manager(
        "cartesia.resources.stt.manual_finalize",
        "ManualFinalizeResourceConnectionManager",
        "transcription",
        CARTESIA_TRANSCRIPT,
        _RECONNECTS,
        _RECONNECTS,
    ),
)
_BY_MODULE = {manager.module: manager for manager in _MANAGERS}


class CartesiaSockets(Spoken):
    """The adapter of cartesia's managers."""

    def targets(self) -> Iterator[Target]:
        """The methods that connect."""
        for one in _MANAGERS:
            begin = observing(one.through)
            for name in one.methods:
                yield Target(one.module, one.owner, name, connecting(begin), optional=True)
            for name in one.async_methods:
                yield Target(one.module, f"Async{one.owner}", name, connecting_async(begin), optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a session. Name-mangled private attributes of the manager hold the client and the model."""
        manager = _BY_MODULE[target.module]
        kept = {name.rpartition("__")[2]: value for name, value in vars(instance).items()}
        client = kept.get("client")
        host, port = address_of(field(client, "websocket_base_url", "_base_url"))
        return self.info(
            operation=manager.operation,
            model=text(kept.get("model"), 256),
            stream=True,
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=manager.reader,
        )
