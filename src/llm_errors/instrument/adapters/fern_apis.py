"""The methods of the Fern family's raw clients that are model calls, by SDK. Accounts, lists, voices and files are not.

This module has more than 120 lines because it is a table: one row per raw client and operation.
"""

from collections.abc import Mapping
from typing import NamedTuple

from llm_errors.extract import results, vellum, vendors
from llm_errors.extract.answer import InDialect, Reader
from llm_errors.extract.cohere import DIALECT as COHERE
from llm_errors.extract.cohere import PagesReader
from llm_errors.extract.data import DataReader
from llm_errors.extract.speech import AUDIO


class Api(NamedTuple):
    """Methods of one raw client."""

    module: str
    """The module of the raw client, below the SDK's package."""
    owner: str
    operation: str
    reader: Reader
    whole: str = ""
    """The names of the methods that return an answer."""
    streams: str = ""
    """The names of the methods that are context managers of a stream."""
    asked: str = ""
    """The names of the methods whose argument `stream` asks for a generator."""
    generators: str = ""
    """The names of the methods that are generator functions."""
    optional: bool = False
    """Whether older releases of the SDK lack these methods."""


APIS: Mapping[str, tuple[Api, ...]] = {
    "cohere": (
        Api("v2.raw_client", "RawV2Client", "chat", results.COHERE, "chat", "chat_stream"),
        Api("v2.raw_client", "RawV2Client", "embeddings", InDialect(results.RESULTS, COHERE), "embed"),
        Api("v2.raw_client", "RawV2Client", "rerank", DataReader("results", COHERE), "rerank"),
        Api("v2.raw_client", "RawV2Client", "ocr", PagesReader(), "parse", optional=True),
        Api(
            "audio.transcriptions.raw_client",
            "RawTranscriptionsClient",
            "transcription",
            InDialect(results.MEDIA, COHERE),
            "create",
            optional=True,
        ),
        Api("raw_base_client", "RawBaseCohere", "chat", results.COHERE_V1, "chat", "chat_stream"),
        Api(
            "raw_base_client",
            "RawBaseCohere",
            "text_completion",
            results.COHERE_V1,
            "generate summarize",
            "generate_stream",
        ),
        Api("raw_base_client", "RawBaseCohere", "embeddings", InDialect(results.RESULTS, COHERE), "embed"),
        Api("raw_base_client", "RawBaseCohere", "rerank", DataReader("results", COHERE), "rerank"),
        Api("raw_base_client", "RawBaseCohere", "classification", DataReader("classifications", COHERE), "classify"),
    ),
    # reka comes from an older version of the generator. Its row lists methods of plain clients.
    "reka": (Api("chat.client", "ChatClient", "chat", vendors.REKA, "create", generators="create_stream"),),
    "sarvam": (
        Api("chat.raw_client", "RawChatClient", "chat", results.CHAT, asked="completions completions_v2"),
        Api("responses.raw_client", "RawResponsesClient", "chat", results.RESPONSES, "create", "create_stream"),
        Api("text.raw_client", "RawTextClient", "text_completion", AUDIO, "translate transliterate"),
        Api("text.raw_client", "RawTextClient", "classification", AUDIO, "identify_language"),
        Api(
            "speech_to_text.raw_client",
            "RawSpeechToTextClient",
            "transcription",
            AUDIO,
            "transcribe translate",
        ),
        Api(
            "text_to_speech.raw_client",
            "RawTextToSpeechClient",
            "speech",
            AUDIO,
            "convert",
            "convert_stream",
        ),
        Api("voice_cloning.raw_client", "RawVoiceCloningClient", "speech", AUDIO, "convert", "convert_stream"),
    ),
    "elevenlabs": (
        # This method uses a websocket. It has no asynchronous twin.
        Api(
            "realtime_tts",
            "RealtimeTextToSpeechClient",
            "speech",
            AUDIO,
            generators="convert_realtime",
            optional=True,
        ),
        Api(
            "text_to_speech.raw_client",
            "RawTextToSpeechClient",
            "speech",
            AUDIO,
            "convert_with_timestamps",
            "convert stream stream_with_timestamps",
        ),
        Api(
            "text_to_dialogue.raw_client",
            "RawTextToDialogueClient",
            "speech",
            AUDIO,
            "convert_with_timestamps",
            "convert stream stream_with_timestamps",
        ),
        Api("speech_to_speech.raw_client", "RawSpeechToSpeechClient", "speech", AUDIO, "", "convert stream"),
        Api("audio_isolation.raw_client", "RawAudioIsolationClient", "speech", AUDIO, "", "convert stream"),
        Api("text_to_voice.raw_client", "RawTextToVoiceClient", "speech", AUDIO, "create_previews design remix"),
        Api(
            "text_to_sound_effects.raw_client",
            "RawTextToSoundEffectsClient",
            "generate_content",
            AUDIO,
            "",
            "convert",
        ),
        Api(
            "music.raw_client",
            "RawMusicClient",
            "generate_content",
            AUDIO,
            "",
            "compose compose_detailed compose_detailed_stream stream video_to_music",
        ),
        Api("speech_to_text.raw_client", "RawSpeechToTextClient", "transcription", AUDIO, "convert"),
        Api("forced_alignment.raw_client", "RawForcedAlignmentClient", "transcription", AUDIO, "create"),
    ),
    "deepgram": (
        Api(
            "listen.v1.media.raw_client",
            "RawMediaClient",
            "transcription",
            AUDIO,
            "transcribe_url transcribe_file",
        ),
        Api("speak.v1.audio.raw_client", "RawAudioClient", "speech", AUDIO, "", "generate"),
        Api("speak.v2.audio.raw_client", "RawAudioClient", "speech", AUDIO, "", "generate"),
        Api("read.v1.text.raw_client", "RawTextClient", "classification", AUDIO, "analyze"),
    ),
    "hume": (
        Api("tts.raw_client", "RawTtsClient", "speech", DataReader("generations"), "synthesize_json"),
        Api(
            "tts.raw_client",
            "RawTtsClient",
            "speech",
            AUDIO,
            "",
            "synthesize_file synthesize_file_streaming synthesize_json_streaming convert_voice_file convert_voice_json",
        ),
    ),
    "vellum": (
        Api("raw_client", "RawVellum", "chat", vellum.PROMPT, "execute_prompt", "execute_prompt_stream"),
        Api(
            "raw_client", "RawVellum", "invoke_workflow", vellum.WORKFLOW, "execute_workflow", "execute_workflow_stream"
        ),
        Api("raw_client", "RawVellum", "text_completion", vellum.GENERATED, "generate", "generate_stream"),
        Api(
            "resources.ad_hoc.raw_client",
            "RawAdHocClient",
            "chat",
            vellum.PROMPT,
            "adhoc_execute_prompt",
            "adhoc_execute_prompt_stream",
        ),
    ),
    "twelvelabs": (
        Api("raw_base_client", "RawBaseClient", "generate_content", vendors.TWELVELABS, "analyze", "analyze_stream"),
        Api("responses.raw_client", "RawResponsesClient", "chat", results.RESPONSES, "create", "create_stream"),
        Api("embed.raw_client", "RawEmbedClient", "embeddings", AUDIO, "create"),
        Api("embed.v_2.raw_client", "RawV2Client", "embeddings", results.DATA, "create"),
    ),
}
"""The name of an SDK in `providers` -> its raw clients."""
