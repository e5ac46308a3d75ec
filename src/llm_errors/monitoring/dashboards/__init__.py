"""Builds the four dashboards with grafana-foundation-sdk (the extra `generate`), as classic JSON for Grafana 10 to 13.

All of these versions can import and provision the classic schema, while the newer schema needs Grafana 12. The data source is a
variable, because `__inputs` work only in manual imports.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llm_errors.monitoring.dashboards import correctness, overview, policy, reliability
from llm_errors.monitoring.dashboards._board import TAG, Board, uid_in_set
from llm_errors.monitoring.options import Options

Documents = Mapping[str, dict[str, Any]]


def build(options: Options) -> Documents:
    """Uid in a rule set without a name -> the dashboard."""
    boards = [module.board(options) for module in (overview, reliability, correctness, policy)]
    return {board.uid: _of_set(board.document(options), boards, options) for board in boards}


def _of_set(document: dict[str, Any], boards: Sequence[Board], options: Options) -> dict[str, Any]:
    """Gives the dashboard of a named rule set its own uid, links, title and tag, so that several sets can share a Grafana."""
    name = options.name
    if not name:
        return document
    written = json.dumps(document).replace(f'"{TAG}"', f'"{TAG}-{name}"')
    for board in boards:
        named = uid_in_set(board.uid, options)
        written = written.replace(f'"uid": "{board.uid}"', f'"uid": "{named}"')
        written = written.replace(f"/d/{board.uid}", f"/d/{named}")
    renamed: dict[str, Any] = json.loads(written)
    return {**renamed, "title": f"{document['title']} ({name})"}


def panels(documents: Documents) -> dict[str, tuple[str, int]]:
    """`uid/title` of a panel -> the uid of its dashboard in Grafana, and the id of the panel.

    The uid in the key is the uid in a rule set without a name.
    """
    return {
        f"{uid}/{panel['title']}": (board["uid"], panel["id"])
        for uid, board in documents.items()
        for panel in board["panels"]
    }


def text(document: Mapping[str, Any]) -> str:
    """The JSON text of a dashboard."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
