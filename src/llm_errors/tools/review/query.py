"""Makes one GET request to a source of failures (Prometheus, Loki or Tempo), with the user's headers.

An answer that is not a JSON object is an error.
"""

import base64
import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlencode, urlsplit, urlunsplit
from urllib.request import Request, urlopen

TIMEOUT = 20.0
"""The timeout of a request in seconds."""


class SourceError(Exception):
    """Means that a source cannot be queried, or that its answer cannot be used."""


def header(line: str) -> tuple[str, str]:
    """Parse one `NAME:VALUE` of the command line."""
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise SourceError(f"--header {line!r} has no colon; write NAME:VALUE")
    return name.strip(), value.strip()


def headers_of(source: str) -> dict[str, str]:
    """The headers for a source, from the variable `<SOURCE>_HEADERS`.

    The variable contains `name=value,name=value` with percent-encoded values, like the OTLP settings of OpenTelemetry.
    """
    variable = f"{source.upper()}_HEADERS"
    found = {}
    for pair in filter(str.strip, os.environ.get(variable, "").split(",")):
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise SourceError(f"{variable} is not a list of name=value, separated by commas")
        found[name.strip()] = unquote(value.strip())
    return found


def get(url: str, path: str, parameters: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """The JSON object that the source answers.

    A user and password in the URL are sent as basic authentication and never printed.
    """
    if not url.startswith(("http://", "https://")):
        raise SourceError(f"not a URL: {url} (use http://host:port)")
    shown, login = _without_login(url)
    request = Request(f"{shown.rstrip('/')}{path}?{urlencode(parameters)}")
    for name, value in {**login, **headers}.items():
        request.add_unredirected_header(name, value)  # after a redirection to another host they must not be sent
    try:
        with urlopen(request, timeout=TIMEOUT) as response:
            answer = json.load(response)
    except HTTPError as error:
        error.close()
        hint = "; give credentials with --header" if error.code in (401, 403) else ""
        raise SourceError(f"cannot query {shown}: HTTP {error.code} {error.reason}{hint}") from error
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        reason_text = str(getattr(reason, "strerror", None) or reason)
        raise SourceError(f"cannot query {shown}: {reason_text[:1].lower()}{reason_text[1:]}") from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{shown} does not answer with JSON") from error
    if not isinstance(answer, dict):
        raise SourceError(f"{shown} does not answer as expected")
    return answer


def _without_login(url: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    encoded = base64.b64encode(unquote(login).encode()).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": f"Basic {encoded}"}
