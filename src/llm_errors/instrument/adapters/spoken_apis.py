"""The websockets of the speech SDKs, by SDK: where each one connects, and the protocol of its messages.

This module has more than 120 lines because it is a table: one row per API, and one per protocol.
"""

from collections.abc import Mapping
from typing import NamedTuple

from llm_errors.extract.spoken import SpokenReader, Step, Talk

BEGIN, PART, END, BREAK, ERROR = Step.BEGIN, Step.PART, Step.END, Step.BREAK, Step.ERROR


class Socket(NamedTuple):
    """One API: the class whose `connect` opens the socket, and its async twin, with the prefix `Async`."""

    module: str
    """The module of the class, below the SDK's package."""
    owner: str
    operation: str
    reader: SpokenReader
    server: str
    """The attribute of the SDK's environment that contains the address."""
    optional: bool = False
    """Whether older releases of the SDK lack the class."""


def _speaks(**row: object) -> SpokenReader:
    return SpokenReader(Talk(**row))  # type: ignore[arg-type]


_DEEPGRAM_LISTEN = _speaks(
    # A transcript ends only with the connection. `Metadata` answers the message that closes the connection.
    steps={"Results": PART, "Metadata": END, "Error": ERROR, "ConfigureFailure": Step.ASIDE},
    silent=True,
    endless=True,
)
_DEEPGRAM_TURNS = _speaks(
    kind=("event", "type"),
    steps={"StartOfTurn": BEGIN, "Update": BEGIN, "EndOfTurn": END, "Error": ERROR, "ConfigureFailure": Step.ASIDE},
    silent=True,
)
_DEEPGRAM_SPEAK = _speaks(
    asks=frozenset(("Speak",)),
    steps={"Flushed": END, "Cleared": Step.CANCELLED, "Error": ERROR},
    endless=True,  # without a flush, the audio ends with the connection
)
_DEEPGRAM_SPEECHES = _speaks(
    asks=frozenset(("Speak",)),
    steps={
        "SpeechStarted": BEGIN,
        "SpeechMetadata": END,
        "SpeechInterrupted": Step.CANCELLED,
        "Error": ERROR,
        "ConfigureFailure": Step.ASIDE,
    },
)
_DEEPGRAM_AGENT = _speaks(
    asks=frozenset(("InjectUserMessage",)),
    steps={
        "AgentThinking": BEGIN,
        "AgentStartedSpeaking": BEGIN,
        "FunctionCallRequest": PART,
        "AgentAudioDone": END,
        "UserStartedSpeaking": BREAK,
        "InjectionRefused": ERROR,
        "Error": ERROR,
    },
)
_HUME_CHAT = _speaks(
    asks=frozenset(("user_input", "assistant_input")),
    steps={
        "assistant_message": PART,
        "audio_output": PART,
        "tool_call": PART,
        "assistant_end": END,
        "user_interruption": BREAK,
        "error": ERROR,
    },
)
_HUME_SPEECH = _speaks(
    asks_with="text",
    steps={"audio": PART, "timestamp": BEGIN, "error": ERROR},
    last="is_last_chunk",
    binary=Step.UNMARKED,
)
_SARVAM_SPEECH = _speaks(
    asks=frozenset(("text",)),
    steps={"audio": PART, "event": END, "error": ERROR},
    endless=True,  # the server sends `event` only on request
)
_SARVAM_CLONE = _speaks(asks=frozenset(("text",)), steps={"audio": PART, "event": END, "error": ERROR})
_SARVAM_TRANSCRIPT = _speaks(steps={"data": END, "error": ERROR}, silent=True)
_SARVAM_REALTIME = _speaks(
    kind=("event",),
    steps={
        "vad.speech_start": BEGIN,
        "transcript.partial": BEGIN,
        "transcript.final": END,
        "error": ERROR,
    },
    silent=True,
)

CARTESIA_SPEECH = _speaks(
    asks_with="transcript",
    cancels_with="cancel",
    key="context_id",
    model="model_id",
    steps={"chunk": PART, "timestamps": BEGIN, "phoneme_timestamps": BEGIN, "done": END, "error": ERROR},
)
CARTESIA_TURNS = _speaks(
    steps={"turn.start": BEGIN, "turn.update": BEGIN, "turn.end": END, "error": ERROR},
    silent=True,
)
CARTESIA_TRANSCRIPT = _speaks(
    asks=frozenset(("finalize",)),
    steps={"transcript": PART, "flush_done": END, "done": END, "error": ERROR},
    silent=True,
    endless=True,
)
ELEVENLABS_AGENT = _speaks(
    asks=frozenset(("user_message", "multimodal_message")),
    steps={
        **dict.fromkeys(("audio", "agent_response", "agent_chat_response_part", "client_tool_call"), PART),
        "user_transcript": BREAK,
        "interruption": BREAK,
        "error": ERROR,
    },
    turns=True,
    endless=True,
)
ELEVENLABS_TRANSCRIPT = _speaks(
    kind=("message_type",),
    asks_with="commit",
    steps={
        "partial_transcript": BEGIN,
        "committed_transcript": END,
        **dict.fromkeys(
            (
                *("error", "auth_error", "quota_exceeded", "commit_throttled", "transcriber_error", "unaccepted_terms"),
                *("unaccepted_terms_error", "rate_limited", "input_error", "invalid_request", "queue_overflow"),
                *("resource_exhausted", "session_time_limit_exceeded", "chunk_size_exceeded"),
                "insufficient_audio_activity",
            ),
            ERROR,
        ),
    },
    silent=True,
)

SOCKETS: Mapping[str, tuple[Socket, ...]] = {
    "deepgram": (
        Socket("listen.v1.client", "V1Client", "transcription", _DEEPGRAM_LISTEN, "production"),
        Socket("listen.v2.client", "V2Client", "transcription", _DEEPGRAM_TURNS, "production"),
        Socket("speak.v1.client", "V1Client", "speech", _DEEPGRAM_SPEAK, "production"),
        Socket("speak.v2.client", "V2Client", "speech", _DEEPGRAM_SPEECHES, "production", optional=True),
        Socket("agent.v1.client", "V1Client", "chat", _DEEPGRAM_AGENT, "agent"),
    ),
    "hume": (
        Socket("empathic_voice.chat.client", "ChatClient", "chat", _HUME_CHAT, "evi"),
        Socket("tts.stream_input.client", "StreamInputClient", "speech", _HUME_SPEECH, "tts"),
    ),
    "sarvam": tuple(
        Socket(f"{module}.client", f"{owner}Client", operation, reader, "production")
        for module, owner, operation, reader in (
            ("text_to_speech_streaming", "TextToSpeechStreaming", "speech", _SARVAM_SPEECH),
            ("voice_cloning_streaming", "VoiceCloningStreaming", "speech", _SARVAM_CLONE),
            ("speech_to_text_streaming", "SpeechToTextStreaming", "transcription", _SARVAM_TRANSCRIPT),
            (
                "speech_to_text_translate_streaming",
                "SpeechToTextTranslateStreaming",
                "transcription",
                _SARVAM_TRANSCRIPT,
            ),
            ("speech_to_text_realtime_streaming", "SpeechToTextRealtimeStreaming", "transcription", _SARVAM_REALTIME),
        )
    ),
}
"""The name of an SDK in `providers` -> its sockets. The SDKs are of the Fern family."""
