"""Draws charts over time as SVG, without scripts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Final

MOST_BUCKETS: Final = 60
_STEPS: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
"""Possible widths of a bucket in seconds."""
WIDTH: Final = 960
LEFT, RIGHT = 118, 12
"""The left and right margins of a chart, where labels have room."""
_PLOT = WIDTH - LEFT - RIGHT
_COLUMNS, _STRIP, _AXIS = 150, 30, 26
"""The heights of the columns, of one strip, and of the time labels."""


@dataclass(frozen=True)
class Buckets:
    """Counts of calls by bucket. A bucket is a period of `step` seconds.

    The first bucket begins `start` seconds after the epoch. `counts` has one counter for each bucket.
    """

    start: int
    step: int
    counts: Sequence[Counter[str]]

    def label(self, index: int) -> str:
        """The local time at which a bucket begins."""
        moment = datetime.fromtimestamp(self.start + index * self.step)
        return moment.strftime("%d %b %H:%M" if self.step >= 7200 else "%H:%M:%S" if self.step < 60 else "%H:%M")


def buckets(timeline: Mapping[int, Counter[str]]) -> Buckets:
    """Divide the time from the first to the last second into buckets of a round width, at most about sixty."""
    if not timeline:
        return Buckets(0, 1, ())
    first, last = min(timeline), max(timeline)
    step = next((s for s in _STEPS if (last - first) // s < MOST_BUCKETS), (last - first) // MOST_BUCKETS + 1)
    start = first - first % step
    counts: list[Counter[str]] = [Counter() for _ in range((last - start) // step + 1)]
    for second, found in timeline.items():
        counts[(second - start) // step].update(found)
    return Buckets(start, step, counts)


def columns(data: Buckets, layers: Mapping[str, Sequence[str]]) -> str:
    """Draw all calls as stacked columns. `layers`, from bottom to top: CSS class -> the keys of the counts that it adds up."""
    sums = [{layer: sum(c[key] for key in keys) for layer, keys in layers.items()} for c in data.counts]
    top = ceiling(max((sum(found.values()) for found in sums), default=0))
    body = [*_grid(top), *_time_labels(data, 10 + _COLUMNS)]
    for index, found in enumerate(sums):
        x, width = _place(data, index)
        y = 10.0 + _COLUMNS
        told = ", ".join(f"{count} {layer}" for layer, count in found.items() if count)
        for layer, count in found.items():
            height = _COLUMNS * count / top
            y -= height
            if count:
                body.append(_bar(x, y, width, height, layer, f"{data.label(index)}: {told}"))
    return _svg(10 + _COLUMNS + _AXIS, "Calls over time", body)


def strips(data: Buckets, rows: Sequence[tuple[str, str]]) -> str:
    """Draw a strip of small columns for each row: a key of the counts and a CSS class. Each strip has its own scale."""
    body: list[str] = []
    for row, (key, kind) in enumerate(rows):
        base = (row + 1) * _STRIP
        most = max(c[key] for c in data.counts) or 1
        body.append(f'<text x="{LEFT - 10}" y="{base - 7}" class="label end">{escape(key)}</text>')
        body.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}" class="base"/>')
        for index, counts in enumerate(data.counts):
            if counts[key]:
                x, width = _place(data, index)
                height = max(3.0, (_STRIP - 8) * counts[key] / most)
                body.append(_bar(x, base - height, width, height, kind, f"{data.label(index)}: {counts[key]} {key}"))
    body.extend(_time_labels(data, len(rows) * _STRIP))
    return _svg(len(rows) * _STRIP + _AXIS, "Failures over time, by class", body)


def ceiling(most: int) -> int:
    """The value at the top of an axis: the next round number that is not below the maximum value."""
    power = 1
    while True:
        for factor in (1, 2, 3, 4, 5, 6, 8):
            if factor * power >= most:
                return factor * power
        power *= 10


def _place(data: Buckets, index: int) -> tuple[float, float]:
    """The horizontal position and the width of the column for a bucket."""
    slot = _PLOT / max(len(data.counts), 12)
    return LEFT + index * slot + slot * 0.1, slot * 0.8


def _bar(x: float, y: float, width: float, height: float, kind: str, title: str) -> str:
    position = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {position} rx="1.5" class="{escape(kind)}"><title>{escape(title)}</title></rect>'


def _grid(top: int) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        y = 10 + _COLUMNS * (1 - share)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.0f}" y2="{y:.0f}" class="grid"/>'
        if share * top == int(share * top):
            yield f'<text x="{LEFT - 10}" y="{y + 4:.0f}" class="label end">{int(share * top)}</text>'


def _time_labels(data: Buckets, y: int) -> Iterator[str]:
    every = max(1, -(-len(data.counts) // 6))
    for index in range(0, len(data.counts), every):
        x, _ = _place(data, index)
        yield f'<text x="{x:.1f}" y="{y + 18}" class="label">{data.label(index)}</text>'


def _svg(height: int, name: str, body: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{name}">{"".join(body)}</svg>'
