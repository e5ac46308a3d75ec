"""The table of SDKs and providers: a row that misses something fails here, by its name."""

import re
import sys
from pathlib import Path

import pytest

from llm_errors import providers
from llm_errors.extract.frameworks import SAID
from llm_errors.instrument.adapters import ALL, FAMILIES
from llm_errors.instrument.adapters.frameworks import TABLE
from llm_errors.providers import FRAMEWORKS, OBSERVED, PROVIDERS, SDKS
from llm_errors.rules.shipped import SHIPPED

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
IN_THE_MATRIX = {
    re.split(r"[\[<>=~!; ]", entry, maxsplit=1)[0]
    for group in PYPROJECT["dependency-groups"].values()
    for entry in group
    if isinstance(entry, str)
}
DIALECTS_WITH_RULES = {dialect for rule in SHIPPED for dialect in rule.dialects}

each_sdk = pytest.mark.parametrize("row", SDKS, ids=lambda row: f"{row.name}{row.versions}")
each_provider = pytest.mark.parametrize("row", PROVIDERS, ids=lambda row: row.name)


@each_sdk
def test_an_sdk_is_of_a_family_that_an_adapter_serves(row):
    assert row.family in FAMILIES


@each_sdk
def test_an_sdk_speaks_a_dialect_that_has_rules(row):
    assert row.dialect in DIALECTS_WITH_RULES


@each_sdk
def test_an_sdk_names_a_provider_of_the_table(row):
    named = {row.provider, *row.provider_by_class.values()} - {"other"}
    assert all(providers.provider(name) for name in named), named


@each_sdk
def test_an_sdk_is_tested_in_the_matrix(row):
    assert row.distribution in IN_THE_MATRIX


@each_sdk
def test_a_supported_range_has_a_floor_and_a_ceiling(row):
    assert re.fullmatch(r">=\d+(\.\d+)*,<\d+(\.\d+)*", row.versions)


@each_sdk
def test_an_sdk_of_a_family_of_many_names_its_clients(row):
    assert bool(row.clients) == (row.family in ("stainless", "stainless_copies", "speakeasy"))


@each_sdk
def test_the_exceptions_of_an_sdk_are_read_in_its_dialect(row):
    assert {providers.dialect_of_package(root) for root in row.roots} == {row.dialect}


def test_one_distribution_s_rows_share_one_name():
    assert (
        len({(row.name, row.distribution) for row in OBSERVED})
        == len(providers.names())
        == len({r.distribution for r in OBSERVED})
    )


@pytest.mark.parametrize("row", FRAMEWORKS, ids=lambda row: row.name)
def test_a_framework_has_patch_points_and_is_tested_in_the_matrix(row):
    assert row.family != "framework" or TABLE[row.name]
    assert row.distribution in IN_THE_MATRIX
    assert re.fullmatch(r">=\d+(\.\d+)*,<\d+(\.\d+)*", row.versions)


def test_every_limit_of_a_framework_s_row_has_a_rule():
    named = {name for rows in TABLE.values() for row in rows for name in row.limits}
    assert named <= {name.rpartition(".")[2] for rule in SHIPPED for name in rule.exceptions} | SAID.keys()


@each_provider
def test_a_provider_speaks_a_dialect_that_has_rules(row):
    assert row.dialect in DIALECTS_WITH_RULES


def test_no_name_or_alias_means_two_providers():
    listed = [name for row in PROVIDERS for name in (row.name, *row.aliases)]
    assert sorted(listed) == sorted(set(listed))


@each_provider
def test_a_host_belongs_to_the_provider_that_lists_it(row):
    for suffix in row.hosts:
        host = f"{row.host_begins or 'api'}{suffix if suffix.startswith('-') else '.' + suffix}"
        assert providers.provider_of_host(host, 443) == row.name


@pytest.mark.parametrize(
    ("host", "port", "name"),
    [
        ("api.openai.com", 443, "openai"),
        ("API.OpenAI.com.", 443, "openai"),
        ("notopenai.com", 443, ""),
        ("openai.com.evil.example", 443, ""),
        ("s3.amazonaws.com", 443, ""),
        ("bedrock-runtime.eu-central-1.amazonaws.com", 443, "aws.bedrock"),
        ("us-central1-aiplatform.googleapis.com", 443, "gcp.vertex_ai"),
        ("localhost", 11434, "ollama"),
        ("localhost", 8000, ""),
        (None, None, ""),
    ],
)
def test_a_host_tells_the_provider(host, port, name):
    assert providers.provider_of_host(host, port) == name


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gemini-3-flash", "gcp.gemini"),
        ("projects/p/locations/l/publishers/google/models/gemini-3", "gcp.gemini"),
        ("anthropic/claude-sonnet-5", "anthropic"),
        ("my-claude-like", None),
        ("gpt-5-mini", None),
    ],
)
def test_a_model_s_name_tells_the_provider(model, name):
    found = providers.provider_of_model(model)
    assert (found.name if found else None) == name


def test_an_unknown_name_of_an_sdk_has_no_row():
    with pytest.raises(KeyError, match="nothing"):
        providers.sdk("nothing")


def test_a_provider_that_is_not_known_speaks_openai_s_dialect():
    assert providers.dialect_of_provider("somebody") == "openai"
    assert providers.dialect_of_provider("") == ""


SENT_THROUGH = ("urllib3.", "aiohttp_retry.", "google.api_core.")
"""Libraries with the retries of some SDKs, which are patched too when the SDK is imported."""


@pytest.mark.parametrize("adapter", ALL, ids=lambda adapter: adapter.row.package)
def test_an_adapter_patches_its_own_package_only_since_it_is_loaded_when_that_is_imported(adapter):
    root = adapter.row.roots[0]
    assert all(f"{target.module}.".startswith((f"{root}.", *SENT_THROUGH)) for target in adapter.targets())
