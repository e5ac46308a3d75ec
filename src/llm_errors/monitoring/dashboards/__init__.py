"""The four dashboards, built with grafana-foundation-sdk (the extra `generate`) as classic JSON for Grafana 10 to 13.

Classic, because it imports, provisions and migrates everywhere; the newer schema fails before Grafana 12. One
variable for the data source instead of `__inputs`, because those work in manual imports only.
"""

import json
from collections.abc import Mapping
from typing import Any

from llm_errors.monitoring.dashboards import correctness, overview, policy, reliability
from llm_errors.monitoring.options import Options

Documents = Mapping[str, dict[str, Any]]


def build(options: Options) -> Documents:
    """The dashboards by uid."""
    boards = (module.board(options) for module in (overview, reliability, correctness, policy))
    return {board.uid: board.document(options) for board in boards}


def panels(documents: Documents) -> dict[str, tuple[str, int]]:
    """`uid/title` of each panel -> uid and panel id."""
    return {
        f"{uid}/{panel['title']}": (uid, panel["id"]) for uid, board in documents.items() for panel in board["panels"]
    }


def text(document: Mapping[str, Any]) -> str:
    """A dashboard as it is committed."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
