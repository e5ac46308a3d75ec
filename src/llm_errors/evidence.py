"""What is known about a failed call (`Evidence`), and how it is classified (`Classification`).

Both are frozen and contain primitive values only. They can be stored, and reference no exception and no response body.
Standard library only.
"""

from dataclasses import dataclass, field

from llm_errors.taxonomy import ErrorClass


@dataclass(frozen=True)
class Evidence:
    """One failure or suspect answer, without any object of an SDK.

    `channel` is `thrown` for an exception, and `in_band` for a failure that an answer shows. `dialect` is the wire
    dialect of codes and messages (`openai`, `anthropic`, `google`, ...; empty when unknown). `exceptions` is the chain
    from the raised exception to its root cause. Each item lists the MRO of one exception as `package.Class` (httpx2
    counts as httpx, httpcore2 as httpcore), so that rules can match classes without importing them. `codes` are the
    provider's own codes, most specific first. `facts` are findings about the content, such as `refusal`. `embedded` is
    true if the error arrived without a failed HTTP status, such as an error object inside an HTTP 200 response.
    `retry_after` is in seconds.
    """

    channel: str = "thrown"
    dialect: str = ""
    provider: str = ""
    status: int | None = None
    codes: tuple[str, ...] = ()
    finish_reason: str = ""
    block_reason: str = ""
    exceptions: tuple[tuple[str, ...], ...] = ()
    facts: frozenset[str] = field(default=frozenset())
    message: str = ""
    retry_after: float | None = None
    embedded: bool = False
    partial_output: bool = False

    @property
    def exception_type(self) -> str:
        """`package.Class` of the raised exception, or an empty string."""
        return self.exceptions[0][0] if self.exceptions else ""


@dataclass(frozen=True)
class Classification:
    """The classification of one failed call.

    `channel` is `thrown` if the call raised an exception, and `in_band` if its answer shows the failure. `rule` is the
    id of the winning rule and `evidence` the kind of fact it matched (`code`, `finish_reason`, `exception`, `status`,
    `message`, `content`). `code` is the raw provider code or finish reason (at most 64 printable characters). `message`
    is the message field of the provider's error or the text of the transport error, redacted and cut to 256 characters.
    `retry_after` is in seconds, from 0 to 3600. `partial_output` is true if part of the answer had reached the caller:
    a retry would then repeat text.
    """

    error_class: ErrorClass
    reason: str
    channel: str
    evidence: str
    rule: str
    status_code: int | None = None
    code: str = ""
    message: str = ""
    retryable: bool = False
    retry_after: float | None = None
    partial_output: bool = False
