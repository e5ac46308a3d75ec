"""Removing credentials from a text before anything is exported."""

import re

from llm_errors.extract.fields import TEXT_LIMIT

MESSAGE_LIMIT = 256
REPLACEMENT = "[REDACTED]"

_CREDENTIAL = re.compile(
    r"""
      \b(?:bearer|basic)\s+[^\s'",;]+                                   # Authorization header values
    | \beyJ[\w-]{4,}\.[\w-]*(?:\.[\w-]*)?                               # JWTs
    | \b(?:sk|pk|rk|gsk|xai|pplx|csk|tgp|fw|nvapi|hf|r8|sess)[-_][\w*.\-]{6,}   # provider keys, also half masked ones
    | \bAIza[\w*-]{10,}                                                 # Google API keys
    | \bAQ\.[\w*-]{10,}                                                 # Google's newer keys
    | \bya29\.[\w.-]+                                                   # Google OAuth access tokens
    | \b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9*]{8,}                            # AWS access key ids
    | (?<=://)[^\s/@:]+:[^\s/@]+(?=@)                                   # user:password in a URL
    | \b[A-Za-z0-9]{32,}\b                                              # Azure and other bare keys
    | (?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])             # AWS secret access keys
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NAMED = re.compile(
    r"""(?P<name>(?:api[-_ ]?key|x-api-key|access[-_ ]?key|secret|password|passwd|token|authorization|credential)s?
         (?:[-_ ]?(?:id|provided|key))?["']?\s*[:=]\s*["']?)(?P<value>(?!\d+\b)[^\s"',;)]{4,})
      | (?P<query>[?&](?:key|api_key|access_token|token|sig)=)(?P<queried>[^\s&"']+)""",
    re.VERBOSE | re.IGNORECASE,
)


def redact(message: str) -> str:
    """The message with every credential replaced, looked at over a bounded prefix, clipped to 256 characters."""
    clean = _CREDENTIAL.sub(REPLACEMENT, message[:TEXT_LIMIT])
    clean = _NAMED.sub(lambda m: (m["name"] or m["query"]) + REPLACEMENT, clean)
    return clean[:MESSAGE_LIMIT]
