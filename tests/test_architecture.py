"""The house rules that no linter knows: purity at run time, sizes, exports, and no SDK at start-up."""

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import llm_errors
from llm_errors import providers

SOURCE = Path(llm_errors.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
INSTRUMENTED = "from llm_errors import LLMErrorsInstrumentor; LLMErrorsInstrumentor().instrument()"
SDKS = {*(root for row in providers.OBSERVED for root in (row.package, *row.roots)), "httpx", "httpx2"}

each_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))


def loaded_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_classify_loads_no_opentelemetry_and_no_sdk():
    loaded = loaded_after("import llm_errors; llm_errors.classify(ValueError())")
    assert not {name for name in loaded if name.partition(".")[0] in ("opentelemetry", "wrapt")}
    assert loaded.isdisjoint(SDKS)


def test_instrumenting_loads_no_sdk():
    loaded = loaded_after(INSTRUMENTED)
    assert "llm_errors.instrument.patcher" in loaded
    assert loaded.isdisjoint(SDKS)


FOR_FAILURES = {
    *("llm_errors.decision", "llm_errors.rules.shipped", "llm_errors.rules.user"),
    *("llm_errors.extract.credentials", "llm_errors.extract.echoes"),
}
"""Modules that take tens of milliseconds to import."""


def test_importing_the_package_loads_no_reader_and_no_rule():
    loaded = loaded_after("import llm_errors")
    assert not {name for name in loaded if name.startswith(("llm_errors.extract", "llm_errors.rules", *FOR_FAILURES))}
    assert loaded.isdisjoint(("asyncio", "email.utils"))


def test_instrumenting_loads_nothing_that_only_failures_need():
    assert loaded_after(INSTRUMENTED).isdisjoint(FOR_FAILURES)


def test_instrumenting_loads_no_adapter():
    assert not {name for name in loaded_after(INSTRUMENTED) if name.startswith("llm_errors.instrument.adapters")}


def test_importing_an_sdk_loads_what_its_first_failure_needs():
    pytest.importorskip("openai")
    loaded = loaded_after(f"{INSTRUMENTED}\nimport openai")
    assert loaded >= FOR_FAILURES - {"llm_errors.rules.user"}


def test_importing_an_sdk_of_many_services_loads_nothing_that_only_failures_need():
    pytest.importorskip("botocore")
    loaded = loaded_after(f"{INSTRUMENTED}\nimport botocore.client")
    assert loaded.isdisjoint(FOR_FAILURES)


@pytest.mark.parametrize(
    "first",
    [
        "with ThreadPoolExecutor(16) as pool: print(*{str(v) for v in pool.map(verdict, range(64))})",
        "async def call(n): return verdict(n)\n"
        "async def calls(): return await asyncio.gather(*map(call, range(9)))\n"
        "print(*{str(v) for v in asyncio.run(calls())})",
        "atexit.register(lambda: print(verdict(0)))",
        "child = os.fork()\nif child: os.waitpid(child, 0)\nelse: print(verdict(0), flush=True); os._exit(0)",
    ],
    ids=["in many threads at once", "in a coroutine", "while the process exits", "in a forked child"],
)
def test_the_first_failure_loads_what_it_needs(first):
    code = (
        "import asyncio, atexit, os, llm_errors\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def verdict(n): return llm_errors.classify({'error': {'code': 'rate_limit_exceeded', 'message': 'Slow'}}).rule\n"
    )
    done = subprocess.run([sys.executable, "-c", code + first], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["openai.rate.requests"]


def test_instrumenting_loads_none_of_the_tools_around_it():
    loaded = loaded_after(INSTRUMENTED)
    tools = (
        "llm_errors.tools.demo",
        "llm_errors.tools.doctor",
        "llm_errors.monitoring",
        "llm_errors.recovery",
        "llm_errors.tools.cli",
    )
    assert not {name for name in loaded if name.startswith(tools)}


def test_all_is_what_is_exported():
    assert set(llm_errors.__all__) == set(dir(llm_errors))
    assert all(getattr(llm_errors, name) is not None for name in llm_errors.__all__)


def test_a_name_that_is_not_exported_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = llm_errors.nothing


@each_module
def test_a_module_says_what_it_decides(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


@each_module
def test_functions_are_short(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            assert node.end_lineno - node.lineno < 60, f"{node.name} in {path.name}"


def code_lines(source):
    """The number of lines with code: no blank line, no comment, no docstring."""
    words = {
        node.value.lineno + offset
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for offset in range(node.value.end_lineno - node.value.lineno + 1)
    }
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type not in skipped]
    return len({n for t in tokens for n in range(t.start[0], t.end[0] + 1)} - words)


ADAPTERS = sorted((SOURCE / "instrument" / "adapters").glob("*.py"))
LONG = "has more than 120 lines because "


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.stem)
def test_a_long_adapter_says_why(path):
    source = path.read_text()
    says_why = LONG in " ".join(ast.get_docstring(ast.parse(source)).split())
    assert says_why == (code_lines(source) > 120), f"{code_lines(source)} lines of code"


def test_code_lines_are_counted_without_comments_and_docstrings():
    assert code_lines('"""One\n\nTwo."""\n\n# why\nx = (\n    1,\n)\n"""Of x."""\n') == 3


@each_module
def test_no_module_is_a_drain(path):
    assert path.stem not in ("utils", "util", "helpers", "helper", "misc", "base", "manager")


OLD_NAMES = frozenset(
    [
        "Driver",
        "_edge",
        "RunningCall",
        "Sink",
        "Ending",
        "Keeper",
        "_drops",
        "HOLDER",
        "_overhear",
        "heard",
        "_places",
        "overlook",
        "LAYER",
        "artifacts",
        "promote",
    ]
)
"""Names that were replaced because a reader had to guess what they mean."""


@each_module
def test_no_replaced_name_is_back(path):
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    assert OLD_NAMES.isdisjoint({path.stem, path.parent.name, *(t.string for t in tokens if t.type == tokenize.NAME)})


@each_module
def test_testing_needs_the_standard_library_only(path):
    if path.parent.name != "testing":
        return
    nodes = list(ast.walk(ast.parse(path.read_text())))
    named = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    named |= {n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)}
    outside = {name for name in named if name.partition(".")[0] not in sys.stdlib_module_names}
    assert all(name.startswith("llm_errors.testing") for name in outside), outside


@pytest.mark.parametrize(("folder", "most"), [(SOURCE, 3), (Path(__file__).parent, 8)], ids=["source", "tests"])
def test_an_sdk_of_a_known_family_is_named_in_few_files(folder, most):
    named = "gr" + "oq"
    found = [str(path) for path in folder.rglob("*.py") if named in path.read_text().lower()]
    assert len(found) <= most, found
