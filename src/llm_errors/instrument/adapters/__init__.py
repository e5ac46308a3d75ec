"""The adapters, one module per SDK family: the class for each family, and an instance for every row in `providers`."""

from llm_errors.instrument.adapters.adk import GoogleAdk
from llm_errors.instrument.adapters.ai21 import Ai21
from llm_errors.instrument.adapters.aleph_alpha import AlephAlpha
from llm_errors.instrument.adapters.azure_inference import AzureInference
from llm_errors.instrument.adapters.botocore import Botocore
from llm_errors.instrument.adapters.cartesia_sockets import CartesiaSockets
from llm_errors.instrument.adapters.claude_agent import ClaudeAgent
from llm_errors.instrument.adapters.cohere import Cohere
from llm_errors.instrument.adapters.dashscope import Dashscope
from llm_errors.instrument.adapters.dspy_engine import DspyEngine
from llm_errors.instrument.adapters.elevenlabs_sockets import ElevenLabsSockets
from llm_errors.instrument.adapters.fern import Fern
from llm_errors.instrument.adapters.fern_sockets import FernSockets
from llm_errors.instrument.adapters.fish_audio import FishAudio
from llm_errors.instrument.adapters.frameworks import Framework
from llm_errors.instrument.adapters.gapic import Gapic
from llm_errors.instrument.adapters.gigachat import GigaChat
from llm_errors.instrument.adapters.google_genai import GoogleGenai
from llm_errors.instrument.adapters.google_interactions import GoogleInteractions
from llm_errors.instrument.adapters.google_live import GoogleLive
from llm_errors.instrument.adapters.huggingface import HuggingFace
from llm_errors.instrument.adapters.litellm import LiteLlm
from llm_errors.instrument.adapters.ollama import Ollama
from llm_errors.instrument.adapters.openai_sockets import OpenAISockets
from llm_errors.instrument.adapters.qianfan import Qianfan
from llm_errors.instrument.adapters.replicate import Replicate
from llm_errors.instrument.adapters.speakeasy import Speakeasy
from llm_errors.instrument.adapters.stainless import Stainless
from llm_errors.instrument.adapters.stainless_copies import StainlessCopies
from llm_errors.instrument.adapters.voyageai import VoyageAi
from llm_errors.instrument.adapters.watsonx import Watsonx
from llm_errors.instrument.adapters.xai import XaiSdk
from llm_errors.instrument.protocol import Adapter
from llm_errors.providers import OBSERVED

FAMILIES: dict[str, type[Adapter]] = {
    "stainless": Stainless,
    "stainless_copies": StainlessCopies,
    "google_genai": GoogleGenai,
    "google_interactions": GoogleInteractions,
    "google_live": GoogleLive,
    "openai_sockets": OpenAISockets,
    "google_adk": GoogleAdk,
    "speakeasy": Speakeasy,
    "botocore": Botocore,
    "ollama": Ollama,
    "huggingface": HuggingFace,
    "cohere": Cohere,
    "fern": Fern,
    "fern_sockets": FernSockets,
    "cartesia_sockets": CartesiaSockets,
    "elevenlabs_sockets": ElevenLabsSockets,
    "framework": Framework,
    "azure_inference": AzureInference,
    "ai21": Ai21,
    "voyageai": VoyageAi,
    "dashscope": Dashscope,
    "litellm": LiteLlm,
    "claude_agent": ClaudeAgent,
    "dspy_engine": DspyEngine,
    "xai": XaiSdk,
    "gapic": Gapic,
    "watsonx": Watsonx,
    "replicate": Replicate,
    "qianfan": Qianfan,
    "aleph_alpha": AlephAlpha,
    "gigachat": GigaChat,
    "fish_audio": FishAudio,
}

ALL: tuple[Adapter, ...] = tuple(FAMILIES[row.family](row) for row in OBSERVED)
