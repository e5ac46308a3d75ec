"""What is asked of each SDK: a row per SDK, with the probe for each kind of field."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from llm_errors.providers import SDKS
from tests.completeness import enumerations, grpc_enumerations, probes, service_models
from tests.completeness.probes import Probe
from tests.completeness.walking import Value

_REASONS = r"\.(finish|stop|done|block|blocked|incomplete)_?[rR]eason$"
"""Fields that tell why an answer ended, or was not given. Each must have a probe, or be named as out of scope."""


@dataclass(frozen=True)
class Vocabulary:
    """Where an SDK declares what it knows, and how each of it is tried.

    `distribution` is the SDK's, as in `providers`. `errors` and `types` are modules, with `.*` for all below them; those that
    a release does not have are left out. `asked` pairs a pattern for `Class.field` with a probe; the first match counts.
    `beside` names what is out of scope, as the name of an exception, `Class.field` or a value of it, with the reason.
    """

    distribution: str
    errors: tuple[str, ...]
    types: tuple[str, ...] = ()
    asked: tuple[tuple[str, Probe], ...] = ()
    beside: Mapping[str, str] = field(default_factory=dict)
    declared: Callable[[], Iterable[tuple[Value, Probe | None]]] = tuple
    """What the SDK declares elsewhere than in types, with the probe of each value."""

    @cached_property
    def wanted(self) -> re.Pattern[str]:
        """Which fields are looked at."""
        return re.compile("|".join((_REASONS, *(pattern for pattern, _ in self.asked))))

    def probe(self, name: str) -> Probe | None:
        """How the values of a field are tried; None if nobody has said how."""
        return next((probe for pattern, probe in self.asked if re.search(pattern, name)), None)


_CHAT = (_REASONS, probes.chat("openai"))
_MESSAGE = (r"^(Beta|Parsed|Raw)*Message\w*\.stop_reason$", probes.messages)
_RESPONSES = (
    (r"^(Beta|Parsed)*Response\.status$", probes.response_status),
    (r"^(Beta|Parsed)*ResponseError\.code$", probes.code("openai")),
    (r"^IncompleteDetails\.reason$", probes.response_reason),
)
_WEBHOOK = "raised by the application's own check of a webhook, outside any model call"
_QUEUE = "raised over messages that the application has queued for a websocket"
_ROOT = "the root of the SDK's own: the class below it decides"
_COMMAND = "of the command line"


def _stainless(
    distribution: str, package: str, *asked: tuple[str, Probe], beside: Mapping[str, str] | None = None
) -> Vocabulary:
    return Vocabulary(distribution, (package,), (f"{package}.types.*",), (*asked, _MESSAGE, _CHAT), beside or {})


_OWN = (
    _stainless(
        "openai",
        "openai",
        *_RESPONSES,
        (r"^RealtimeResponse\.status$", probes.realtime_status),
        (r"^Run\.status$", probes.run_status),
        (r"^LastError\.code$", probes.code("openai")),
        (r"^RealtimeResponseStatus\.(reason|type)$", probes.realtime_reason),
        beside={
            "InvalidWebhookSignatureError": _WEBHOOK,
            "WebSocketConnectionClosedError": _QUEUE,
            "WebSocketQueueFullError": _QUEUE,
            "IncompleteDetails.reason = 'run_cancelled'": "the application itself ended the run of an assistant",
        },
    ),
    Vocabulary(
        "anthropic",
        ("anthropic", "anthropic.types.*"),
        ("anthropic.types.*",),
        (
            (r"^(Beta|Parsed|Raw)*(Message|Delta)\w*\.stop_reason$", probes.messages),
            (r"^\w*ErrorDetails\.error_code$", probes.code("anthropic")),
            (r"^(?!\w*(ToolResult|ManagedAgents))\w+Error(Object)?\.type$", probes.code("anthropic")),
        ),
        {
            "APIWebhookValidationError": _WEBHOOK,
            "RetryableError": "an application's own middleware asks for a retry with it",
        },
    ),
    _stainless("fireworks-ai", "fireworks", _MESSAGE),
    Vocabulary(
        "google-genai",
        ("google.genai.errors", "google.genai._gaos.errors", "google.genai._interactions"),
        ("google.genai.types", "google.genai._gaos.types.*", "google.genai._interactions.types.*"),
        (
            (r"\.finish_reason$", probes.gemini_finish),
            (r"\.block_reason$", probes.gemini_block),
            (r"^Interaction\.status$", probes.interaction),
            (r"\.turn_complete_reason$", probes.live_turn),
        ),
    ),
    Vocabulary(
        "mistralai",
        ("mistralai.client.errors", "mistralai.models"),
        ("mistralai.client.models.*", "mistralai.models.*"),
        ((r"\.finish_reason$", probes.chat("mistral")),),
    ),
    Vocabulary(
        "openrouter",
        ("openrouter.errors",),
        ("openrouter.components.*",),
        (
            (r"^\w*Responses\w*\.status$", probes.response_status),
            (r"^BodyMessage\.stop_reason$", probes.messages),
            (r"^IncompleteDetails\.reason$", probes.response_reason),
            (r"\.finish_reason$", probes.chat("openai")),
        ),
    ),
    Vocabulary(
        "orq-ai-sdk",
        ("orq_ai_sdk.models.*",),
        ("orq_ai_sdk.models.*",),
        ((r"^RunAgentTaskStatus\.state$", probes.agent_task), (_REASONS, probes.orq_finish)),
    ),
    Vocabulary(
        "cohere",
        ("cohere.errors", "cohere.core", "cohere"),
        ("cohere.types.*", "cohere.v2.types.*"),
        (
            (r"^(V2\w+|ChatMessageEndEventDelta|ParseResponse)\.finish_reason$", probes.cohere),
            (r"\.finish_reason$", probes.cohere_v1),
        ),
    ),
    Vocabulary("ollama", ("ollama", "ollama._types")),
    Vocabulary(
        "huggingface-hub",
        ("huggingface_hub.errors",),
        ("huggingface_hub.inference._generated.types.*",),
        ((r"^TextGeneration\w+\.finish_reason$", probes.generated_text), _CHAT),
        {
            "CLIError": _COMMAND,
            "CLIExtensionInstallError": _COMMAND,
            "ConfirmationError": _COMMAND,
        },
    ),
    Vocabulary(
        "botocore",
        ("botocore.exceptions",),
        beside={
            "WaiterError": "of polling, which is no model call",
            "CapacityNotAvailableError": "botocore itself catches it",
            "BotoCoreError": "the root of what botocore raises itself: the class below it decides",
            "ClientError": "the root of what services answer: its code decides",
            "EventStreamError": "the same in an event stream",
        },
        declared=service_models.declared,
    ),
    Vocabulary("aiobotocore", ("aiobotocore.response",)),
    Vocabulary("xai-sdk", ("xai_sdk.video",), declared=grpc_enumerations.declared),
    Vocabulary(
        "litellm",
        ("litellm.exceptions",),
        ("litellm.types.utils",),
        (_CHAT,),
        {"OpenAIError": _ROOT, "ModelNotMappedError": "of a look-up in the table of prices"},
    ),
    Vocabulary(
        "dspy",
        ("dspy._vendor.lm15.errors", "dspy._vendor.lm15.transports._exceptions", "dspy.utils.exceptions"),
        beside={"DSPyError": _ROOT, "LMError": _ROOT, "LM15Error": _ROOT},
    ),
    Vocabulary("google-adk", ("google.adk.errors.*", "google.adk.agents.invocation_context")),
)
_LONG_TAIL = (
    _stainless("sambanova", "sambanova", (r"^Message\w*\.stop_reason$", probes.messages)),
    Vocabulary("zeroentropy", ("zeroentropy",)),
    Vocabulary("cartesia", ("cartesia",)),
    _stainless(
        "runwayml", "runwayml", (r"^(Pending|Throttled|Cancelled|Running|Failed|Succeeded)\.status$", probes.task)
    ),
    _stainless(
        "letta-client",
        "letta_client",
        (r"^LettaStopReason\.stop_reason$|^(StopReason|InternalMessage|Step|Job)\.stop_reason$", probes.agent_stop),
        (r"^Run\.stop_reason$", probes.agent_run),
    ),
    _stainless("parallel-web", "parallel", (r"^TaskRun\.status$", probes.task)),
    Vocabulary("reka-api", ("reka.errors.*", "reka.core.*"), declared=enumerations.reasons_of_reka),
    Vocabulary(
        "sarvamai",
        ("sarvamai.errors.*", "sarvamai.core.*"),
        ("sarvamai.types.*",),
        ((r"^ErrorDetails\.code$", probes.code("openai")), _CHAT),
    ),
    Vocabulary(
        "vellum-ai",
        ("vellum.client.errors.*", "vellum.client.core.*"),
        ("vellum.client.types.*",),
        (
            (
                r"^(VellumError|VellumSdkError|WorkflowEventError|NodeExecution\w*|SdkVellumError)\.code$",
                probes.vellum_code,
            ),
            (_REASONS, probes.vellum_finish),
        ),
    ),
    Vocabulary("elevenlabs", ("elevenlabs.errors.*", "elevenlabs.core.*")),
    Vocabulary("deepgram-sdk", ("deepgram.errors.*", "deepgram.core.*")),
    Vocabulary("hume", ("hume.core.*", "hume.tts.errors.*")),
    Vocabulary(
        "twelvelabs",
        ("twelvelabs.errors.*", "twelvelabs.core.*"),
        ("twelvelabs.types.*",),
        ((_REASONS, probes.twelvelabs),),
    ),
    Vocabulary("zai-sdk", ("zai.core._errors",)),
    Vocabulary("zhipuai", ("zhipuai.core._errors",)),
    Vocabulary(
        "azure-ai-inference",
        ("azure.core.exceptions",),
        beside={"AzureError": _ROOT},
        declared=enumerations.of(probes.chat("openai"), "azure.ai.inference.models._enums:CompletionsFinishReason"),
    ),
    Vocabulary("ai21", ("ai21.errors",)),
    Vocabulary("voyageai", ("voyageai.error",)),
    Vocabulary("gigachat", ("gigachat.exceptions",), beside={"GigaChatException": _ROOT}),
    Vocabulary(
        "fish-audio-sdk",
        ("fishaudio.exceptions",),
        beside={"FishAudioError": _ROOT},
    ),
    Vocabulary("dashscope", ("dashscope.common.error",), beside={"DashScopeException": _ROOT}),
    Vocabulary("ibm-watsonx-ai", ("ibm_watsonx_ai.wml_client_error",), beside={"WMLClientError": _ROOT}),
    Vocabulary(
        "replicate",
        ("replicate.exceptions",),
        declared=enumerations.literals(probes.prediction, "replicate.prediction", "Prediction", "status"),
    ),
    Vocabulary(
        "google-ai-generativelanguage",
        ("google.generativeai.types.generation_types",),
        declared=enumerations.both(
            enumerations.of(
                probes.gemini_finish, "google.ai.generativelanguage_v1beta:Candidate.FinishReason", names=True
            ),
            enumerations.of(
                probes.gemini_block,
                "google.ai.generativelanguage_v1beta:GenerateContentResponse.PromptFeedback.BlockReason",
                names=True,
            ),
        ),
    ),
    Vocabulary(
        "google-cloud-aiplatform",
        ("vertexai.generative_models._generative_models",),
        declared=enumerations.both(
            enumerations.of(probes.gemini_finish, "google.cloud.aiplatform_v1:Candidate.FinishReason", names=True),
            enumerations.of(
                probes.gemini_block,
                "google.cloud.aiplatform_v1:GenerateContentResponse.PromptFeedback.BlockedReason",
                names=True,
            ),
        ),
    ),
    Vocabulary(
        "aleph-alpha-client",
        ("aleph_alpha_client.aleph_alpha_client",),
        declared=enumerations.of(probes.chat("openai"), "aleph_alpha_client.chat:FinishReason"),
    ),
    Vocabulary(
        "qianfan",
        ("qianfan.errors",),
        beside={"QianfanError": _ROOT, "APIErrorCode = '0'": "it stands for success"},
        declared=enumerations.of(enumerations.qianfan_code, "qianfan.consts:APIErrorCode"),
    ),
)
_FAMILY = ("stainless", "stainless_copies")
VOCABULARIES = (
    *_OWN,
    *_LONG_TAIL,
    *(
        _stainless(row.distribution, row.package)
        for row in SDKS
        if row.family in _FAMILY and row.distribution not in {own.distribution for own in (*_OWN, *_LONG_TAIL)}
    ),
)
"""The rows. A Stainless SDK with nothing but OpenAI's finish reasons needs none of its own."""
