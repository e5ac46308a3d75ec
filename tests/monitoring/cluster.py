"""What tests know of a cluster: how kustomize puts the files together, and what the API servers of Kubernetes and of the
Prometheus operator would accept."""

import functools
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml
from artifact_tools import REPOSITORY, STACK, tool

FOLDER = REPOSITORY / "collector-config/kubernetes"
RESOURCES = STACK.parent / "resources"
OLDEST_KUBERNETES, NEWEST_KUBERNETES = "1.30", kubernetes_validate.latest_version()

Resource = dict[str, Any]


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads `=` as Kubernetes does, a string; for YAML 1.1 it is a type of its own."""


Loader.add_constructor("tag:yaml.org,2002:value", yaml.SafeLoader.construct_yaml_str)


def build(folder: Path) -> list[Resource]:
    """The resources that `kustomize build` makes of a folder."""
    done = subprocess.run([tool("kustomize", STACK), "build", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return list(yaml.load_all(done.stdout, Loader))


def refusal(resource: Resource) -> str:
    """Why an API server would not take the resource; empty if it would."""
    group = resource["apiVersion"].partition("/")[0]
    try:
        if group == "monitoring.coreos.com":
            schema = definition(resource["kind"], resource["apiVersion"].partition("/")[2])
            jsonschema.Draft202012Validator(schema).validate(resource)
        else:
            for version in (OLDEST_KUBERNETES, NEWEST_KUBERNETES):
                kubernetes_validate.validate(resource, version, strict=True)
    except (jsonschema.ValidationError, kubernetes_validate.ValidationError) as error:
        return f"{resource['kind']} {resource['metadata']['name']}: {error.message}"
    return ""


@functools.cache
def definition(kind: str, version: str) -> Resource:
    """The operator's schema of a resource, in which a field that it does not know is a fault."""
    tool("promtool", STACK)  # skips where `make stack` has not run
    (file,) = {*RESOURCES.glob(f"*_{kind.lower()}s.yaml"), *RESOURCES.glob(f"*_{kind.lower()}es.yaml")}
    (found,) = [one for one in yaml.load(file.read_text(), Loader)["spec"]["versions"] if one["name"] == version]
    return _closed({**found["schema"]["openAPIV3Schema"]})


def _closed(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    inner: Resource = {
        key: {name: _closed(part) for name, part in value.items()} if key == "properties" else _closed(value)
        for key, value in schema.items()
    }
    if "pattern" in inner:
        inner["pattern"] = inner["pattern"].replace("(?i)", "")  # Go's way to ignore case
    if inner.get("x-kubernetes-int-or-string"):
        inner.pop("type", None)
    free = inner.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in inner
    if "properties" in inner and not free:
        inner["properties"].setdefault("apiVersion", {})
        inner["additionalProperties"] = False
    if "properties" in inner and "metadata" in inner["properties"] and "kind" in inner["properties"]:
        inner["properties"]["metadata"] = {"type": "object"}
    return inner


def named(resources: list[Resource], kind: str, name: str = "") -> Resource:
    """The one resource of a kind, or the one with this name (or this name and a hash of its content)."""
    found = [one for one in resources if one["kind"] == kind and one["metadata"]["name"].startswith(name)]
    exact = [one for one in found if one["metadata"]["name"] == name]
    (resource,) = exact or found
    return resource


def selected(resources: list[Resource], kind: str, labels: dict[str, str]) -> list[Resource]:
    """The resources of a kind that have these labels."""
    return [one for one in resources if one["kind"] == kind and labels.items() <= one["metadata"]["labels"].items()]


def pods(resources: list[Resource]) -> dict[str, Resource]:
    """The pod templates, by the name of their StatefulSet."""
    return {one["metadata"]["name"]: one["spec"]["template"] for one in resources if one["kind"] == "StatefulSet"}


def container(pod: Resource) -> Resource:
    """The only container of a pod."""
    (found,) = pod["spec"]["containers"]
    return found


def environment(resources: list[Resource], pod: Resource) -> dict[str, str]:
    """The environment of a pod's container; what Kubernetes fills in is named in angle brackets."""
    given: dict[str, str] = {}
    for source in container(pod)["envFrom"]:
        given.update(named(resources, "ConfigMap", source["configMapRef"]["name"])["data"])
    for variable in container(pod)["env"]:
        given[variable["name"]] = variable.get("value") or f"<{_source(variable['valueFrom'])}>"
    return given


def _source(given: Resource) -> str:
    field: str = given["fieldRef"]["fieldPath"] if "fieldRef" in given else given["secretKeyRef"]["key"]
    return field


def configuration(resources: list[Resource], pod: Resource) -> dict[str, str]:
    """The files below the Collector's configuration folder."""
    (name,) = [volume["configMap"]["name"] for volume in pod["spec"]["volumes"] if "configMap" in volume]
    data: dict[str, str] = named(resources, "ConfigMap", name)["data"]
    return data
