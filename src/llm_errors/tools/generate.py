"""The command `llm-errors generate`: arguments in, files or one line of refusal out.

Exit codes: 0 done or no drift, 1 drift found by `--check`, 2 an argument or file that cannot be used (nothing was
written).
"""

import argparse
import sys
from pathlib import Path

from llm_errors.monitoring import arguments as allowed
from llm_errors.monitoring.arguments import OptionError
from llm_errors.monitoring.options import RUNBOOKS, SHARES, Options


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command with its arguments."""
    parser = subparsers.add_parser("generate", help="write dashboards, rules, alerts and routing", description=__doc__)
    parser.add_argument(
        "--out", metavar="DIR", help="folder to write to; only a checkout of llm-errors has a default, its dashboards"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 and name the files that differ")
    parser.add_argument("--readme", metavar="FILE", help="also renew the generated tables of this README")
    parser.add_argument("--no-dashboards", action="store_true", help="rules and routing only")
    parser.add_argument("--objective", default="99.5", metavar="PERCENT", help="availability objective (99.5)")
    parser.add_argument("--window", default="30d", metavar="DAYS", help="period of the error budget (30d)")
    parser.add_argument("--service-label", default="job", metavar="LABEL", help="label that names a service (job)")
    parser.add_argument("--name", default="", metavar="NAME", help="start of the names of groups and recorded series")
    parser.add_argument("--runbook-base", default=RUNBOOKS, metavar="URL", help="where runbook links start")
    for flag, metavar, text in (
        ("--service-objective", "SERVICE=PERCENT", "objective of one service"),
        ("--own-keys", "SERVICE", "a service whose users bring their own keys: its AUTH is a ticket"),
        ("--batch-job", "SERVICE", "a service that is silent between runs: no alert about missing telemetry"),
        ("--extra-label", "LABEL", "a label to keep in all rules beside cluster, namespace and environment"),
        ("--team", "LABEL=VALUE=RECEIVER", "the receiver of the alerts of a service's own team"),
        ("--selector", "MATCHER", 'matcher for every raw series, such as cluster="prod"'),
        ("--severity", "NAME=VALUE", "rename page, ticket or info, such as page=critical"),
        ("--threshold", "CLASS=PERCENT[:MINIMUM]", "share of calls, and number of events, that raises a class's alert"),
    ):
        parser.add_argument(flag, action="append", default=[], metavar=metavar, help=f"{text}; repeatable")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Writes or checks; returns the exit code."""
    try:
        return _run(args)
    except BrokenPipeError:  # the reader has seen enough
        raise
    except OptionError as refusal:
        text = str(refusal)
    except UnicodeDecodeError as error:
        text = f"a file is not UTF-8 text ({error.reason}); give readable text files"
    except OSError as error:
        text = f"cannot use {error.filename}: {error.strerror}; give a path that can be read and written"
    except ModuleNotFoundError as error:
        text = f"{error.name} is missing: pip install 'llm-errors[generate]' (--no-dashboards needs PyYAML only)"
    print(f"llm-errors generate: {text}", file=sys.stderr)
    return 2


def _run(args: argparse.Namespace) -> int:
    options = read_options(args)
    from llm_errors.monitoring import acceptance, generate  # PyYAML and the Grafana SDK are an extra

    own = not args.out and generate.in_checkout()
    if not (args.out or own):
        raise OptionError("--out DIR is missing: give the folder to write to")
    out = Path(args.out or "dashboards")
    readme = args.readme or ("README.md" if own else None)
    texts = generate.without_sdk(options) | generate.beside(out, options)
    if not args.no_dashboards:
        texts.update(generate.with_sdk(options))
    asked = acceptance.asked(texts)
    files = {out / path: text for path, text in texts.items()}
    generate.refuse_foreign(files)
    if readme:
        files.update(generate.renewed_readme(Path(readme), options))
    if not args.check:
        generate.write(files)
        checked = f"; checked by {' and '.join(asked)}" if asked else ""
        print(f"{len(files)} files written, below {out}" + (f" and {readme}" if readme else "") + checked)
        return 0
    found = generate.drift(files) + ([] if args.no_dashboards else generate.left_over(files, out))
    for line in found:
        print(line)
    return 1 if found else 0


def read_options(args: argparse.Namespace) -> Options:
    """The validated tailoring; raises `OptionError`."""
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
