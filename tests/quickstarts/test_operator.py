"""The image for the OpenTelemetry operator: what its Dockerfile does is done here, and an application that has neither
OpenTelemetry nor llm-errors installed is started as the operator starts it."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from backend import Backend

ROOT = Path(__file__).parents[2]
INSTRUMENTATION = ROOT / "collector-config/kubernetes/instrumentation"
OPERATORS = ("opentelemetry-distro", "opentelemetry-exporter-otlp-proto-http", "opentelemetry-instrumentation-httpx")
"""A part of what the operator's image for Python holds: enough to start it."""
APPLICATION = """\
import openai

try:
    openai.OpenAI(max_retries=0).chat.completions.create(model="gpt-5-mini", messages=[])
except openai.AuthenticationError:
    print("refused")
"""

Variables = Callable[..., dict[str, str]]


def uv(*arguments: str | Path) -> None:
    subprocess.run([Path(sys.executable).with_name("uv"), *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--wheel", "--out-dir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """The folder that the operator copies into a pod: made by the steps of the Dockerfile."""
    folder = tmp_path_factory.mktemp("image")
    for platform in ("autoinstrumentation", "autoinstrumentation-musl"):
        uv("pip", "install", "--python", sys.executable, "--target", folder / platform, *OPERATORS)
    python = folder / "python"
    uv("venv", "--seed", python)
    text = (INSTRUMENTATION / "Dockerfile").read_text().replace("\\\n", " ")
    for step, rest in re.findall(r"^(RUN|COPY) (.*)$", text, re.MULTILINE):
        if step == "RUN":
            command = re.sub(r"llm-errors==\S+", str(wheel), rest).replace("/llm-errors ", f"{folder}/llm-errors ")
            command = re.sub(r"(?<= )/llm-errors$", f"{folder}/llm-errors", command.strip())
            subprocess.run(
                ["bash", "-euc", command], check=True, capture_output=True, env={"PATH": f"{python}/bin:/usr/bin:/bin"}
            )
        else:
            *_, source, target = shlex.split(rest)
            shutil.copytree(f"{folder}{source}", f"{folder}{target}", dirs_exist_ok=True)
    return folder / "autoinstrumentation"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The application's own environment: an SDK, nothing else."""
    folder = tmp_path_factory.mktemp("application")
    uv("venv", folder)
    uv("pip", "install", "--python", folder / "bin/python", "openai")
    return folder / "bin/python"


@pytest.fixture
def injected(image: Path, environment: Variables) -> dict[str, str]:
    """The environment that the operator gives a container, from our resource."""
    spec = yaml.safe_load((INSTRUMENTATION / "instrumentation.yaml").read_text())["spec"]
    given = {one["name"]: one["value"] for one in spec["python"]["env"]}
    return environment(
        **given,
        PYTHONPATH=f"{image}/opentelemetry/instrumentation/auto_instrumentation:{image}",
        OTEL_SERVICE_NAME="shop",
        OTEL_RESOURCE_ATTRIBUTES="service.namespace=web,service.instance.id=web.shop-1.app,k8s.namespace.name=web",
    )


def test_an_application_without_any_of_it_installed_is_observed(
    python: Path, injected: dict[str, str], backend: Backend
) -> None:
    done = subprocess.run([python, "-c", APPLICATION], env=injected, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "refused\n", "")
    assert backend.count("llm_errors_total", service_name="shop", llm_error_class="AUTH") == 1
    assert backend.failures == ["AUTH/invalid_key from openai gpt-5-mini: Incorrect API key"]


def test_doctor_runs_in_the_container_and_finds_no_fault(python: Path, injected: dict[str, str]) -> None:
    done = subprocess.run(
        [python, "-m", "llm_errors", "doctor"], env=injected, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All checks passed." in done.stdout
