"""The dashboards' colours against Grafana's own: text at least 4.5:1, lines at least 3:1, on the dark and on the white
theme; and what a colour means.

`grafana_theme.json` has the values of Grafana 13.2 (`dashboards/screenshots/renderer/theme.mjs` writes it).
"""

import json
import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grafana_foundation_sdk", reason="dashboards need the extra `generate`")

from llm_errors.monitoring import dashboards
from llm_errors.monitoring.dashboards import _colours as colours
from llm_errors.monitoring.options import Options

THEMES = json.loads((Path(__file__).parent / "grafana_theme.json").read_text())
BOARDS = dashboards.build(Options(objectives={"chat": 99.0}))
GREEN = {colours.GOOD, colours.OK_TILE}
LIGHT_TEXT, DARK_TEXT = "rgb(247, 248, 250)", "rgb(32, 34, 38)"
"""What Grafana writes on a coloured background."""

Colour = tuple[int, int, int]
both_themes = pytest.mark.parametrize("theme", THEMES)


def read(name: str, theme: str) -> Colour:
    """A colour of a dashboard, as the theme shows it."""
    value = THEMES[theme]["text"] if name == "text" else THEMES[theme]["named"].get(name, name)
    if value.startswith("#"):
        return int(value[1:3], 16), int(value[3:5], 16), int(value[5:7], 16)
    red, green, blue = re.findall(r"\d+", value)[:3]
    return int(red), int(green), int(blue)


def linear(part: int) -> float:
    share = part / 255
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


