"""The SDKs of the Stainless family, a row each; who stands behind which client class."""

from llm_errors.instrument.adapters.stainless import Stainless, pairs


def _simple(sdk: str, distribution: str, versions: str, package: str, client: str, provider: str) -> Stainless:
    return Stainless(
        sdk,
        distribution,
        versions,
        package,
        "openai",
        provider,
        pairs(f"{package}._client", client),
        {client: provider},
    )


_ANTHROPIC_CLIENTS = (
    *pairs("anthropic._client", "Anthropic"),
    *pairs("anthropic.lib.bedrock._client", "AnthropicBedrock"),
    *pairs("anthropic.lib.bedrock._mantle", "AnthropicBedrockMantle"),
    *pairs("anthropic.lib.vertex._client", "AnthropicVertex"),
)
"""Foundry's, AWS' and Google Cloud's clients inherit from Anthropic's."""

_ANTHROPIC_PROVIDERS = {
    "AnthropicBedrock": "aws.bedrock",
    "AnthropicBedrockMantle": "aws.bedrock",
    "AnthropicAWS": "aws.bedrock",
    "AnthropicGoogleCloud": "gcp.vertex_ai",
    "AnthropicVertex": "gcp.vertex_ai",
    "AnthropicFoundry": "azure.ai.inference",
}
_OPENAI_PROVIDERS = {"AzureOpenAI": "azure.ai.openai", "BedrockOpenAI": "aws.bedrock"}

ADAPTERS: tuple[Stainless, ...] = (
    Stainless("openai", "openai", ">=1.66,<4", "openai", "openai", "openai",
              pairs("openai._client", "OpenAI"), _OPENAI_PROVIDERS),
    Stainless("anthropic", "anthropic", ">=0.50,<3", "anthropic", "anthropic", "anthropic",
              _ANTHROPIC_CLIENTS, _ANTHROPIC_PROVIDERS),
    _simple("groq", "groq", ">=0.13,<2", "groq", "Groq", "groq"),
    _simple("together", "together", ">=2,<4", "together", "Together", "together_ai"),
    _simple("cerebras", "cerebras-cloud-sdk", ">=1.40,<2", "cerebras.cloud.sdk", "Cerebras", "cerebras"),
    _simple("writer", "writer-sdk", ">=2,<4", "writerai", "Writer", "writer"),
    _simple("fireworks", "fireworks-ai", ">=1,<2", "fireworks", "Fireworks", "fireworks_ai"),
)  # fmt: skip
