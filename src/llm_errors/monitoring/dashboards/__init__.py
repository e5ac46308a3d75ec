"""The four dashboards, built with grafana-foundation-sdk (the extra `generate`) as classic JSON for Grafana 10 to 13.

Classic, because it imports, provisions and migrates everywhere; the newer schema fails before Grafana 12. One
variable for the data source instead of `__inputs`, because those work in manual imports only.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llm_errors.monitoring.dashboards import correctness, overview, policy, reliability
from llm_errors.monitoring.dashboards._board import TAG, Board, uid_in_set
from llm_errors.monitoring.options import Options

Documents = Mapping[str, dict[str, Any]]


def build(options: Options) -> Documents:
    """The dashboards by the uid that they have in a set of rules without a name."""
    boards = [module.board(options) for module in (overview, reliability, correctness, policy)]
    return {board.uid: _of_set(board.document(options), boards, options) for board in boards}


def _of_set(document: dict[str, Any], boards: Sequence[Board], options: Options) -> dict[str, Any]:
    """The dashboard with uids, links, title and tag of its own where several sets of rules share a Grafana."""
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
    """`uid/title` of each panel -> uid in Grafana and panel id; the first uid is that of a set without a name."""
    return {
        f"{uid}/{panel['title']}": (board["uid"], panel["id"])
        for uid, board in documents.items()
        for panel in board["panels"]
    }


def text(document: Mapping[str, Any]) -> str:
    """A dashboard as it is committed."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
