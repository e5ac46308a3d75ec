"""Who stands behind an address: `gen_ai.provider.name` by host, for SDKs that talk to many."""

from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

BY_HOST = (
    ("openai.azure.com", "azure.ai.openai"),
    ("openai.azure.us", "azure.ai.openai"),
    ("openai.azure.cn", "azure.ai.openai"),
    ("cognitiveservices.azure.com", "azure.ai.openai"),
    ("models.inference.ai.azure.com", "azure.ai.inference"),
    ("services.ai.azure.com", "azure.ai.inference"),
    ("models.ai.azure.com", "azure.ai.inference"),
    ("openrouter.ai", "openrouter"),
    ("deepseek.com", "deepseek"),
    ("perplexity.ai", "perplexity"),
    ("groq.com", "groq"),
    ("x.ai", "x_ai"),
    ("mistral.ai", "mistral_ai"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("-aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("aiplatform.goog", "gcp.vertex_ai"),
    ("amazonaws.com", "aws.bedrock"),
    ("together.xyz", "together_ai"),
    ("together.ai", "together_ai"),
    ("fireworks.ai", "fireworks_ai"),
    ("cerebras.ai", "cerebras"),
    ("cohere.com", "cohere"),
    ("cohere.ai", "cohere"),
    ("api.aws", "aws.bedrock"),
    ("moonshot.ai", "moonshot_ai"),
    ("moonshot.cn", "moonshot_ai"),
    ("aliyuncs.com", "alibaba_cloud"),
    ("nvidia.com", "nvidia"),
    ("huggingface.co", "hugging_face"),
    ("sambanova.ai", "sambanova"),
    ("models.github.ai", "azure.ai.inference"),
    ("ibm.com", "ibm.watsonx.ai"),
    ("writer.com", "writer"),
    ("anthropic.com", "anthropic"),
    ("openai.com", "openai"),
)
"""Host suffix -> provider; values of the GenAI conventions where they have one.

A suffix is one of whole labels, unless it begins with a dash.
"""

_OLLAMA_PORT = 11434


@lru_cache(maxsize=256)
def provider_of(host: str | None, port: int | None) -> str | None:
    """The provider a host belongs to, or None for an unknown one."""
    name = (host or "").lower().rstrip(".")
    found = next(
        (p for suffix, p in BY_HOST if name == suffix or name.endswith(suffix if suffix[0] == "-" else "." + suffix)),
        None,
    )
    bedrock = name.startswith("bedrock") or found != "aws.bedrock"
    if found is not None and bedrock:
        return found
    return "ollama" if port == _OLLAMA_PORT else None


_DEFAULT_PORTS = {"https": 443, "http": 80}


def address_of(url: Any) -> tuple[str | None, int | None]:
    """Host and port of an httpx-like URL object."""
    host, port, scheme = getattr(url, "host", None), getattr(url, "port", None), getattr(url, "scheme", None)
    host = host if isinstance(host, str) and host else None
    return host, port if isinstance(port, int) else _DEFAULT_PORTS.get(str(scheme))


@lru_cache(maxsize=64)
def split_address(url: str) -> tuple[str | None, int | None]:
    """Host and port of a URL's text."""
    split = urlsplit(url)
    return split.hostname, split.port or _DEFAULT_PORTS.get(split.scheme)
