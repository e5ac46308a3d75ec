"""The table of observed SDKs and known providers, from which all other lists derive.

Adapters, `classify`, `explain`, recovery, `doctor`, rule files and the tests' lists read these rows. Standard library only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

DEFAULT_BACKOFF: Final = 30.0
"""Seconds before the second attempt after a rate limit, if the row of the provider names no other delay."""


@dataclass(frozen=True)
class Client:
    """A client class to patch: the base of all classes that applications create, which are patched with it.

    Rows name the synchronous class; its async twin is `Async` + name.

    `provider` is set if the class always talks to one provider; otherwise the host decides.
    """

    module: str
    name: str
    provider: str = ""
    methods: tuple[str, ...] = ()
    """The methods of a resource class that are model calls. The async twin of a method is `NAME_async` in the same class."""

    @property
    def pair(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """The synchronous class and its async twin, each as module and name."""
        return (self.module, self.name), (self.module, f"Async{self.name}")


_GENERATED: Final = ("", "_v1", "_v1beta1")
"""What follows the name of a Google package in the names of its packages with generated clients."""


@dataclass(frozen=True)
class Sdk:
    """An SDK, or a part of it that needs another adapter, such as one generation or its websockets.

    `name` is the name in `LLM_ERRORS_DISABLED_SDKS`, `distribution` the name on PyPI, and `versions` the tested range, as a
    version specifier. `package` is the module that contains the clients, `dialect` the wire dialect of answers and errors,
    and `family` the adapter that observes the SDK. `provider` is used if neither the class nor the host identifies the
    provider. `raises_from` lists other packages whose exceptions its calls raise.
    """

    name: str
    distribution: str
    versions: str
    package: str
    dialect: str
    family: str
    provider: str
    clients: tuple[Client, ...] = ()
    variants: tuple[tuple[str, str], ...] = ()
    """Subclasses of `clients` that talk to another provider: class name and provider."""
    raises_from: tuple[str, ...] = ()

    @property
    def roots(self) -> tuple[str, ...]:
        """The top-level package of the SDK, or two levels in the `google` namespace, and the packages in `raises_from`."""
        parts = self.package.split(".")
        own = ".".join(parts[:2]) if parts[0] == "google" else parts[0]
        return (own, *self.raises_from)

    @property
    def begins_with(self) -> tuple[str, ...]:
        """The import of the SDK begins with the import of one of these packages.

        `google.cloud` is not used for this: many distributions share it, and some of them put it in `sys.modules` at every
        start of Python.
        """
        shared = self.package.startswith("google.cloud.")
        return tuple(self.package + version for version in _GENERATED) if shared else self.roots[:1]

    @property
    def provider_by_class(self) -> dict[str, str]:
        """Name of the sync class -> provider, for classes that always talk to one provider."""
        return {**{c.name: c.provider for c in self.clients if c.provider}, **dict(self.variants)}


@dataclass(frozen=True)
class Provider:
    """A provider. `name` is the value of `gen_ai.provider.name`, from the GenAI conventions if they define one.

    `dialect` is the wire dialect of its API. `hosts` are host suffixes; they match whole labels, unless they begin with a
    dash. `host_begins` is a prefix that the host must also have. `aliases` are other names in use. `models` are prefixes
    that only models of this provider have. `backoff` is the delay in seconds before the second attempt after a rate limit.
    """

    name: str
    dialect: str = "openai"
    hosts: tuple[str, ...] = ()
    host_begins: str = ""
    port: int | None = None
    """The default port of a self-hosted server."""
    aliases: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    backoff: float = DEFAULT_BACKOFF
    status_page: str = ""


_OPENAI_VARIANTS = (("AzureOpenAI", "azure.ai.openai"), ("BedrockOpenAI", "aws.bedrock"))
_GENAI = ("google.api_core", "google.auth", "grpc")


def _openai_like(name: str, distribution: str, versions: str, package: str, client: str, provider: str) -> Sdk:
    """The row of an SDK that Stainless generated, with one client class, in the openai dialect."""
    clients = (Client(f"{package}._client", client, provider),)
    return Sdk(name, distribution, versions, package, "openai", "stainless", provider, clients)


def _resources(package: str, **methods: str) -> tuple[Client, ...]:
    """The resource classes of an SDK that Speakeasy generated.

    Each keyword is a module and a class, joined with two underscores. Its value lists the methods that are model calls.
    """
    return tuple(
        Client(f"{package}.{module}", name, methods=tuple(methods[key].split()))
        for key in methods
        for module, _, name in (key.partition("__"),)
    )


def _mistral(package: str, versions: str, provider: str) -> Sdk:
    """The row of mistralai, or of the copy of its classes for Azure or Google Cloud."""
    clients = _resources(
        package,
        chat__Chat="complete stream",
        fim__Fim="complete stream",
        agents__Agents="complete stream",
        conversations__Conversations="start start_stream append append_stream restart restart_stream",
        responses__Responses="create",
        embeddings__Embeddings="create",
        classifiers__Classifiers="moderate moderate_chat classify classify_chat",
        ocr__Ocr="process",
        transcriptions__Transcriptions="complete stream",
        speech__Speech="complete",
    )
    return Sdk("mistral", "mistralai", versions, package, "mistral", "speakeasy", provider, clients)


SDKS: Final[tuple[Sdk, ...]] = (
    Sdk("openai", "openai", ">=1.66,<4", "openai", "openai", "stainless", "openai",
        clients=(Client("openai._client", "OpenAI"),), variants=_OPENAI_VARIANTS),
    # The same clients open websockets: Realtime, and in newer releases the Responses API.
    Sdk("openai", "openai", ">=1.66,<4", "openai", "openai", "openai_sockets", "openai", variants=_OPENAI_VARIANTS),
    Sdk("anthropic", "anthropic", ">=0.50,<3", "anthropic", "anthropic", "stainless", "anthropic",
        clients=(Client("anthropic._client", "Anthropic"),
                 Client("anthropic.lib.bedrock._client", "AnthropicBedrock", "aws.bedrock"),
                 Client("anthropic.lib.bedrock._mantle", "AnthropicBedrockMantle", "aws.bedrock"),
                 Client("anthropic.lib.vertex._client", "AnthropicVertex", "gcp.vertex_ai")),
        variants=(("AnthropicAWS", "aws.bedrock"), ("AnthropicGoogleCloud", "gcp.vertex_ai"),
                  ("AnthropicFoundry", "azure.ai.inference"))),
    _openai_like("groq", "groq", ">=0.13,<2", "groq", "Groq", "groq"),
    _openai_like("together", "together", ">=2,<4", "together", "Together", "together_ai"),
    _openai_like("cerebras", "cerebras-cloud-sdk", ">=1.40,<2", "cerebras.cloud.sdk", "Cerebras", "cerebras"),
    _openai_like("writer", "writer-sdk", ">=2,<4", "writerai", "Writer", "writer"),
    _openai_like("fireworks", "fireworks-ai", ">=1,<2", "fireworks", "Fireworks", "fireworks_ai"),
    _openai_like("perplexity", "perplexityai", ">=0.46,<1", "perplexity", "Perplexity", "perplexity"),
    _openai_like("sambanova", "sambanova", ">=1.13,<2", "sambanova", "SambaNova", "sambanova"),
    _openai_like("llama-api", "llama-api-client", ">=0.6,<1", "llama_api_client", "LlamaAPIClient", "meta"),
    _openai_like("llama-stack", "llama-stack-client", ">=0.2,<1", "llama_stack_client", "LlamaStackClient", "llama_stack"),
    _openai_like("zeroentropy", "zeroentropy", ">=0,<1", "zeroentropy", "ZeroEntropy", "zeroentropy"),
    _openai_like("cartesia", "cartesia", ">=4,<5", "cartesia", "Cartesia", "cartesia"),
    _openai_like("runwayml", "runwayml", ">=5,<6", "runwayml", "RunwayML", "runwayml"),
    _openai_like("letta", "letta-client", ">=1,<2", "letta_client", "Letta", "letta"),
    _openai_like("parallel", "parallel-web", ">=1.3,<2", "parallel", "Parallel", "parallel"),
    # Portkey calls its gateway through its own copy of the openai SDK.
    Sdk("portkey", "portkey-ai", ">=2.3,<3", "portkey_ai._vendor.openai", "openai", "stainless", "portkey",
        clients=(Client("portkey_ai._vendor.openai._client", "OpenAI"),)),
    # Copies of a Stainless client that are maintained by hand.
    Sdk("zai", "zai-sdk", ">=0.2,<1", "zai", "openai", "stainless_copies", "zai",
        clients=(Client("zai._client", "ZaiClient"), Client("zai._client", "ZhipuAiClient"))),
    Sdk("zhipuai", "zhipuai", ">=2.1,<3", "zhipuai", "openai", "stainless_copies", "zai",
        clients=(Client("zhipuai._client", "ZhipuAI"),)),
    Sdk("volcengine", "volcengine-python-sdk", ">=5,<6", "volcenginesdkarkruntime", "openai", "stainless_copies",
        "volcengine", clients=(Client("volcenginesdkarkruntime._client", "Ark", "volcengine"),)),
    Sdk("google-genai", "google-genai", ">=1.30,<4", "google.genai", "google", "google_genai", "gcp.gemini",
        raises_from=_GENAI),
    # google-genai implements interactions separately: as generated code since 2.0, as a Stainless client before.
    Sdk("google-genai", "google-genai", ">=2,<4", "google.genai._gaos", "google", "google_interactions", "gcp.gemini"),
    Sdk("google-genai", "google-genai", ">=1.55,<2", "google.genai._interactions", "google", "stainless", "gcp.gemini",
        clients=(Client("google.genai._interactions._client", "GeminiNextGenAPIClient"),)),
    Sdk("google-genai", "google-genai", ">=1.30,<4", "google.genai.live", "google", "google_live", "gcp.gemini"),
    _mistral("mistralai.client", ">=2,<4", "mistral_ai"),
    _mistral("mistralai.azure.client", ">=2,<4", "azure.ai.inference"),
    _mistral("mistralai.gcp.client", ">=2,<4", "gcp.vertex_ai"),
    _mistral("mistralai", ">=1,<2", "mistral_ai"),
    Sdk("openrouter", "openrouter", ">=1,<2", "openrouter", "openai", "speakeasy", "openrouter", clients=_resources(
        "openrouter", chat__Chat="send", responses__Responses="send", beta_responses__BetaResponses="send",
        embeddings__Embeddings="generate", rerank__Rerank="rerank", images__Images="generate",
        video_generation__VideoGeneration="generate", stt__STT="create_transcription create_transcription_multipart",
        tts__TTS="create_speech", decisions__Decisions="create", systemone__SystemOne="create")),
    Sdk("orq", "orq-ai-sdk", ">=4.17,<5", "orq_ai_sdk", "openai", "speakeasy", "orq", clients=_resources(
        "orq_ai_sdk", orq_completions__OrqCompletions="create", completions__Completions="create",
        responses__Responses="create", embeddings__Embeddings="create", rerank__Rerank="create",
        moderations__Moderations="create", classify__Classify="create", decisions__Decisions="create",
        router__Router="ocr", generations__Generations="create", edits__Edits="create", variations__Variations="create",
        speech__Speech="create", transcriptions__Transcriptions="create", translations__Translations="create",
        deployments__Deployments="invoke stream", agents__Agents="invoke run stream stream_run",
        orq_responses__OrqResponses="create")),
    Sdk("botocore", "botocore", ">=1.34,<2", "botocore", "bedrock", "botocore", "aws.bedrock", raises_from=("boto3",)),
    Sdk("aiobotocore", "aiobotocore", ">=2.13,<4", "aiobotocore", "bedrock", "botocore", "aws.bedrock"),
    Sdk("cohere", "cohere", ">=5.15,<8", "cohere", "cohere", "cohere", "cohere"),
    Sdk("reka", "reka-api", ">=3,<4", "reka", "openai", "fern", "reka"),
    Sdk("sarvam", "sarvamai", ">=0.1.39,<1", "sarvamai", "openai", "fern", "sarvam"),
    Sdk("elevenlabs", "elevenlabs", ">=2.78,<3", "elevenlabs", "openai", "fern", "elevenlabs"),
    Sdk("deepgram", "deepgram-sdk", ">=7,<8", "deepgram", "openai", "fern", "deepgram"),
    Sdk("hume", "hume", ">=0.14,<1", "hume", "openai", "fern", "hume"),
    # The same SDKs open websockets, and so does cartesia.
    Sdk("cartesia", "cartesia", ">=4,<5", "cartesia", "openai", "cartesia_sockets", "cartesia"),
    Sdk("sarvam", "sarvamai", ">=0.1.39,<1", "sarvamai", "openai", "fern_sockets", "sarvam"),
    Sdk("elevenlabs", "elevenlabs", ">=2.78,<3", "elevenlabs", "openai", "elevenlabs_sockets", "elevenlabs"),
    Sdk("deepgram", "deepgram-sdk", ">=7,<8", "deepgram", "openai", "fern_sockets", "deepgram"),
    Sdk("hume", "hume", ">=0.14,<1", "hume", "openai", "fern_sockets", "hume"),
    Sdk("twelvelabs", "twelvelabs", ">=1.3,<2", "twelvelabs", "openai", "fern", "twelvelabs"),
    Sdk("vellum", "vellum-ai", ">=1.14,<2", "vellum.client", "openai", "fern", "vellum"),
    Sdk("huggingface", "huggingface-hub", ">=1,<3", "huggingface_hub", "openai", "huggingface", "hugging_face"),
    Sdk("ollama", "ollama", ">=0.4,<1", "ollama", "ollama", "ollama", "ollama"),
    Sdk("azure-inference", "azure-ai-inference", ">=0,<2", "azure.ai.inference", "openai", "azure_inference",
        "azure.ai.inference"),
    Sdk("ai21", "ai21", ">=4.3,<5", "ai21", "openai", "ai21", "ai21"),
    # google-generativeai and the model classes of vertexai call these generated clients.
    Sdk("google-generativeai", "google-ai-generativelanguage", ">=0.6.15,<1", "google.ai.generativelanguage", "google", "gapic",
        "gcp.gemini", raises_from=("google.generativeai",)),
    Sdk("vertexai", "google-cloud-aiplatform", ">=2,<3", "google.cloud.aiplatform", "google", "gapic", "gcp.vertex_ai",
        raises_from=("vertexai",)),
    Sdk("watsonx", "ibm-watsonx-ai", ">=1.8,<2", "ibm_watsonx_ai", "openai", "watsonx", "ibm.watsonx.ai"),
    Sdk("replicate", "replicate", ">=1,<2", "replicate", "openai", "replicate", "replicate"),
    Sdk("qianfan", "qianfan", ">=0.4.12,<1", "qianfan", "openai", "qianfan", "baidu"),
    Sdk("aleph-alpha", "aleph-alpha-client", ">=11,<12", "aleph_alpha_client", "openai", "aleph_alpha", "aleph_alpha"),
    Sdk("dashscope", "dashscope", ">=2,<3", "dashscope", "openai", "dashscope", "alibaba_cloud"),
    Sdk("voyageai", "voyageai", ">=0.5,<1", "voyageai", "openai", "voyageai", "voyageai"),
    Sdk("gigachat", "gigachat", ">=0.2.3,<1", "gigachat", "openai", "gigachat", "gigachat"),
    Sdk("fish-audio", "fish-audio-sdk", ">=1.3,<2", "fishaudio", "openai", "fish_audio", "fish_audio"),
    # litellm converts every answer and every error to the openai dialect. The provider differs from call to call.
    Sdk("litellm", "litellm", ">=1.75,<2", "litellm", "openai", "litellm", "other"),
    Sdk("xai", "xai-sdk", ">=1.4,<2", "xai_sdk", "xai", "xai", "x_ai"),
    # dspy calls models through litellm, or with its own engine, which this row observes.
    Sdk("dspy", "dspy", ">=3.4,<4", "dspy._vendor.lm15", "openai", "dspy_engine", "other"),
    Sdk("google-adk", "google-adk", ">=2,<3", "google.adk", "google", "google_adk", "other"),
)  # fmt: skip

FRAMEWORKS: Final[tuple[Sdk, ...]] = (
    Sdk("openai-agents", "openai-agents", ">=0.24,<1", "agents", "", "framework", "other"),
    Sdk("claude-agent-sdk", "claude-agent-sdk", ">=0.2,<1", "claude_agent_sdk", "anthropic", "claude_agent", "anthropic"),
    Sdk("pydantic-ai", "pydantic-ai-slim", ">=2.24,<3", "pydantic_ai", "", "framework", "other"),
    Sdk("instructor", "instructor", ">=1.15.4,<2", "instructor", "", "framework", "other"),
    Sdk("langchain-core", "langchain-core", ">=1,<2", "langchain_core", "", "framework", "other"),
    Sdk("langgraph", "langgraph", ">=1,<2", "langgraph", "", "framework", "other"),
    Sdk("langchain", "langchain", ">=1,<2", "langchain", "", "framework", "other"),
    Sdk("smolagents", "smolagents", ">=1.26,<2", "smolagents", "", "framework", "other"),
    Sdk("haystack", "haystack-ai", ">=3.4,<4", "haystack", "", "framework", "other"),
    Sdk("agno", "agno", ">=3.1,<4", "agno", "", "framework", "other"),
    Sdk("autogen", "autogen-agentchat", ">=0.7,<1", "autogen_agentchat", "", "framework", "other"),
    Sdk("semantic-kernel", "semantic-kernel", ">=1.40,<2", "semantic_kernel", "", "framework", "other"),
    Sdk("dspy", "dspy", ">=3.4,<4", "dspy", "", "framework", "other"),
    Sdk("llama-index", "llama-index-core", ">=0.13,<1", "llama_index.core", "", "framework", "other"),
    Sdk("crewai", "crewai", ">=1.15.29,<2", "crewai", "", "framework", "other"),
    Sdk("praisonaiagents", "praisonaiagents", ">=1.7.17,<2", "praisonaiagents", "", "framework", "other"),
    Sdk("strands", "strands-agents", ">=1.62,<2", "strands", "", "framework", "other"),
)  # fmt: skip
"""Agent frameworks. They call models through the SDKs, and only their own limits and failures are observed.
`instrument.adapters.frameworks` lists the patch points."""

OBSERVED: Final = (*SDKS, *FRAMEWORKS)
"""The rows of all SDKs and frameworks. Each can be switched off by its name, and `doctor` reports on it."""

PROVIDERS: Final[tuple[Provider, ...]] = (
    Provider("openai", hosts=("openai.com",), aliases=("text-completion-openai", "openai_like"), backoff=60.0, status_page="https://status.openai.com"),
    Provider("azure.ai.openai", backoff=45.0, aliases=("azure", "azure_openai", "azure_text"), status_page="https://azure.status.microsoft",
             hosts=("openai.azure.com", "openai.azure.us", "openai.azure.cn", "cognitiveservices.azure.com")),
    Provider("azure.ai.inference", backoff=45.0, aliases=("azure_ai",), status_page="https://azure.status.microsoft",
             hosts=("models.inference.ai.azure.com", "services.ai.azure.com", "models.ai.azure.com", "models.github.ai")),
    Provider("anthropic", "anthropic", hosts=("anthropic.com",), models=("claude-", "claude."), backoff=20.0,
             aliases=("anthropic_text",), status_page="https://status.claude.com"),
    Provider("gcp.gemini", "google", hosts=("generativelanguage.googleapis.com",),
             aliases=("gemini", "google", "google-genai"), models=("gemini", "gemma", "learnlm"),
             status_page="https://status.cloud.google.com"),
    Provider("gcp.vertex_ai", "google", aliases=("vertex_ai", "vertex_ai_beta", "vertex"), status_page="https://status.cloud.google.com",
             hosts=("aiplatform.googleapis.com", "-aiplatform.googleapis.com", "aiplatform.goog")),
    Provider("gcp.gen_ai", "google", status_page="https://status.cloud.google.com"),
    Provider("aws.bedrock", "bedrock", hosts=("amazonaws.com", "api.aws"), host_begins="bedrock",
             aliases=("bedrock", "bedrock_mantle"), status_page="https://health.aws.amazon.com/health/status"),
    Provider("aws.sagemaker", "bedrock", hosts=("amazonaws.com", "api.aws"), host_begins="runtime.sagemaker",
             aliases=("sagemaker", "sagemaker_chat", "sagemaker_nova"), status_page="https://health.aws.amazon.com/health/status"),
    Provider("mistral_ai", "mistral", hosts=("mistral.ai",), aliases=("mistral", "codestral", "text-completion-codestral"), status_page="https://status.mistral.ai"),
    Provider("cohere", "cohere", hosts=("cohere.com", "cohere.ai"), aliases=("cohere_chat",), status_page="https://status.cohere.com"),
    Provider("groq", hosts=("groq.com",), status_page="https://groqstatus.com"),
    Provider("openrouter", hosts=("openrouter.ai",), status_page="https://status.openrouter.ai"),
    Provider("deepseek", hosts=("deepseek.com",), status_page="https://status.deepseek.com"),
    Provider("perplexity", hosts=("perplexity.ai",), status_page="https://status.perplexity.com"),
    Provider("x_ai", hosts=("x.ai",), aliases=("xai",), status_page="https://status.x.ai"),
    Provider("together_ai", hosts=("together.xyz", "together.ai"), aliases=("together",),
             status_page="https://status.together.ai"),
    Provider("fireworks_ai", hosts=("fireworks.ai",), aliases=("fireworks",), status_page="https://status.fireworks.ai"),
    Provider("cerebras", hosts=("cerebras.ai",), status_page="https://status.cerebras.ai"),
    Provider("writer", hosts=("writer.com",)),
    Provider("moonshot_ai", hosts=("moonshot.ai", "moonshot.cn"), aliases=("moonshot",)),
    Provider("alibaba_cloud", hosts=("aliyuncs.com",), aliases=("dashscope",)),
    Provider("nvidia", hosts=("nvidia.com",), aliases=("nvidia_nim",)),
    Provider("hugging_face", hosts=("huggingface.co",), aliases=("huggingface",), status_page="https://status.huggingface.co"),
    Provider("sambanova", hosts=("sambanova.ai",)),
    Provider("meta", hosts=("llama.com",), aliases=("meta_llama",)),
    Provider("portkey", hosts=("portkey.ai",)),
    Provider("llama_stack"),
    Provider("replicate", hosts=("replicate.com",)),
    Provider("baidu", hosts=("baidubce.com",), aliases=("qianfan",)),
    Provider("aleph_alpha", hosts=("aleph-alpha.com",)),
    Provider("ai21", hosts=("ai21.com",)),
    Provider("voyageai", hosts=("voyageai.com",), aliases=("voyage",)),
    Provider("zai", hosts=("z.ai", "bigmodel.cn"), aliases=("zhipu", "zhipuai")),
    Provider("volcengine", hosts=("volces.com", "bytepluses.com"), aliases=("ark",)),
    Provider("zeroentropy", hosts=("zeroentropy.dev",)),
    Provider("cartesia", hosts=("cartesia.ai",)),
    Provider("runwayml", hosts=("runwayml.com",), aliases=("runway",)),
    Provider("parallel", hosts=("parallel.ai",)),
    Provider("letta", hosts=("letta.com",)),
    Provider("reka", hosts=("reka.ai",)),
    Provider("sarvam", hosts=("sarvam.ai",), aliases=("sarvamai",)),
    Provider("elevenlabs", hosts=("elevenlabs.io",), status_page="https://status.elevenlabs.io"),
    Provider("deepgram", hosts=("deepgram.com",), status_page="https://status.deepgram.com"),
    Provider("hume", hosts=("hume.ai",)),
    Provider("twelvelabs", hosts=("twelvelabs.io",)),
    Provider("gigachat", hosts=("giga.chat", "sberbank.ru")),
    Provider("fish_audio", hosts=("fish.audio",)),
    Provider("orq", hosts=("orq.ai",)),
    Provider("vellum", hosts=("vellum.ai",)),
    Provider("ibm.watsonx.ai", hosts=("ibm.com",), aliases=("watsonx", "watsonx_text")),
    Provider("ollama", "ollama", hosts=("ollama.com",), port=11434, aliases=("ollama_chat",)),
)  # fmt: skip

_BY_NAME: Final = {n: p for p in PROVIDERS for n in (p.name, *p.aliases)}
_DIALECT_BY_ROOT: Final = {root: sdk.dialect for sdk in SDKS for root in sdk.roots}


def names(sdks: Iterable[Sdk] = OBSERVED) -> tuple[str, ...]:
    """The names of the SDKs and frameworks, without duplicates."""
    return tuple(dict.fromkeys(sdk.name for sdk in sdks))


def sdk(name: str) -> Sdk:
    """The first row of an SDK. Raises `KeyError` for an unknown name."""
    for row in OBSERVED:
        if row.name == name:
            return row
    raise KeyError(name)


def provider(name: str) -> Provider | None:
    """The row of a provider, by its name or an alias. Case is ignored."""
    return _BY_NAME.get(name.strip().lower())


def provider_names() -> tuple[str, ...]:
    """All names and aliases of the providers."""
    return tuple(_BY_NAME)


def sdk_of_provider(name: str) -> str:
    """The name of the first SDK for a provider, given by its name or an alias. Empty if there is none."""
    row = provider(name)
    return next((sdk.name for sdk in SDKS if row is not None and sdk.provider == row.name), "")


def dialects() -> tuple[str, ...]:
    """The wire dialects of the SDKs, in the order of the table, without duplicates."""
    return tuple(dict.fromkeys(sdk.dialect for sdk in SDKS if sdk.dialect))


def dialect_of_provider(name: str) -> str:
    """The wire dialect of a provider: `openai` for an unknown name, empty for an empty name."""
    row = _BY_NAME.get(name)
    return row.dialect if row is not None else "openai" if name else ""


def dialect_of_package(root: str) -> str:
    """The wire dialect of the SDK to which a top-level package belongs; empty if it belongs to none."""
    return _DIALECT_BY_ROOT.get(root, "")


@lru_cache(maxsize=256)
def provider_of_host(host: str | None, port: int | None) -> str:
    """The name of the provider at a host. The port decides for an unknown host; empty if it is unknown too."""
    name = (host or "").lower().rstrip(".")
    for row in PROVIDERS:
        if any(_ends(name, suffix) for suffix in row.hosts) and name.startswith(row.host_begins):
            return row.name
    return next((row.name for row in PROVIDERS if port is not None and row.port == port), "")


def _ends(host: str, suffix: str) -> bool:
    return host == suffix or host.endswith(suffix if suffix.startswith("-") else f".{suffix}")


def provider_of_model(model: str) -> Provider | None:
    """The provider to which a model name belongs. Each part of a path, for example `models/gemini-3`, is checked."""
    parts = model.lower().split("/")
    return next((row for row in PROVIDERS if row.models and any(p.startswith(row.models) for p in parts)), None)
