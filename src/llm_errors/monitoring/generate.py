"""Decides which files are generated, and writes all of them or none. It never overwrites a file that it did not generate.

All files are built in memory and written to temporary files before the first of them is renamed. Dashboards need the Grafana
SDK from the extra `generate`; rules and routing do not.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llm_errors.monitoring import (
    alertmanager,
    grafana_alerting,
    kubernetes,
    provisioning,
    readme,
    rules,
    runbooks,
    slo_formats,
    yaml_text,
)
from llm_errors.monitoring.arguments import OptionError
from llm_errors.monitoring.marker import MARKER, is_generated
from llm_errors.monitoring.options import Options

PIPELINE = "collector/llm-pipeline.rules.yml"
OWNED = ("prometheus", "grafana", "provisioning", "slo", "runbooks", "collector", "kubernetes")
"""Folders that are searched for files that an earlier version generated and this version does not."""
_IN_CHECKOUT = {PIPELINE: "collector-config/llm-pipeline.rules.yml", "kubernetes": "collector-config/kubernetes"}
"""File or folder below the output folder -> its path in a checkout, where it is beside the Collector's configuration."""


def header(options: Options, *notes: str) -> str:
    """The comment at the beginning of each YAML file."""
    origin = f"{MARKER} from the taxonomy; change it there or by arguments, not here."
    return "\n".join((origin, f"Objective {options.objective:g} % over {options.window}.", *notes))


def without_sdk(options: Options) -> dict[str, str]:
    """Path below the output folder -> the text of the file, for files that need no Grafana SDK. Raises `OSError`."""
    documents: dict[str, tuple[Any, ...]] = {
        "prometheus/llm-errors.rules.yml": (rules.rule_file(options),),
        "prometheus/prometheusrule.yml": (
            rules.prometheus_rule(options),
            "Give it the labels that the ruleSelector of your Prometheus asks for.",
        ),
        PIPELINE: (
            rules.pipeline_file(options),
            "The last group of llm-errors.rules.yml alone, for a Prometheus that watches Collectors only.",
            "Load this file or llm-errors.rules.yml, not both.",
        ),
        "alertmanager.yml": (
            alertmanager.configuration(options),
            "A complete configuration: copy it and replace the receivers.",
            "To extend an existing configuration use alertmanager-merge.yml.",
        ),
        "alertmanager-merge.yml": (
            alertmanager.to_merge(options),
            "Add the entries of each list to the list of the same name in your alertmanager.yml. Put the route before any",
            "route that matches everything. Then replace the receivers.",
        ),
        "alertmanagerconfig.yml": (
            alertmanager.resource(options),
            "Copy it, replace the receivers, and set alertmanagerConfigMatcherStrategy in the Alertmanager resource to None:",
            "otherwise the operator routes alerts of this resource's own namespace only.",
        ),
        "provisioning/datasources/llm-errors.yml": (provisioning.datasources(),),
        "provisioning/dashboards/llm-errors.yml": (provisioning.dashboards(),),
        "provisioning/policies/grafana-policies.yml": (
            grafana_alerting.policies(options),
            "For provisioning/alerting of a Grafana without policies of its own: this REPLACES the whole policy tree of the",
            "organisation. In any other Grafana add these routes to your tree by hand. Replace the contact points.",
        ),
        "slo/openslo.yml": (slo_formats.open_slo(options), slo_formats.BIRTHS),
        "slo/sloth.yml": (
            slo_formats.sloth(options),
            slo_formats.BIRTHS,
            f"Run sloth with --default-slo-period={options.window}.",
        ),
    }
    texts = {path: yaml_text.dump(document, header(options, *notes)) for path, (document, *notes) in documents.items()}
    return texts | kubernetes.files(options, {})


