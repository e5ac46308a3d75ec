"""Runs `llm-errors generate`: writes all files of the monitoring, or reports one error and writes nothing."""

import argparse
import sys
from pathlib import Path

from llm_errors.monitoring import arguments as allowed
from llm_errors.monitoring.arguments import OptionError
from llm_errors.monitoring.options import RUNBOOKS, SHARES, Options

_DESCRIPTION = (
    "Write dashboards, rules, alerts, routing and runbooks. Nothing is written if an argument is invalid, and no file "
    "is overwritten that this command has not written. promtool and amtool check the files if they are on the PATH."
)
_EXIT_CODES = "Exit codes: 0 done, or nothing to change; 1 --check found changes; 2 invalid argument or unusable file."


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command with its arguments."""
    parser = subparsers.add_parser(
        "generate", help="write dashboards, rules, alerts and routing", description=_DESCRIPTION, epilog=_EXIT_CODES
    )
    parser.add_argument("--out", metavar="DIR", help="folder to write to; required outside a checkout of llm-errors")
    parser.add_argument("--check", action="store_true", help="write nothing; list the files that would change")
    parser.add_argument("--readme", metavar="FILE", help="also update the generated tables in this Markdown file")
    parser.add_argument("--no-dashboards", action="store_true", help="rules and routing only")
    parser.add_argument("--objective", default="99.5", metavar="PERCENT", help="availability objective (99.5)")
    parser.add_argument("--window", default="30d", metavar="DAYS", help="period of the error budget (30d)")
    parser.add_argument("--service-label", default="job", metavar="LABEL", help="label that names a service (job)")
    parser.add_argument(
        "--name", default="", metavar="NAME", help="prefix for groups and recorded series, to load several sets"
    )
    parser.add_argument("--runbook-base", default=RUNBOOKS, metavar="URL", help="base URL of the runbook links")
    for flag, metavar, text in (
        ("--service-objective", "SERVICE=PERCENT", "objective of one service"),
        (
            "--own-keys",
            "SERVICE",
            "service whose users supply their own API keys: AUTH opens a ticket instead of paging",
        ),
        ("--batch-job", "SERVICE", "service that is silent between runs: no alert about missing telemetry"),
        (
            "--extra-label",
            "LABEL",
            "label to keep in all rules and alerts, in addition to cluster, namespace and environment",
        ),
        ("--team", "LABEL=VALUE=RECEIVER", "receiver for the correctness alerts of the services that a team owns"),
        ("--selector", "MATCHER", 'PromQL matcher added to every raw series, such as region="eu"'),
        ("--severity", "NAME=VALUE", "rename page, ticket or info, such as page=critical"),
        (
            "--threshold",
            "CLASS=PERCENT[:MINIMUM]",
            "share of calls and number of events above which an alert fires; "
            f"CLASS is one of {', '.join(sorted(SHARES))}",
        ),
    ):
        parser.add_argument(flag, action="append", default=[], metavar=metavar, help=f"{text}; repeatable")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write or check the files, and return the exit code."""
    try:
        return _run(args)
    except BrokenPipeError:  # the reader has closed the pipe
        raise
    except OptionError as refusal:
        text = str(refusal)
    except UnicodeDecodeError as error:
        text = f"a file is not UTF-8 text ({error.reason}); give readable text files"
    except OSError as error:
        text = f"cannot use {error.filename}: {error.strerror}; give a path that can be read and written"
    except ModuleNotFoundError as error:
        text = f"{error.name} is missing: pip install 'llm-errors[generate]' (--no-dashboards needs PyYAML only)"
        if error.name == "grafana_foundation_sdk" and sys.version_info < (3, 11):
            text = "the dashboards need Python 3.11 or newer; with this Python give --no-dashboards"
    print(f"llm-errors generate: {text}", file=sys.stderr)
    return 2


def _run(args: argparse.Namespace) -> int:
    options = read_options(args)
    for note in allowed.notes(options):
        print(f"llm-errors generate: {note}", file=sys.stderr)
    from llm_errors.monitoring import acceptance, generate, readme  # need the extra `generate`
    from llm_errors.tools import reference

    own = not args.out and generate.in_checkout()
    if not (args.out or own):
        raise OptionError("--out DIR is missing: give the folder to write to")
    out = Path(args.out or "dashboards")
    pages = [Path(args.readme)] if args.readme else generate.pages() if own else []
    texts = generate.without_sdk(options) | generate.beside(out, options)
    if not args.no_dashboards:
        texts.update(generate.with_sdk(options))
    asked = acceptance.asked(texts)
    files = generate.placed(texts, out, own=own)
    if not args.check:
        generate.refuse_foreign(files)
    for page in pages:
        files.update(generate.renewed_page(page, options, {**readme.BLOCKS, **reference.BLOCKS}))
    if not args.check:
        changed = generate.write(files)
        checked = f"; checked by {' and '.join(asked)}" if asked else ""
        print(
            f"{len(files)} files written ({changed} changed), below {out}"
            + "".join(f" and {page}" for page in pages)
            + checked
        )
        return 0
    found = generate.drift(files) + ([] if args.no_dashboards else generate.left_over(files, out, own=own))
    for line in found:
        print(line)
    return 1 if found else 0


def read_options(args: argparse.Namespace) -> Options:
    """The options that the arguments give. Raises `OptionError` if an argument is invalid."""
    return allowed.consistent(
        Options(
            objective=allowed.percent(args.objective, "objective"),
            window_days=allowed.window_days(args.window),
            objectives=allowed.service_objectives(args.service_objective),
            own_keys=tuple(map(allowed.service_name, args.own_keys)),
            batch_jobs=tuple(map(allowed.service_name, args.batch_job)),
            service_label=allowed.label_name(args.service_label, "service label"),
            extra_labels=tuple(allowed.label_name(name, "extra label") for name in args.extra_label),
            name=allowed.set_name(args.name),
            selectors=tuple(map(allowed.selector, args.selector)),
            severities=allowed.severities(args.severity),
            runbooks=allowed.runbooks(args.runbook_base),
            shares=allowed.thresholds(args.threshold, SHARES),
            teams=tuple(map(allowed.team, args.team)),
        )
    )
