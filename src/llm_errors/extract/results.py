"""Chooses the reader for an answer of unknown origin by the shape of the answer."""

from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import adk, causes
from llm_errors.extract.answer import Reader, embedded_error, unexpected
from llm_errors.extract.anthropic import MessagesReader
from llm_errors.extract.bedrock import ConverseReader
from llm_errors.extract.bedrock_invoke import InvokeReader
from llm_errors.extract.claude_agent import MessagesOfQuery
from llm_errors.extract.cohere import CohereReader
from llm_errors.extract.cohere_v1 import CohereV1Reader
from llm_errors.extract.data import DataReader, MediaReader, ResultsReader
from llm_errors.extract.fields import field, is_object, items, text
from llm_errors.extract.google import GenerateContentReader
from llm_errors.extract.google_interactions import InteractionsReader
from llm_errors.extract.google_live import LiveReader
from llm_errors.extract.letta import LETTA
from llm_errors.extract.llama import LLAMA
from llm_errors.extract.mistral_conversations import ConversationsReader
from llm_errors.extract.ollama import OllamaReader
from llm_errors.extract.openai_chat import ChatReader
from llm_errors.extract.openai_realtime import RealtimeReader
from llm_errors.extract.openai_responses import ResponsesReader
from llm_errors.extract.openai_runs import RunReader
from llm_errors.extract.tasks import TASKS

CHAT, RESPONSES, MESSAGES = ChatReader(), ResponsesReader(), MessagesReader()
GENERATE_CONTENT, RESULTS, INTERACTIONS = GenerateContentReader(), ResultsReader(), InteractionsReader()
DATA, MODERATIONS, PAGES, MEDIA = DataReader("data"), DataReader("results"), DataReader("pages"), MediaReader()
REALTIME, LIVE, RUNS, INVOKE = RealtimeReader(), LiveReader(), RunReader(), InvokeReader()
CONVERSATIONS = ConversationsReader()

CONVERSE, COHERE, COHERE_V1, OLLAMA = ConverseReader(), CohereReader(), CohereV1Reader(), OllamaReader()

_BY_MARK: tuple[tuple[str, str, Reader], ...] = (
    ("type", "message", MESSAGES),
    ("object", "realtime.response", REALTIME),
    ("object", "thread.run", RUNS),
    ("object", "conversation.response", CONVERSATIONS),
)
"""Field name, value, and the reader of all answers in which the field has this value."""

_BY_FIELD: tuple[tuple[tuple[str, ...], Reader], ...] = (
    (("num_turns",), MessagesOfQuery()),
    (("choices",), CHAT),
    (("completion_message",), LLAMA),
    (("candidates", "prompt_feedback", "promptFeedback", "usage_metadata", "usageMetadata"), GENERATE_CONTENT),
    (("done_reason", "done"), OLLAMA),
    (
        (
            "generation",
            "completion",
            "completions",
            "generations",
            "inputTextTokenCount",
            "amazon-bedrock-guardrailAction",
        ),
        INVOKE,
    ),
    (("failure_code", "failureCode", "failure"), TASKS),
    (("stop_reason",), MESSAGES),
    (("stopReason",), CONVERSE),
    (("output", "incomplete_details"), RESPONSES),
    (("steps", "outputs"), INTERACTIONS),
    (("data",), DATA),
    (("results",), MODERATIONS),
    (("embeddings", "predictions", "generated_images", "generatedImages"), RESULTS),
    (("finish_reason",), COHERE),
    (("text",), MEDIA),
)


def read(result: Any) -> Evidence | None:
    """Evidence of a failure in an answer of unknown origin; None if it is healthy."""
    if not is_object(result):
        return unexpected("openai", result).suspicion
    error = field(result, "error")
    if error is not None and not items(field(result, "choices")):
        return embedded_error(_dialect(result, error), result)
    if adk.is_response(result):
        return adk.suspicion_of(result)
    marked = next((reader for name, mark, reader in _BY_MARK if text(field(result, name)) == mark), None)
    if marked is not None:
        return marked.whole(result).suspicion
    reader = _reader_of(result)
    if reader is not None:
        return (CHAT.judged(result) if reader is CHAT else reader.whole(result)).suspicion
    if hasattr(type(result), "model_fields") and "candidates" in type(result).model_fields:
        return GENERATE_CONTENT.whole(result).suspicion
    return unexpected(causes.dialect_of((f"{causes.package(type(result))}.",)) or "openai", result).suspicion


def _reader_of(result: Any) -> Reader | None:
    if _is_native(result):
        return INVOKE
    if is_object(field(result, "stop_reason")):
        return LETTA
    return next((reader for names, reader in _BY_FIELD if field(result, *names) is not None), None)


def _is_native(result: Any) -> bool:
    """Whether a model on Bedrock sent the answer.

    The lists in such an answer have names that other APIs use for other content, so the fields of the first entry decide.
    """
    part = next(iter(items(field(result, "results", "outputs"))), None)
    is_part = field(part, "outputText", "completionReason", "stop_reason") is not None
    return is_part or (field(result, "images") is not None and field(result, "finish_reasons") is not None)


def _dialect(result: Any, error: Any) -> str:
    """The dialect of an error object: Anthropic's envelope has the type `error`, Google's status is in capitals."""
    if text(field(result, "type")) == "error":
        return "anthropic"
    return "google" if text(field(error, "status")).isupper() else "openai"
