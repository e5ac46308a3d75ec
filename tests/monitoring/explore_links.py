"""Links of a panel that lead to Grafana's Explore, read back as Grafana reads them."""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

IN_ROW = {"in_traces": "resource.service.name = `checkout`", "in_logs": "service_name=`checkout`"}
"""What the hidden columns of a row hold."""


@dataclass(frozen=True)
class ExploreLink:
    """One link: its targets, and the columns of the table that it reads."""

    title: str
    targets: list[dict[str, Any]]
    columns: frozenset[str]


def all_links(panel: dict[str, Any]) -> list[dict[str, Any]]:
    """Every link of a panel: its own, those of its data, and those of single fields."""
    fields = panel.get("fieldConfig", {})
    overrides = (p for override in fields.get("overrides", ()) for p in override["properties"])
    of_fields = [link for one in overrides if one["id"] == "links" for link in one["value"]]
    return [*panel.get("links", ()), *fields.get("defaults", {}).get("links", ()), *of_fields]


def explored(panel: dict[str, Any]) -> list[ExploreLink]:
    """Those that lead to Explore, with example values where a row or a series fills something in."""
    return [_read(link) for link in all_links(panel) if link["url"].startswith("/explore")]


def _read(link: dict[str, Any]) -> ExploreLink:
    (panes,) = parse_qs(urlsplit(link["url"]).query)["panes"]
    columns = frozenset(re.findall(r"\$\{__data\.fields\.(\w+):percentencode\}", panes))
    for name in columns:
        panes = panes.replace(f"${{__data.fields.{name}:percentencode}}", IN_ROW.get(name, f"some-{name}"))
    for name in set(re.findall(r"\$\{__field\.labels\.(\w+):percentencode\}", panes)):
        panes = panes.replace(f"${{__field.labels.{name}:percentencode}}", IN_ROW.get(name, f"some-{name}"))
    return ExploreLink(link["title"], json.loads(panes)["a"]["queries"], columns)
