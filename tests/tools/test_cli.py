"""The command's table: what is listed, how bad usage ends, and that nothing is loaded before it is asked for."""

import os
import subprocess
import sys

import pytest

from llm_errors import __version__
from llm_errors.tools import cli


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"llm-errors {__version__}\n"


def test_help_lists_the_commands_that_are_there_and_no_other(capsys, monkeypatch):
    monkeypatch.setattr(cli, "COMMANDS", (*cli.COMMANDS, cli.Command("ghost", "llm_errors.ghost.command", "not there")))
    assert cli.main(["--help"]) == 0
    listed = capsys.readouterr().out
    assert "demo" in listed
    assert "ghost" not in listed
    assert cli.main(["ghost"]) == 2


@pytest.mark.parametrize("argv", [["nonsense"], ["demo", "--nonsense"], ["--nonsense"]])
def test_bad_usage_exits_2_with_one_line(argv, capsys):
    assert cli.main(argv) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("llm-errors")
    assert said.err.count("\n") == 1


def test_alone_it_prints_the_help(capsys):
    assert cli.main([]) == 0
    alone = capsys.readouterr().out
    cli.main(["--help"])
    assert alone == capsys.readouterr().out


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "llm_errors", "--version"], capture_output=True, check=False, text=True
    )
    assert done.stdout == f"llm-errors {__version__}\n"


@pytest.mark.parametrize("argv", [["--help"], ["explain", "--status", "503"], ["doctor", "--help"]])
def test_a_pipe_closed_before_anything_is_printed_is_no_traceback(argv):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "llm_errors", *argv]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_help_loads_no_command_and_no_telemetry():
    code = (
        "import sys; from llm_errors.tools.cli import main; main(['--help'])\n"
        "loaded = {n for n in sys.modules if n.startswith(('opentelemetry', 'openai', 'llm_errors.tools.demo.'))}\n"
        "assert not loaded, loaded"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True).stderr == ""


def test_ctrl_c_and_a_closed_pipe_end_quietly(monkeypatch):
    def interrupted(args):
        raise KeyboardInterrupt

    from llm_errors.tools.demo import command

    monkeypatch.setattr(command, "run", interrupted)
    assert cli.main(["demo"]) == 130


def test_a_reader_that_has_seen_enough_is_no_traceback():
    code = "import sys; from llm_errors.tools.cli import main; from llm_errors.tools.demo import command\n"
    code += "command.run = lambda args: [print(i) for i in range(100000)] and 0\nraise SystemExit(main(['demo']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        try:
            assert reader.stdout.readline().strip() == b"0"
            reader.stdout.close()
            assert reader.stderr.read() == b""
        finally:
            reader.kill()