def luminance(colour: Colour) -> float:
    red, green, blue = map(linear, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    """WCAG 2's contrast ratio."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def difference(one: Colour, other: Colour) -> float:
    """CIE 1976 colour difference; 10 is what one sees at a glance."""
    return float(sum((a - b) ** 2 for a, b in zip(lab(one), lab(other), strict=True)) ** 0.5)


def lab(colour: Colour) -> tuple[float, float, float]:
    red, green, blue = map(linear, colour)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    a, b, c = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * b - 16, 500 * (a - b), 200 * (b - c)


def on_background(colour: Colour) -> Colour:
    """The text that Grafana writes on a background: dark from a brightness of 180 on."""
    red, green, blue = colour
    return read(DARK_TEXT if (299 * red + 587 * green + 114 * blue) / 1000 > 180 else LIGHT_TEXT, "dark")


def used(panel: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The panel's colours with their use: `text`, `line` or `background`, and the field that has it ("" for all)."""
    fields, options = panel.get("fieldConfig", {}), panel.get("options", {})
    defaults = fields.get("defaults", {})
    over_time = panel["type"] in ("timeseries", "state-timeline")
    solid = options.get("colorMode") == "background_solid"
    kind = "line" if over_time else "background" if solid else "text"
    yield from ((colour, kind, "") for colour in found_in(defaults))
    for override in fields.get("overrides", []):
        properties = {one["id"]: one["value"] for one in override["properties"]}
        cell = properties.get("custom.cellOptions", {}).get("type")
        name = override["matcher"]["options"]
        use = {"color-background": "background", "color-text": "text"}.get(cell, kind)
        if panel["type"] == "table" and not cell:
            continue  # mapped to words only
        yield from ((colour, use, name) for colour in found_in(properties))


def found_in(config: dict[str, Any]) -> Iterator[str]:
    if "fixedColor" in (config.get("color") or {}):
        yield config["color"]["fixedColor"]
    yield from (step["color"] for step in (config.get("thresholds") or {}).get("steps", ()))
    for mapping in config.get("mappings", ()):
        yield from (result["color"] for result in mapping["options"].values() if "color" in result)


def each(use: str) -> list[Any]:
    return [
        pytest.param(colour, id=f"{uid}/{panel['title']}/{name}/{colour}".replace(" ", "_"))
        for uid, board in BOARDS.items()
        for panel in board["panels"]
        for colour, kind, name in sorted(set(used(panel)))
        if kind == use and colour != colours.NEUTRAL
    ]


@both_themes
@pytest.mark.parametrize("colour", each("text"))
def test_text_stands_out_from_the_panel(colour: str, theme: str) -> None:
    assert contrast(read(colour, theme), read(THEMES[theme]["panel"], theme)) >= 4.5


@both_themes
@pytest.mark.parametrize("colour", each("line"))
def test_a_line_stands_out_from_the_panel(colour: str, theme: str) -> None:
    assert contrast(read(colour, theme), read(THEMES[theme]["panel"], theme)) >= 3


@both_themes
@pytest.mark.parametrize("colour", each("background"))
def test_text_stands_out_from_its_own_background(colour: str, theme: str) -> None:
    background = read(colour, theme)
    assert contrast(on_background(background), background) >= 4.5


@both_themes
def test_grafanas_palette_by_name_stands_out_too(theme: str) -> None:
    panel = read(THEMES[theme]["panel"], theme)
    assert min(contrast(read(colour, theme), panel) for colour in THEMES[theme]["by_name"]) >= 3


@pytest.mark.parametrize("use", ["text", "line", "background"])
def test_colours_of_every_use_are_found(use: str) -> None:
    assert len(each(use)) > 5


def test_no_panel_uses_shades_of_one_colour_or_a_palette_that_is_not_tested() -> None:
    modes = set(re.findall(r'"mode": "([\w-]+)"', json.dumps(BOARDS)))
    assert not {mode for mode in modes if re.match("shades|continuous|palette", mode)} - {"palette-classic-by-name"}


@both_themes
def test_neighbours_in_the_palette_differ_at_a_glance_and_no_two_are_alike(theme: str) -> None:
    palette = [read(colour, theme) for colour in colours.PALETTE]
    assert min(difference(one, other) for one, other in pairwise([*palette, palette[0]])) > 50
    assert min(difference(one, other) for one, other in combinations(palette, 2)) > 40


@both_themes
def test_no_two_classes_look_alike(theme: str) -> None:
    shown = {name: read(colour, theme) for name, colour in colours.CLASSES.items()}
    alike = {pair: difference(shown[pair[0]], shown[pair[1]]) for pair in combinations(shown, 2)}
    assert min(alike.values()) > 15, min(alike, key=alike.__getitem__)


@both_themes
def test_a_service_or_model_never_has_the_colour_of_a_class(theme: str) -> None:
    classes = [read(colour, theme) for colour in colours.CLASSES.values()]
    palette = [read(colour, theme) for colour in colours.PALETTE]
    assert min(difference(one, other) for one in classes for other in palette) > 10


@both_themes
def test_a_series_has_the_colour_of_a_class_only_if_it_is_the_class(theme: str) -> None:
    classes = [read(colour, theme) for name, colour in colours.CLASSES.items() if colour != colours.TEXT]
    others = {
        (panel["title"], override["matcher"]["options"], one["value"]["fixedColor"])
        for board in BOARDS.values()
        for panel in board["panels"]
        if panel["type"] == "timeseries"
        for override in panel["fieldConfig"]["overrides"]
        for one in override["properties"]
        if one["id"] == "color" and override["matcher"]["options"].removesuffix(", last week") not in colours.CLASSES
    }
    assert len(others) > 20
    assert [one for one in others if min(difference(read(one[2], theme), each) for each in classes) <= 10] == []


@both_themes
def test_green_means_good_and_nothing_else_is_green(theme: str) -> None:
    good = [read(colour, theme) for colour in GREEN]
    others = {*colours.CLASSES.values(), *colours.PALETTE, *colours.CHANNELS.values(), colours.BAD, colours.WARN}
    assert min(difference(read(other, theme), green) for other in others for green in good) > 25


@pytest.mark.parametrize("uid", BOARDS)
def test_green_stands_only_for_what_is_good(uid: str) -> None:
    good = {"", "now", "Severity", "chat", "/^ ?no failures/", "no failures"}
    greens = {(p["title"], name) for p in BOARDS[uid]["panels"] for colour, _, name in used(p) if colour in GREEN}
    assert {name for _, name in greens} <= good
    by_default = {title for title, name in greens if not name}
    assert by_default <= {"Availability, 30 days", "Error budget left, 30 days", "Failing, by model"}
