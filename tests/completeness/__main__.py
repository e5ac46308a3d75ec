"""Prints, as JSON, what the named distributions know in this environment, and what of it no rule decides."""

import json
import sys
from importlib import metadata

from tests.completeness.judging import judge
from tests.completeness.table import VOCABULARIES


def main(distributions: list[str]) -> None:
    """One object per distribution."""
    found = {}
    for row in VOCABULARIES:
        if row.distribution in distributions:
            judged = judge(row)
            found[row.distribution] = {
                "version": metadata.version(row.distribution),
                "known": judged.known,
                "undecided": judged.undecided,
            }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
