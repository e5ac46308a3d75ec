"""The page of quickstarts, in the real frameworks: each section's exports and command are run as they stand, with an
application that makes one call per request and is refused by the provider."""

import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from backend import PATIENCE, Backend, eventually

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "src/llm_errors/docs/quickstarts.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent

CALL = """\
import openai

client = openai.OpenAI(max_retries=0)


def ask():
    try:
        client.chat.completions.create(model="gpt-5-mini", messages=[])
    except openai.AuthenticationError:
        return "refused"
"""
FASTAPI = """
app.get("/")(ask)
"""
WSGI = (
    CALL
    + """
import os


def app(environ, start_response):
    ask()
    start_response("200 OK", [("content-type", "text/plain")])
    return [str(os.getpid()).encode()]
"""
)
DJANGO = (
    CALL
    + """
from django.http import HttpResponse
from django.urls import path

SECRET_KEY = "x"
ROOT_URLCONF = __name__
ALLOWED_HOSTS = ["*"]
urlpatterns = [path("", lambda request: HttpResponse(ask()))]
"""
)
MANAGE = """\
import sys

from django.core.management import execute_from_command_line

execute_from_command_line(sys.argv)
"""
CELERY = """
from celery import Celery

app = Celery("shop", broker="filesystem://", backend="file://results")
app.conf.broker_transport_options = {f"data_folder_{name}": "queue" for name in ("in", "out")}
app.task(ask, name="ask")
"""

Variables = Callable[..., dict[str, str]]
Run = Callable[..., "subprocess.Popen[str]"]


def commands(title: str) -> tuple[dict[str, str], list[str]]:
    """The variables that a section exports, and the command that it starts."""
    text = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line[2:] for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    exported = [shlex.split(line)[1:] for line in lines if line.startswith("export ")]
    (command,) = [shlex.split(line) for line in lines if line.startswith("opentelemetry-instrument ")]
    return dict(pair.split("=", 1) for words in exported for pair in words), command


def code(title: str) -> str:
    """The Python of a section."""
    text = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]


FLUSHING = code("The last seconds of a process")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def run(environment: Variables, tmp_path: Path) -> Iterator[Run]:
    """Start a section's command with more arguments, in a folder of files; ended with all of its processes."""
    running: list[subprocess.Popen[str]] = []

    def start(title: str, *more: str, **files: str) -> "subprocess.Popen[str]":
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        variables, command = commands(title)
        env = environment(**variables, PYTHONPATH=str(tmp_path), PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}")
        log = (tmp_path / "log").open("w")
        process = subprocess.Popen(
            [*command, *more],
            env=env,
            cwd=tmp_path,
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
            preexec_fn=interruptible,
        )
        log.close()
        running.append(process)
        return process

    yield start
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def interruptible() -> None:
    """Whatever pytest was started with, a foreground job takes Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def answered(url: str, process: "subprocess.Popen[str]", folder: Path) -> str:
    """The answer to the first request that the server takes."""

    def get() -> str:
        assert process.poll() is None, (folder / "log").read_text()
        try:
            return str(urllib.request.urlopen(url, timeout=PATIENCE).read().decode())
        except urllib.error.URLError:
            return ""

    return str(eventually(get, f"an answer of {url}"))


def stop(process: "subprocess.Popen[str]", how: signal.Signals = signal.SIGTERM) -> None:
    """As a container platform does, or by Ctrl-C."""
    process.send_signal(how)
    process.wait(PATIENCE)


def test_fastapi(run: Run, backend: Backend, tmp_path: Path) -> None:
    port = free_port()
    server = run("FastAPI", "--port", str(port), app=CALL + code("FastAPI") + FASTAPI, flushing=FLUSHING)
    assert answered(f"http://127.0.0.1:{port}/", server, tmp_path) == '"refused"'
    stop(server)
    assert backend.count("llm_errors_total", service_name="shop", llm_error_class="AUTH") == 1


def test_django(run: Run, backend: Backend, tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    server = run("Django", address, manage=MANAGE, shop__settings=DJANGO, shop____init__="")
    assert answered(f"http://{address}/", server, tmp_path) == "refused"
    stop(server, signal.SIGINT)
    assert backend.count("llm_errors_total", service_name="shop", llm_error_class="AUTH") == 1


def test_gunicorn(run: Run, backend: Backend, tmp_path: Path) -> None:
    port = free_port()
    server = run("gunicorn", "--bind", f"127.0.0.1:{port}", app=WSGI)
    workers = {answered(f"http://127.0.0.1:{port}/", server, tmp_path)}
    calls = 1
    while len(workers) < 2:
        workers.add(answered(f"http://127.0.0.1:{port}/", server, tmp_path))
        calls += 1
    stop(server)
    assert backend.count("llm_errors_total", service_name="shop", llm_error_class="AUTH") == calls
    assert len(backend.processes("llm_errors_total")) == len(workers)


def test_celery(run: Run, backend: Backend, environment: Variables, tmp_path: Path) -> None:
    (tmp_path / "queue").mkdir()
    (tmp_path / "results").mkdir()
    worker = run("Celery", shop=CALL + code("Celery") + CELERY, flushing=FLUSHING)
    send = "import shop; print([shop.app.send_task('ask').get(timeout=60) for _ in range(3)])"
    sent = subprocess.run(
        [sys.executable, "-c", send],
        env=environment(PYTHONPATH=str(tmp_path)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert sent.stdout.strip() == "['refused', 'refused', 'refused']", sent.stderr + (tmp_path / "log").read_text()
    stop(worker)
    assert backend.count("llm_errors_total", service_name="shop-worker", llm_error_class="AUTH") == 3


def test_a_script_that_is_stopped_by_a_platform(environment: Variables, backend: Backend, tmp_path: Path) -> None:
    text = PAGE.split("\n## The last seconds of a process\n")[1].split("\n## ")[0]
    handler = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[1]
    (tmp_path / "app.py").write_text(CALL + handler + "\nask()\nprint('asked', flush=True)\nsignal.pause()\n")
    variables, command = commands("Script")
    env = environment(**variables, PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}")
    with subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as script:
        assert script.stdout is not None
        assert script.stdout.readline() == "asked\n"
        stop(script)
    assert backend.count("llm_errors_total", service_name="shop", llm_error_class="AUTH") == 1
