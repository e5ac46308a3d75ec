"""Network failures by name: the real exceptions of the real libraries, made over loopback."""

import asyncio
import builtins
import importlib
import socket
import threading
import urllib.request

import pytest

from llm_errors import classify
from llm_errors.testing.provider import Provider, Reply

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


PATIENT = 300
"""Seconds that no fault but a hanging server takes, however busy the machine."""


def _httpx(name):
    library = pytest.importorskip(name)

    def get(url, patience):
        with library.Client(timeout=patience, trust_env=False) as client:
            client.get(url)

    return get


def _httpx_async(name):
    library = pytest.importorskip(name)

    def get(url, patience):
        async def go():
            async with library.AsyncClient(timeout=patience, trust_env=False) as client:
                await client.get(url)

        asyncio.run(go())

    return get


def _requests(_):
    library = pytest.importorskip("requests")
    return lambda url, patience: library.get(url, timeout=patience)


def _urllib3(_):
    library = pytest.importorskip("urllib3")
    return lambda url, patience: library.PoolManager(retries=False, timeout=patience).request("GET", url)


def _urllib(_):
    return lambda url, patience: urllib.request.urlopen(url, timeout=patience)


def _aiohttp(_):
    library = pytest.importorskip("aiohttp")

    def get(url, patience):
        async def go():
            timeout = library.ClientTimeout(sock_read=patience, sock_connect=patience)
            async with library.ClientSession(timeout=timeout) as session, session.get(url) as response:
                await response.read()

        asyncio.run(go())

    return get


LIBRARIES = {
    "httpx": _httpx,
    "httpx2": _httpx,
    "httpx-async": lambda _: _httpx_async("httpx"),
    "httpx2-async": lambda _: _httpx_async("httpx2"),
    "requests": _requests,
    "urllib3": _urllib3,
    "urllib": _urllib,
    "aiohttp": _aiohttp,
}


@pytest.fixture
def refusing():
    """A port at which nobody listens. It stays bound, so that no other process gets it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@pytest.fixture
def garbage():
    """A server that answers a TLS greeting with plain text."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            try:
                connection, _ = server.accept()
            except OSError:
                return  # nobody came
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        yield f"https://127.0.0.1:{server.getsockname()[1]}"


FAULTS = {
    "refused": ("", "TRANSPORT/connection_refused"),
    "dns": ("", "TRANSPORT/dns"),
    "tls": ("", "TRANSPORT/tls"),
    "reset": ("reset", "TRANSPORT/disconnected"),
    "closed": ("close_at_once", "TRANSPORT/disconnected"),
    "hang": ("hang", "TIMEOUT/read"),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_network(library, fault, garbage, refusing):
    action, verdict = FAULTS[fault]
    get = LIBRARIES[library](library)
    with Provider([Reply(action=action, json={})]) as provider:
        url = {
            "refused": refusing,
            "dns": "http://nobody.invalid",
            "tls": garbage,
        }.get(fault, provider.url)
        with pytest.raises(Exception) as raised:
            get(url, 0.3 if fault == "hang" else PATIENT)
    found = classify(raised.value)
    assert f"{found.error_class}/{found.reason}" in (verdict, verdict.replace("/read", "/other")), repr(raised.value)


BY_NAME = [
    ("builtins.ConnectionResetError", "TRANSPORT/disconnected"),
    ("builtins.BrokenPipeError", "TRANSPORT/disconnected"),
    ("builtins.TimeoutError", "TIMEOUT/other"),
    ("httpx.PoolTimeout", "TIMEOUT/pool"),
    ("httpx.WriteTimeout", "TIMEOUT/write"),
    ("httpx.ConnectTimeout", "TIMEOUT/connect"),
    ("httpx.ProxyError", "TRANSPORT/proxy"),
    ("httpx.LocalProtocolError", "BAD_REQUEST/protocol"),
    ("httpcore.ReadError", "TRANSPORT/disconnected"),
    ("requests.ConnectTimeout", "TIMEOUT/connect"),
    ("requests.exceptions.ProxyError", "TRANSPORT/proxy"),
    ("requests.exceptions.ChunkedEncodingError", "TRANSPORT/disconnected"),
]


@pytest.mark.parametrize(("name", "verdict"), BY_NAME)
def test_an_exception_by_its_name(name, verdict):
    module, _, cls = name.rpartition(".")
    library = builtins if module == "builtins" else pytest.importorskip(module)
    found = classify(getattr(library, cls)("m"))
    assert f"{found.error_class}/{found.reason}" == verdict


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("UNAVAILABLE", "SERVER/unavailable"),
        ("DEADLINE_EXCEEDED", "SERVER/deadline_exceeded"),
        ("RESOURCE_EXHAUSTED", "RATE_LIMITED/requests"),
        ("UNAUTHENTICATED", "AUTH/invalid_key"),
        ("PERMISSION_DENIED", "AUTH/permission_denied"),
        ("NOT_FOUND", "NOT_FOUND/model"),
        ("INVALID_ARGUMENT", "BAD_REQUEST/invalid_parameter"),
    ],
)
def test_statuses_of_grpc(status, verdict):
    grpc = pytest.importorskip("grpc")

    class Call(grpc.RpcError):
        def code(self):
            return grpc.StatusCode[status]

        def details(self):
            return "m"

    Call.__module__ = "grpc._channel"
    found = classify(Call())
    assert f"{found.error_class}/{found.reason}" == verdict


def test_a_foreign_cause_below_a_wrapper_is_no_network_error():
    openai = pytest.importorskip("openai")
    wrapper = importlib.import_module(openai.APIConnectionError.__module__).APIConnectionError.__new__(
        openai.APIConnectionError
    )
    wrapper.__cause__ = ZeroDivisionError("m")
    assert classify(wrapper).reason == "foreign_exception"
