"""Builds the panels about the period of the error budget: availability, remaining budget and successful calls by service."""

from typing import Any

from llm_errors.monitoring.dashboards import _colours as colours
from llm_errors.monitoring.dashboards import _panels as p
from llm_errors.monitoring.dashboards.queries import Queries


def availability(q: Queries) -> Any:
    """The availability of each service. The colour shows whether it reaches its objective."""
    days = f"{q.options.window_days} days"
    text = (
        f"Share of valid calls without a reliability failure, over {days}. Blocked and cancelled calls do not count. "
        "Red: below the objective."
    )
    limits = [(None, colours.BAD), (q.options.objective / 100, colours.GOOD)]
    query = p.query(q.availability(), p.service(q.options), instant=True)
    tile = p.by_objective(p.number(f"Availability, {days}", text, "percentunit", 3, limits, query), q.options)
    return p.opening(tile, "Open reliability", "/d/llm-reliability?${__url_time_range}&${__all_variables}")


def budget(q: Queries) -> Any:
    """The share of each service's error budget that is left."""
    days = f"{q.options.window_days} days"
    text = (
        f"What is left of the failures that the objective allows in {days}. Not green below a quarter: stop risky changes. "
        "Red below zero: the objective is missed."
    )
    limits = [(None, colours.BAD), (0, colours.TEXT), (0.25, colours.GOOD)]
    query = p.query(q.budget(), p.service(q.options), instant=True)
    return p.number(f"Error budget left, {days}", text, "percentunit", 1, limits, query)


def succeeded(q: Queries) -> Any:
    """The share of calls that succeeded. All failures lower it, also those that do not consume the error budget."""
    days = f"{q.options.window_days} days"
    text = (
        f"Share of calls that succeeded, apart from cancelled ones, over {days}. Far below availability means that the "
        "failures are ours or a filter's: open Correctness or Policy."
    )
    query = p.query(q.succeeded(), p.service(q.options), instant=True)
    return p.number(f"Calls that succeeded, {days}", text, "percentunit", 2, [(None, colours.TEXT)], query)
