"""Removes credentials from a message: texts with the shape of a credential, and the value after a name such as `api_key`."""

import re

REPLACEMENT = "[REDACTED]"

_SHAPES = re.compile(
    r"""
      \b(?:bearer|basic|negotiate|digest)\s+[^\s'",;]+                  # Authorization header values
    | \beyJ[\w-]{4,}\.[\w-]*(?:\.[\w-]*)?                               # JWTs
    | (?<![A-Za-z0-9])(?:sk|pk|rk|gsk|xai|pplx|csk|tgp|fw|nvapi|hf|r8|sess|vck|lsv2)
      [-_][\w*.\-]{6,}                                                  # provider keys, including partly masked ones
    | (?<![A-Za-z0-9])(?:gh[pousr]|github_pat|glpat|xox[abprs]|npm|pypi|sg|shpat|dop_v1|hvs|AGE-SECRET-KEY)
      [-_.][\w.\-]{8,}                                                  # tokens of code hosts and other services
    | \bAIza[\w*-]{10,}                                                 # Google API keys
    | \bAQ\.[\w*-]{10,}                                                 # Google's newer keys
    | \bya29\.[\w.-]+                                                   # Google OAuth access tokens
    | \b1//[\w-]{20,}                                                   # Google OAuth refresh tokens
    | \b(?:AKIA|ASIA|ABIA|ACCA|ABSK)[A-Za-z0-9*+/=]{8,}                 # AWS access key ids, Bedrock API keys
    | \bbedrock-api-key-[\w+/=-]+
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----(?:.*?-----END[ ][A-Z ]*-----|.*)   # PEM
    | (?<=://)[^\s/@]+(?=@)                                             # user:password in a URL
    | (?<![A-Za-z0-9])[A-Za-z0-9]{32,}(?![A-Za-z0-9])                   # Azure and other bare keys
    | (?<![A-Za-z0-9+])(?=[A-Za-z0-9+/]{0,39}\d)(?-i:(?=[A-Za-z0-9+/]{0,39}[a-z])(?=[A-Za-z0-9+/]{0,39}[A-Z]))
      [A-Za-z0-9+/]{40}(?![A-Za-z0-9+=])                                # AWS secret access keys
    | (?<![\w-])(?=[\w-]*\d)(?-i:(?=[\w-]*[a-z])(?=[\w-]*[A-Z]))[\w-]{40,}   # other long random words
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_NAMED = re.compile(
    r"""(?P<name>(?<![\w-])(?:[\w-]{0,40}?(?:api[-_ ]?key|access[-_ ]?key|auth[-_]?key|subscription[-_ ]?key|gateway[-_]?key)
         |(?:[\w-]{0,40}?[-_])?(?:secret|password|passwd|pwd|credential|token)|authorization)s?
         (?:[-_ ]?(?:id|provided|key))?["']?\s*(?:[:=：]|=>)\s*(?:b?["'])?)(?P<value>(?!\d+\b)[^\s"',;)]{4,})
      | (?P<query>[?&](?:key|api_key|api-key|apikey|access_token|token|sig|signature|code)=)(?P<queried>[^\s&"']+)""",
    re.VERBOSE | re.IGNORECASE,
)
_HEADERS = re.compile(
    r"""(?P<name>\b(?:proxy-)?authorization|\b(?:set-)?cookie|\bx-[\w-]{1,60}|\b(?:[\w-]{1,40}?-)?api-key)
        (?P<sign>["']?\s*[:=]\s*|["'],\s*)(?=\S)(?P<value>[^\r\n]+)""",
    re.VERBOSE | re.IGNORECASE,
)
"""Matches a header and its value, which ends at the end of the line."""
_OF_A_HEADER = re.compile(
    r"""(?P<named>\b(?:header|trailer)s?(?:[ ](?:value|part|field|line|name|content)s?)?\b)
        (?P<between>[^'"`\r\n]{0,80}?)(?P<quoted>[bu]?(?P<quote>['"`]).*(?:(?P=quote)|\Z)|(?<=[:=]\s)\S.*)
      | (?P<refused>\b(?:invalid|illegal)\sheader\svalues?\s)[^\r\n]+""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
"""Matches a message of an HTTP library about a header that it rejects, up to the end of the name or value that it quotes."""


def without_credentials(text: str) -> str:
    """The text with every credential and every value of a header replaced."""
    clean = _OF_A_HEADER.sub(lambda m: (m["refused"] or m["named"] + m["between"]) + REPLACEMENT, text)
    clean = _HEADERS.sub(lambda m: f"{m['name']}{m['sign']}{REPLACEMENT}", clean)
    clean = _SHAPES.sub(REPLACEMENT, clean)
    return _NAMED.sub(lambda m: (m["name"] or m["query"]) + REPLACEMENT, clean)
