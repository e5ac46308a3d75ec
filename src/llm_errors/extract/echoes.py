"""Removes what an error message may repeat from a request: quotations, printed objects, and text after words such as `invalid`.

A user's text may itself contain quotation marks. Therefore a closing mark ends a quotation only if all words between it and the
next quotation are words of APIs (`plain_words`).
"""

import re
from itertools import islice, pairwise

from llm_errors.extract.plain_words import MODEL, PLAIN, SITES, is_identifier

ELLIPSIS = "…"

_PAIRS = {
    **{"'": "'", '"': '"', "`": "`", "“": "”", "„": "“”", "‘": "’", "«": "»", "‹": "›", "「": "」", "『": "』"},
    **{"《": "》", "【": "】", "{": "}", "[": "]", "<": ">"},
}
_SYMMETRIC = "'\"`"
_MARKS = {opener: re.compile("[" + re.escape(opener + closers) + "]") for opener, closers in _PAIRS.items()}
_CANDIDATES = 16
"""How many marks are tried as the end of a quotation. If none of them fits, the quotation ends at the last mark of the text."""
_OPENING = re.compile("[" + re.escape("".join(_PAIRS)) + "]")
_HARMLESS = re.compile(
    r"\[(?:[\d\s,.:-]{1,40}|Errno -?\d+|WinError \d+|SSL: [A-Z_]{3,60}|SSL|[a-z]{2,20}(?:_[a-z]{2,20}){1,4}|REDACTED)\]|<\d{3}>"
)
"""Matches text in brackets that no user wrote: numbers, error numbers of the operating system, a code of a vendor."""
_PARSING = re.compile(
    r"""
    (?:invalid|pars(?:e|ing)|validat|malform|unexpected|unrecogni[sz]ed|unsupported|unknown|illegal|decod|deseriali[sz]|
      unmarshal|tokeni[sz](?:e|ing)|schema|expect(?:ed|ing)|syntax|mismatch|ill-formed)\w*
  | \b(?:must|should)\s(?:not\s)?(?:be|have|match|contain|start|end)\b
  | (?:\bnot|n['’]t)\s(?:an?\s)?(?:valid|match\w*|one\sof)\b
  | \b(?:got|flagged|moderation)\b | \binstead\sof\b
  | \b(?:you|user|client|caller)\s(?:have\s)?(?:sent|said|wrote|asked|entered|typed|passed|provided|supplied)\b
  | 无效|非法|解析|校验|参数|不合法|敏感|格式|内容|無効|不正|引数|解釈|유효하지|잘못된|파싱|구문
  | \bung[uü]ltig\w* | \bnicht\slesbar | \binv[aá]lid[oa]s? | \bn[ao]o?\s(?:es\s)?v[aá]lid[oa]s?
  | \banalys(?:er|e)\b | \banalizar\b
    """,
    re.VERBOSE,
)
"""Matches words about parsing and validation, in lower case. The text after such a word may be a user's."""
_BEFORE_A_SIGN = re.compile(r"\b(\w{1,60})\b[\"'`]?\s*(?:[:：=]|->|=>)")
_REPEATED = re.compile(
    r"""\w*?(?:prompt|inputs?|contents?|texts?|messages?|quer(?:y|ies)|questions?|arg(?:ument)?s?|completions?|outputs?|
      responses?|answers?|body|payload|documents?|data|values?|fields?|strings?|instructions?|user|assistant|system|
      tools?|functions?|raw|said|sent|received|provided|submitted|given|request|phrases?|words?|terms?|snippets?|
      excerpts?|near|found|flagged|blocked|filtered|refused|rejected|denied|violat\w+|detected|here|saw|was|is|reads?)""",
    re.VERBOSE,
)
"""Matches, in lower case, names of parts of a request or an answer, and verbs that introduce a repetition of them.

If a colon or an equals sign follows such a word, the text after it may be a user's.
"""
_INDEX = re.compile(r"\[\d{0,4}\]")
_CLOSED, _COMPARED = re.compile(">(?!=)"), re.compile(r"[\s=]")
"""Match the end of a text in angle brackets, and what follows a `<` that only compares two numbers."""
_RUN = re.compile(r"…(?:[\s…]*…)+")
_TOKEN = re.compile(
    rf"""(?P<sign>[\s,;:.!?()/=<>*+–—-]+|…|\[REDACTED\])
      | (?P<named>{MODEL}(?![\w-]))
      | (?P<path>[A-Za-z][\w-]*(?:\[\d{{0,4}}\]|\.\d{{1,4}}|\.[A-Za-z_][\w-]*)+(?!\w))
      | (?P<error>[A-Z][A-Za-z]{{2,40}}(?:Error|Exception)(?!\w))
      | (?P<amount>\d[\d,.]{{0,14}}(?=\s?(?:tokens?|characters?|chars?|bytes?|seconds?|images?|items?|[KMG]?B|ms|s|px|MB)\b))
      | (?P<number>-?\d{{1,4}}(?:\.\d{{1,3}})?(?![\w.-]*\w))
      | (?P<word>[A-Za-z]+(?:[-_][A-Za-z]+)*(?:['’](?:s|t|re|ll))?(?![\w-]))""",
    re.VERBOSE,
)
_PERSONAL = re.compile(
    rf"""\b(?:https?|wss?|ftp|file|gs|s3)://(?!{SITES})[^\s'"`)\]>,]* | \bdata:[\w/+.-]{{1,60}};[^\s'"`)\]>]*
      | (?<![\w.+-])(?!(?:support|sales|help|billing|contact|security|info)@)[\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}})+
      | (?<=\S)\?[\w.%~-]+=[^\s'"`)]*                    # the query of a URL
      | (?<![\w-])\d{{3}}-\d{{2}}-\d{{4}}(?![\w-])             # social security numbers
      | (?<![\w-])(?:\d[ -]?){{13,19}}(?![\w-])            # card numbers
      | (?<![\w-])\+\d[\d ()-]{{7,18}}\d                   # telephone numbers
    """,
    re.VERBOSE,
)