def with_sdk(options: Options) -> dict[str, str]:
    """The dashboards, and the files that refer to their panels. Raises `ImportError` without the extra `generate`."""
    from llm_errors.monitoring.dashboards import build, panels, text  # the SDK is an extra

    built = build(options)
    boards = {board["uid"]: text(board) for board in built.values()}
    files = {f"grafana/{uid}.json": text(board) for uid, board in built.items()}
    files.update(kubernetes.files(options, boards))  # as in `without_sdk`, now with the dashboards
    managed = grafana_alerting.managed(options, panels(built))
    note = f"Needs Grafana {grafana_alerting.MINIMUM_VERSION} or newer, and the recording rules in Prometheus."
    files["provisioning/alerting/grafana-alerting.yml"] = yaml_text.dump(managed, header(options, note))
    return files


def beside(out: Path, options: Options) -> dict[str, str]:
    """The runbooks, unless `out` is the folder with the handwritten originals."""
    source = runbooks.folder()
    return {} if (out / "runbooks").resolve() == source.resolve() else runbooks.tailored(source, options)


def placed(texts: Mapping[str, str], out: Path, *, own: bool) -> dict[Path, str]:
    """Path on disk -> the text of the file. `own` means that the files are written into a checkout of llm-errors."""
    return {location(path, out, own=own): text for path, text in texts.items()}


def location(path: str, out: Path, *, own: bool) -> Path:
    """The path on disk of a file or folder, from its path below the output folder."""
    for name, moved_to in _IN_CHECKOUT.items() if own else ():
        if path == name or path.startswith(f"{name}/"):
            return Path(moved_to + path.removeprefix(name))
    return out / path


def refuse_foreign(files: Mapping[Path, str]) -> None:
    """Raises `OptionError` if a file exists that this command has not written, and `OSError` if a file cannot be read."""
    for path in files:
        if path.exists() and not is_generated(path.read_bytes()):
            raise OptionError(f"{path} is not a file that this command has written: move it, or give another --out")


def drift(files: Mapping[Path, str]) -> list[str]:
    """One line for each file that is missing or differs. Raises `OSError` if a file cannot be read."""
    missing = [f"missing: {path}" for path in files if not path.exists()]
    present = ((path, text) for path, text in files.items() if path.exists())
    return missing + [f"differs: {path}" for path, text in present if path.read_bytes() != text.encode()]


def left_over(files: Mapping[Path, str], out: Path, *, own: bool) -> list[str]:
    """One line for each file that an earlier version generated and this version does not."""
    folders = (location(folder, out, own=own) for folder in OWNED)
    present = (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file())
    return [f"left over: {path}" for path in present if path not in files and is_generated(path.read_bytes())]


def write(files: Mapping[Path, str]) -> int:
    """Write all files, and return how many of them are new or changed.

    If a file cannot be written, raises `OSError` and leaves all files as they were.
    """
    pending: dict[Path, Path] = {}
    changed = sum(not path.exists() or path.read_bytes() != text.encode() for path, text in files.items())
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            pending[path] = path.with_name(f".{path.name}.{os.getpid()}.part")
            pending[path].write_text(text, encoding="utf-8", newline="\n")
        for path, part in pending.items():
            part.replace(path)
        return changed
    finally:
        for part in pending.values():
            with contextlib.suppress(OSError):
                part.unlink()


def in_checkout() -> bool:
    """Whether the current folder is a checkout of this project."""
    project = Path("pyproject.toml")
    return project.is_file() and 'name = "llm-errors"' in project.read_text(encoding="utf-8").splitlines()


def pages() -> list[Path]:
    """The pages with generated blocks in a checkout."""
    found = [Path("README.md"), *sorted(Path("src/llm_errors/docs").glob("*.md"))]
    return [path for path in found if "<!-- generated:" in path.read_text(encoding="utf-8")]


def renewed_page(path: Path, options: Options, blocks: readme.Blocks) -> dict[Path, str]:
    """Path of a page -> its text with updated blocks. Raises `OSError`, `UnicodeDecodeError` or `OptionError`."""
    return {path: readme.rewrite(path.read_text(encoding="utf-8"), options, blocks)}
