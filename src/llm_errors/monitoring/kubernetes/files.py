"""Decides which files for Kubernetes are generated, and in which folders they are."""

from collections.abc import Mapping
from typing import Any, Final

from llm_errors.monitoring import alertmanager, rules, yaml_text
from llm_errors.monitoring.kubernetes import applications, kustomize, scraping, workloads
from llm_errors.monitoring.kubernetes.sizing import FOR_SHORT_LIVED, LARGE, SMALL, Load
from llm_errors.monitoring.kubernetes.tiers import AGENT, GATEWAY, OTLP_HTTP, SHORT_LIVED, Tier, source
from llm_errors.monitoring.marker import MARKER
from llm_errors.monitoring.options import Options

_ORIGIN: Final = f"{MARKER}. To change something, write a layer of your own: `llm-errors docs kubernetes`."


def files(options: Options, boards: Mapping[str, str]) -> dict[str, str]:
    """Path below the output folder -> the text of the file. `boards`: uid of a dashboard -> its text.

    Raises `OSError` if the configuration files of the Collectors cannot be read.
    """
    folders = {
        "base": _base(options, boards),
        "overlays/small": _small(),
        "overlays/large": _large(),
        "components/short-lived": _short_lived(),
        "instrumentation": {
            "instrumentation.yaml": _yaml(applications.instrumentation()),
            "kustomization.yaml": _yaml(kustomize.alone("instrumentation.yaml")),
            "Dockerfile": f"# {_ORIGIN}\n{applications.DOCKERFILE}",
        },
        ".": {
            "kube-prometheus-stack.values.yaml": _yaml(
                scraping.values(options),
                notes=[
                    f"Values for the Helm chart kube-prometheus-stack, version {scraping.OLDEST_CHART} or newer; without Helm, "
                    "the same fields of the resources.",
                    scraping.retention_note(options),
                ],
            )
        },
    }
    return {
        f"kubernetes/{folder}/{name}".replace("/./", "/"): text
        for folder, written in folders.items()
        for name, text in written.items()
    }


def _base(options: Options, boards: Mapping[str, str]) -> dict[str, str]:
    written = {
        "namespace.yaml": _yaml(workloads.namespace()),
        "agent.yaml": _yaml(workloads.service_account(), workloads.service(AGENT), workloads.network_policy(AGENT)),
        "rules.yaml": _yaml(rules.prometheus_rule(options)),
        "routing.yaml": _yaml(alertmanager.resource(options)),
        "monitors.yaml": _yaml(scraping.collectors()),
        **{f"dashboards/{uid}.yaml": _yaml(kustomize.dashboard(uid, text)) for uid, text in boards.items()},
    }
    return written | {
        "kustomization.yaml": _yaml(kustomize.base(list(written), AGENT)),
        **_configuration(AGENT),
    }


def _small() -> dict[str, str]:
    written = {"collector.yaml": _yaml(*workloads.agents(SMALL.agent))}
    return written | {"kustomization.yaml": _yaml(kustomize.overlay(list(written)), notes=[_sized(SMALL)])}


def _large() -> dict[str, str]:
    to_gateways = {"TRACES_ENDPOINT": f"http://{GATEWAY.name}:{OTLP_HTTP}"}
    written = {
        "agents.yaml": _yaml(*workloads.agents(LARGE.agent, to_gateways)),
        "gateways.yaml": _yaml(*workloads.gateways(LARGE.gateway, {"NUM_TRACES": f"{LARGE.waiting_traces}"})),
    }
    return written | {
        "kustomization.yaml": _yaml(kustomize.overlay(list(written), GATEWAY), notes=[_sized(LARGE)]),
        **_configuration(GATEWAY),
    }


def _short_lived() -> dict[str, str]:
    tier = SHORT_LIVED
    written = {
        "collector.yaml": _yaml(*workloads.short_lived(FOR_SHORT_LIVED)),
        "monitors.yaml": _yaml(scraping.sums()),
    }
    note = "A Collector that adds up what Jobs, CronJobs and functions report as deltas."
    return written | {
        "kustomization.yaml": _yaml(kustomize.component(list(written), tier), notes=[note]),
        **_configuration(tier),
    }


def _configuration(tier: Tier) -> dict[str, str]:
    """Copies of the configuration files of a tier. kustomize cannot read files outside of its own folder."""
    return {f"{kustomize.CONFIGURATION}/{file}": f"# {_ORIGIN}\n{_central(source(file))}" for file in tier.files}


def _central(configuration: str) -> str:
    """The configuration without `host.name`, because a Collector for many nodes does not know the node of an application."""
    return "".join(line for line in configuration.splitlines(keepends=True) if "HOST_NAME" not in line)


def _sized(load: Load) -> str:
    gateways = f" and {load.gateways} gateways" if load.gateways else ""
    return (
        f"For {load.processes:,} processes and {load.spans_per_second:,} spans a second: "
        f"{load.agents} Collector{'s' if load.agents > 1 else ''}{gateways}."
    )


def _yaml(*documents: dict[str, Any], notes: list[str] | None = None) -> str:
    return yaml_text.dump(documents, "\n".join([_ORIGIN, *(notes or [])]))