def without_echoes(text: str) -> str:
    """Return the text with `…` in place of everything that a user may have written."""
    plain = _PERSONAL.sub(ELLIPSIS, text)
    clean = _without_quotes(plain)
    echo = _echo(clean)
    if echo is not None:
        start, end = echo
        kept = _known_words(clean[:start]) + clean[start:end] + _until_unknown(clean[end:])
    elif clean != plain and _echo(plain):  # such words were removed with a quotation
        kept = _known_words(clean)
    else:
        return clean
    return _RUN.sub(ELLIPSIS, kept)


def _echo(text: str) -> tuple[int, int] | None:
    """Start and end of the first words after which the text may repeat the request; None if there are none."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters change their length in lower case; they are kept as they are
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    parsing = _PARSING.search(lower)
    repeated = (m for m in _BEFORE_A_SIGN.finditer(lower) if _REPEATED.fullmatch(m[1]))
    found = min((m for m in (parsing, next(repeated, None)) if m is not None), key=re.Match.start, default=None)
    if found is None:
        return None
    start = found.start()
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return start, found.end()


def _without_quotes(text: str) -> str:
    kept: list[str] = []
    at, opening = 0, _next_opening(text, 0)
    while opening is not None:
        end = _end_of_quote(text, opening)
        keep = _HARMLESS.fullmatch(text, opening, end) or is_identifier(text[opening + 1 : end - 1])
        kept += (text[at:opening], text[opening:end] if keep else ELLIPSIS)
        at, opening = end, _next_opening(text, end)
    return "".join(kept) + text[at:]


def _next_opening(text: str, at: int) -> int | None:
    for found in _OPENING.finditer(text, at):
        if _opens(text, found.start()):
            return found.start()
    return None


def _opens(text: str, at: int) -> bool:
    """Whether the mark at this position may open a quotation. An apostrophe and an index such as `messages[0]` do not."""
    before = text[at - 1 : at]
    if text[at] == "[":
        return not ((before.isalnum() or before == "_") and _INDEX.match(text, at))
    if text[at] == "<":
        return _CLOSED.search(text, at) is not None or not _COMPARED.match(text, at + 1)
    if text[at] not in _SYMMETRIC or not (before.isalnum() or before == "_"):
        return True
    return before in "bu" and not text[max(at - 2, 0) : at - 1].isalnum()


def _end_of_quote(text: str, opening: int) -> int:
    """The end of a quotation: the first closing mark that only words of APIs follow, or else the last mark."""
    opener, closers = text[opening], _PAIRS[text[opening]]
    marks = (mark.start() for mark in _MARKS[opener].finditer(text, opening + 1))
    ends = list(islice((at for at in marks if not _is_apostrophe(text, at)), _CANDIDATES))
    for at, following in pairwise(ends):
        if text[at] in closers and _opens_plainly(text, at + 1, following, opener):
            return at + 1
    last = max(map(text.rfind, closers)) if len(ends) == _CANDIDATES else (ends or [-1])[-1]
    return last + 1 if last > opening and text[last] in closers else len(text)


def _opens_plainly(text: str, start: int, opening: int, opener: str) -> bool:
    """Whether a quotation opens at `opening`, and only words of APIs are between `start` and it."""
    return text[opening] == opener and _opens(text, opening) and _is_plain(text[start:opening])


def _is_apostrophe(text: str, at: int) -> bool:
    return text[at] in "'’" and text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum()


def _is_plain(text: str) -> bool:
    return _plain_until(text) == len(text)


def _plain_until(text: str) -> int:
    """The position of the first word that is not a word of APIs."""
    at = 0
    while at < len(text):
        end = _known(text, at)
        if end is None:
            break
        at = end
    return at


def _known(text: str, at: int) -> int | None:
    """The end of the word, number, sign or quoted identifier at this position if it belongs to an API, or None."""
    if text[at] in _PAIRS:
        harmless = _HARMLESS.match(text, at)
        if harmless:
            return harmless.end()
        end = text.find(_PAIRS[text[at]][0], at + 1) + 1
        return end if end and is_identifier(text[at + 1 : end - 1]) else None
    token = _TOKEN.match(text, at)
    if token is None:
        return None
    word = token["word"] or token["path"]
    return token.end() if not word or is_identifier(word) or _is_spoken(word) else None


def _is_spoken(word: str) -> bool:
    """Whether every part of a word is a word of APIs. Capitals (`camelCase`), dots and other signs separate the parts."""
    return all(part.lower() in PLAIN for part in _PARTS.findall(word) if part not in _ENDINGS)


_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ENDINGS = ("s", "t", "re", "ll")
"""Endings after an apostrophe, as in `model's`."""


def _until_unknown(text: str) -> str:
    """The text up to the first word that may be a user's. Everything after that word may be a user's too."""
    at = _plain_until(text)
    return text if at == len(text) else text[:at] + ELLIPSIS


def _known_words(text: str) -> str:
    """The text with `…` for each sequence of words that may be a user's."""
    kept: list[str] = []
    at = 0
    while at < len(text):
        end = _known(text, at)
        if end is None:
            end = _UNKNOWN.match(text, at).end()  # type: ignore[union-attr]  # it matches at least one character
            if kept[-1:] != [ELLIPSIS]:
                kept.append(ELLIPSIS)
        else:
            kept.append(text[at:end])
        at = end
    return "".join(kept)


_UNKNOWN = re.compile(r"\w+|.", re.DOTALL)
