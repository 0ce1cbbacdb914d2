"""Test definitions files: declarations, errors and the positions of errors."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from textwrap import indent
from typing import get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from mcp_lenient import Limits, Policy, normalizers
from mcp_lenient.declare.declarations import Declared, Stated
from mcp_lenient.declare.definitions import Definitions, load_definitions, unknown_names
from mcp_lenient.declare.definitions.document import MAX_BYTES, MAX_FAULTS
from mcp_lenient.declare.definitions.entries import (
    LimitName,
    ParameterEntry,
    PolicyEntry,
    ServerPolicyEntry,
)
from mcp_lenient.errors import DefinitionError

YAML = """
policy: {unrepairable: refuse, limits: {depth: 9}}
tools:
  browser_use_execute_task:
    parameters:
      task: {aliases: [query, instruction, 任务]}
      max_steps: {clamp: [1, 100]}
    policy: {drop_unknown: [wait_for_previous]}
  find:
    parameters:
      words: {split: true}
    policy: {limits: {items: 5}}
"""
TOML = """
policy = {unrepairable = "refuse", limits = {depth = 9}}

[tools.browser_use_execute_task]
policy.drop_unknown = ["wait_for_previous"]
parameters.task.aliases = ["query", "instruction", "任务"]
parameters.max_steps.clamp = [1, 100]

[tools.find]
parameters = {words = {split = true}}
policy.limits.items = 5
"""
TOOL = Declared(
    normalizers={"max_steps": (normalizers.clamp(1, 100),)},
    aliases={"task": ("query", "instruction", "任务")},
    policy={"drop": ["wait_for_previous"]},
)


@pytest.fixture
def load(tmp_path):
    """Return a function that loads text as a file of this name."""

    def loaded(text, name="tools.yaml"):
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_definitions(file)

    return loaded


@pytest.fixture
def refused(load, tmp_path):
    """Return a function that returns the error message of refused text, without the folder."""

    def reported(text, name="tools.yaml"):
        with pytest.raises(DefinitionError) as error:
            load(text, name)
        return str(error.value).replace(f"{tmp_path}/", "")

    return reported


# --- contents of a file -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("tools.yaml", YAML, id="yaml"),
        pytest.param("tools.yml", YAML, id="yml"),
        pytest.param("TOOLS.YAML", YAML, id="upper-case"),
        pytest.param("tools.yaml", "\ufeff" + YAML, id="byte-order-mark"),
        pytest.param("tools.yaml", YAML.replace("\n", "\r\n"), id="windows-lines"),
        pytest.param("tools.toml", TOML, id="toml"),
    ],
)
def test_yaml_and_toml_give_the_same_definitions(load, name, text):
    """YAML and TOML give the same declarations, policy and names."""
    definitions = load(text, name)
    assert definitions.tools["browser_use_execute_task"] == TOOL
    assert "other" not in definitions.tools
    assert definitions.policy == {"unrepairable": "refuse", "limits": Limits(depth=9)}
    assert definitions.names == {
        "browser_use_execute_task": {"task", "max_steps"},
        "find": {"words"},
    }


def test_tool_limits_extend_the_servers(load):
    """Limits of a tool are merged over those of the file's server policy."""
    assert load(YAML).tools["find"].policy == {"limits": Limits(depth=9, items=5)}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("tools: {}\npolicy: {}\n", id="empty-parts"),
    ],
)
def test_empty_file_declares_nothing(load, text):
    """An empty file is valid."""
    assert load(text) == Definitions()


def test_yaml_anchors_are_expanded(load):
    """An anchor repeats its value."""
    text = "tools: {a: {parameters: {x: &x {aliases: [y]}, z: {}}}, b: {parameters: {x: *x}}}"
    assert load(text).tools["b"].aliases == {"x": ("y",)}


def test_yaml_is_read_as_version_1_2(load):
    """Words that YAML 1.1 reads as true or false are strings, and a mapping may be merged into another."""
    text = "tools: {t: {parameters: {on: {<<: {strip: true}, aliases: [no]}}, policy: {mode: off}}}"
    declared = load(text).tools["t"]
    assert declared == Declared({"on": (normalizers.strip(),)}, {"on": ("no",)}, {"mode": "off"})


PARAMETERS = [
    pytest.param("{strip: true}", [normalizers.strip()], id="strip"),
    pytest.param("{strip: false}", [], id="strip-off"),
    pytest.param("{lower: true}", [normalizers.lower()], id="lower"),
    pytest.param("{upper: true}", [normalizers.upper()], id="upper"),
    pytest.param("{infer: true}", [normalizers.infer()], id="infer"),
    pytest.param("{parse_json: true}", [normalizers.parse_json()], id="parse_json"),
    pytest.param("{parse_json: array}", [normalizers.parse_json("array")], id="parse_json-kind"),
    pytest.param("{split: true}", [normalizers.split()], id="split"),
    pytest.param("{split: ';'}", [normalizers.split(";")], id="split-separator"),
    pytest.param("{split: false}", [], id="split-off"),
    pytest.param("{tags: true}", [normalizers.tags()], id="tags"),
    pytest.param("{tags: false}", [], id="tags-off"),
    pytest.param(
        "{tags: {separator: ';', trim: true, lower: true, unique: true}}",
        [normalizers.tags(separator=";", trim=True, lower=True, unique=True)],
        id="tags-options",
    ),
    pytest.param("{synonyms: {open: Active, 一: 1}}", [normalizers.synonyms({"open": "Active", "一": 1})], id="synonyms"),
    pytest.param("{iso_date: true}", [normalizers.iso_date()], id="iso_date"),
    pytest.param("{iso_date: dmy}", [normalizers.iso_date("dmy")], id="iso_date-order"),
    pytest.param("{clamp: [1, 2.5]}", [normalizers.clamp(1, 2.5)], id="clamp"),
    pytest.param("{clamp: [null, 5]}", [normalizers.clamp(None, 5)], id="clamp-one-side"),
    pytest.param("{null_as: []}", [normalizers.null_as([])], id="null_as"),
    pytest.param("{null_as: false}", [normalizers.null_as(value=False)], id="null_as-false"),
    pytest.param("{default_on_null: true}", [normalizers.default_on_null()], id="default_on_null"),
    pytest.param("{aliases: [b]}", [], id="aliases"),
    pytest.param("{type: integer}", [], id="type"),
    pytest.param("{required: true}", [], id="required"),
    pytest.param("{default: 5}", [], id="default"),
    pytest.param("{description: Words}", [], id="description"),
    pytest.param(
        "{null_as: x, lower: true, split: true, strip: true}",
        [normalizers.strip(), normalizers.split(), normalizers.lower(), normalizers.null_as("x")],
        id="in-their-order-not-the-files",
    ),
]  # fmt: skip


@each_row(("entry", "wanted"), PARAMETERS)
def test_each_field_of_a_parameter_is_its_normalizer(load, entry, wanted):
    """A field of a parameter adds the normalizer of that name."""
    declared = load(f"tools: {{t: {{parameters: {{p: {entry}}}}}}}").tools["t"]
    assert list(declared.normalizers.get("p", ())) == wanted


def test_each_field_of_a_parameter_is_tested():
    """Every field has a row in the table above."""
    assert set(ParameterEntry.model_fields) <= {row.id.split("-")[0] for row in PARAMETERS}


POLICIES = [
    pytest.param("{mode: observe}", {"mode": "observe"}, id="mode"),
    pytest.param("{mode: 'off'}", {"mode": "off"}, id="mode-off"),
    pytest.param("{unrepairable: refuse}", {"unrepairable": "refuse"}, id="unrepairable"),
    pytest.param("{disable: [rename_alias]}", {"disable": frozenset({"rename_alias"})}, id="disable"),
    pytest.param("{drop_unknown: [a, b]}", {"drop": frozenset({"a", "b"})}, id="drop_unknown"),
    pytest.param("{secret: [pin]}", {"secret": frozenset({"pin"})}, id="secret"),
    pytest.param("{echo_values: false}", {"echo_values": False}, id="echo_values"),
    pytest.param("{destructive: true}", {"destructive": True}, id="destructive"),
    pytest.param(
        "{destructive: unless_read_only}",
        {"destructive": "unless_read_only"},
        id="destructive-unless-read-only",
    ),
    pytest.param("{tell_model: true}", {"tell_model": True}, id="tell_model"),
    pytest.param("{language: zh}", {"language": "zh"}, id="language"),
    pytest.param("{closed: true}", {"closed": True}, id="closed"),
    pytest.param("{publish_statements: true}", {"publish_statements": True}, id="publish_statements"),
    pytest.param("{infer_untyped: true}", {"infer_untyped": True}, id="infer_untyped"),
    pytest.param("{publish: gemini}", {"publish": "gemini"}, id="publish"),
    pytest.param("{log_values: shapes}", {"log_values": "shapes"}, id="log_values"),
    pytest.param("{body_errors: envelope}", {"body_errors": "envelope"}, id="body_errors"),
    pytest.param("{leaked_markup: refuse}", {"leaked_markup": "refuse"}, id="leaked_markup"),
    pytest.param("{repeats: false}", {"repeats": False}, id="repeats"),
    pytest.param("{limits: {text: 7}}", {"limits": Limits(text=7)}, id="limits"),
    pytest.param("{}", {}, id="nothing"),
]


@each_row(("entry", "wanted"), POLICIES)
def test_each_field_of_a_policy_sets_the_policy(load, entry, wanted):
    """A policy of a tool or of the server sets the fields of Policy."""
    tool, server = load(f"tools: {{t: {{policy: {entry}}}}}"), load(f"policy: {entry}")
    assert Policy(**tool.tools["t"].policy) == Policy(**server.policy) == Policy(**wanted)


def test_parameter_fields_keep_their_line_numbers(load, tmp_path):
    """Type, default and description keep their line, for tools at the top of the file and under ``tools``."""
    tool = (
        "t:\n  description: Does it\n  parameters:\n    p:\n      type: [integer, 'null']\n      default: 5\n"
    )
    for text, line in ((tool, 5), ("tools:\n" + indent(tool, "  "), 6)):
        declared = load(text).tools["t"]
        assert declared.description == "Does it"
        assert declared.stated == {"p": Stated(("integer", "null"), None, (5,))}
        assert declared.stated["p"].where["type"] == f"{tmp_path}/tools.yaml:{line}"


def test_the_server_may_have_aliases_for_all_tools(load):
    """The server's policy may declare aliases. A tool declares them on its parameters."""
    assert load("policy: {aliases: {task: [query]}}").policy == {"aliases": {"task": ["query"]}}


def test_file_policies_have_every_policy_field():
    """All fields of Policy and Limits can be set, except the rules, which are functions; ``dispatches`` has an entry of its own."""
    fields = {field.name for field in dataclasses.fields(Policy) if field.init}
    assert (set(ServerPolicyEntry.model_fields) - {"drop_unknown"}) | {
        "drop",
        "rules",
        "dispatches",
    } == fields
    assert set(get_args(LimitName)) == {field.name for field in dataclasses.fields(Limits)}
    assert set(PolicyEntry.model_fields) <= {row.id.split("-")[0] for row in POLICIES}


def test_each_public_normalizer_has_a_field():
    """A definitions file can declare every public normalizer, except functions of the author's own."""
    fields = set(ParameterEntry.model_fields) - {"type", "required", "default", "description"}
    assert set(normalizers.__all__) - {"from_function"} == fields


# --- refused files --------------------------------------------------------------------------------------


def parameter(entry):
    """Return a file with one parameter in line 4."""
    return f"tools:\n  t:\n    parameters:\n      p: {entry}\n"


AT = "tools.yaml:4: tools.t.parameters.p"


@each_row(
    ("entry", "reported"),
    [
        pytest.param("{clmap: [1, 2]}", f"{AT}.clmap: there is no such field; did you mean 'clamp'? Allowed are 'type', ", id="misspelt"),
        pytest.param("", f"{AT}: must be a mapping of names, not null.", id="nothing"),
        pytest.param("[strip]", f"{AT}: must be a mapping of names, not of type array.", id="list"),
        pytest.param("{aliases: [a, 1]}", f"{AT}.aliases[1]: must be a string, not 1. Put it in quotes.", id="alias-number"),
        pytest.param("{aliases: [p]}", "tools.yaml:2: tools.t: 'p' cannot be another name of 'p': it is a parameter itself.", id="alias-of-itself"),
        pytest.param("{type: text}", f"{AT}.type[0]: must be 'string', 'number', 'integer', ", id="type"),
        pytest.param("{type: integer, default: a}", f"{AT}: 'default' is of type string, and 'type' is integer.", id="default-type"),
        pytest.param("{required: true, default: a}", f"{AT}: 'default' and 'required: true' exclude each other.", id="default-required"),
        pytest.param("{strip: yes}", f"{AT}.strip: must be true or false.", id="yes"),
        pytest.param("{strip: 1}", f"{AT}.strip: must be true or false.", id="flag"),
        pytest.param("{lower: true, upper: true}", f"{AT}: 'lower' and 'upper' exclude each other.", id="lower-upper"),
        pytest.param("{split: true, tags: true}", f"{AT}: 'split' and 'tags' exclude each other.", id="split-tags"),
        pytest.param("{null_as: 1, default_on_null: true}", f"{AT}: 'null_as' and 'default_on_null' exclude", id="nulls"),
        pytest.param("{clamp: [5, 1]}", f"{AT}.clamp: clamp(minimum=...) must be at most 1", id="clamp-reversed"),
        pytest.param("{clamp: [0, .inf]}", f"{AT}.clamp[1]: must be a finite number.", id="number-infinite"),
        pytest.param("{clamp: [0, 1.0e+999]}", f"{AT}.clamp[1]: must be a finite number.", id="number-overflow"),
        pytest.param(f"{{clamp: [0, {'9' * 5000}]}}", "tools.yaml: this cannot be read as YAML: Exceeds the limit", id="number-long"),
        pytest.param("{split: 5}", f"{AT}.split: must be true, or the text between the parts.", id="split-number"),
        pytest.param("{iso_date: [dmy]}", f"{AT}.iso_date: must be true, or 'dmy' or 'mdy'.", id="iso_date"),
        pytest.param("{null_as: 2024-01-31}", f"{AT}.null_as: this has the type date, which JSON does not have; put it in quotes", id="date"),
        pytest.param("{tags: 3}", f"{AT}.tags: must be true, or a mapping of its options.", id="tags"),
        pytest.param("{tags: {trimm: true}}", f"{AT}.tags: there is no such option as 'trimm'; did you mean 'trim'?", id="tags-misspelt"),
        pytest.param("!!python/name:os.system {}", "tools.yaml:4: this cannot be read as YAML: could not determine a constructor for the tag 'tag:yaml.org,2002:python/name:os.system'.", id="tag"),
        pytest.param("{null_as: !!binary aGk=}", f"{AT}.null_as: this has the type bytes, which JSON does not have", id="tag-binary"),
        pytest.param("{? [a] : b}", f"""{AT}["('a',)"]: this name is not a string; put it in quotes.""", id="list-as-name"),
    ],
)  # fmt: skip
def test_parameter_errors_name_their_place(refused, entry, reported):
    """An error names the file, line and field, the allowed values, and a suggestion."""
    sentences = refused(parameter(entry)).splitlines()
    assert len(sentences) == 1
    assert sentences[0].startswith(reported)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        pytest.param("tols: {}", "tools.yaml:1: tols: there is no such field; did you mean 'tools'? Allowed are 'policy', 'tools'.", id="field"),
        pytest.param("a:\n  parametres: {}\n  description: x", "tools.yaml:2: a.parametres: there is no such field; did you mean 'parameters'?", id="tool-at-top"),
        pytest.param("a: {parameters: {}}\ntools: {a: {}}", "tools.yaml:1: the whole file: 'a' is declared both at the top and under 'tools'.", id="tool-twice"),
        pytest.param("[]", "tools.yaml:1: the whole file: must be a mapping of names, not of type array.", id="list"),
        pytest.param("tools:\n  5: {}", 'tools.yaml:2: tools["5"]: this name is not a string; put it in quotes.', id="number-as-name"),
        pytest.param("tools:\n  '': {}", 'tools.yaml:2: tools[""]: must not be empty.', id="empty-name"),
        pytest.param("tools:\n  a: {}\n  b: {}\n  a: {}", 'tools.yaml:4: this cannot be read as YAML: found duplicate key "a"', id="twice"),
        pytest.param("tools:\n  a: {parameters: {x: {aliases: [q]}, y: {aliases: [q]}}}", "tools.yaml:2: tools.a: 'q' cannot be another name of 'y': it is also a name of 'x'.", id="alias-of-two"),
        pytest.param("tools:\n  a: {parameters: {x: {aliases: [y]}, y: {}}}", "tools.yaml:2: tools.a: 'y' cannot be another name of 'x': it is a parameter itself.", id="alias-is-parameter"),
        pytest.param("policy: {mode: lenient}", "tools.yaml:1: policy.mode: must be 'repair', 'observe' or 'off', not \"lenient\".", id="mode"),
        pytest.param("policy: {rules: []}", "tools.yaml:1: policy.rules: there is no such field. Allowed are 'mode', ", id="rules"),
        pytest.param("policy: {disable: [rename_aliass]}", "tools.yaml:1: policy.disable: Policy.disable names 'rename_aliass', which is not a rule. Did you mean 'rename_alias'?", id="rule"),
        pytest.param("policy: {limits: {dept: 1}}", "tools.yaml:1: policy.limits.dept: must be 'bytes', 'depth', 'items', ", id="limit"),
        pytest.param("policy: {limits: {depth: 1.5}}", "tools.yaml:1: policy.limits.depth: must be a whole number, not 1.5.", id="limit-fraction"),
        pytest.param("policy: {aliases: {a: [q], b: [q]}}", "tools.yaml:1: policy.aliases: Policy.aliases gives 'q' to both 'a' and 'b'.", id="server-aliases"),
        pytest.param("tools:\n  a: {policy: {aliases: {}}}", "tools.yaml:2: tools.a.policy.aliases: there is no such field.", id="tool-aliases"),
        pytest.param("tools: {a: [}", "tools.yaml:1: this cannot be read as YAML: ", id="syntax"),
        pytest.param("a: \x01", "tools.yaml: this cannot be read as YAML: ", id="control-character"),
        pytest.param(b"tools: {}\n\xff", "tools.yaml:2: the file must be UTF-8 text.", id="not-utf-8"),
        pytest.param("&a [*a]", "tools.yaml:1: [0][0][0]", id="endless"),
        pytest.param("[" * 100_000, "tools.yaml: this cannot be read as YAML: it is nested too deeply.", id="deep"),
        pytest.param("#" * (MAX_BYTES + 1), f"tools.yaml: the file is larger than {MAX_BYTES} bytes.", id="large"),
    ],
)  # fmt: skip
def test_file_errors_name_their_place(refused, text, reported):
    """An error is one sentence that begins with the file and the line."""
    sentences = refused(text).splitlines()
    assert len(sentences) == 1
    assert sentences[0].startswith(reported)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        pytest.param("[tools.a.parameters.p]\nclmap = [1, 2]", "tools.toml: tools.a.parameters.p.clmap: there is no such field; did you mean 'clamp'?", id="misspelt"),
        pytest.param("tools = ", "tools.toml: this cannot be read as TOML: ", id="syntax"),
        pytest.param("[tools.a.parameters.p]\nnull_as = 2024-01-31", "tools.toml: tools.a.parameters.p.null_as: this has the type date, which JSON does not have", id="date"),
        pytest.param("[tools.a.parameters.p]\nclamp = [0, inf]", "tools.toml: tools.a.parameters.p.clamp[1]: must be a finite number.", id="infinite"),
        pytest.param(f"x = {'9' * 5000}", "tools.toml: this cannot be read as TOML: ", id="long-number"),
        pytest.param(f"x = {'[' * 100_000}", "tools.toml: this cannot be read as TOML: it is nested too deeply.", id="deep"),
        pytest.param("a." * 5000 + "b = 1", "tools.toml: ", id="deep-names"),
        pytest.param('[tools."x.y".parameters.p]\nstrip = 1', 'tools.toml: tools["x.y"].parameters.p.strip: must be true or false.', id="quoted-name"),
    ],
)  # fmt: skip
def test_toml_errors_name_their_path(refused, text, reported):
    """In TOML an error has the path instead of the line."""
    assert refused(text, "tools.toml").startswith(reported)


def test_alias_bomb_is_refused(refused):
    """Anchors that double repeatedly are refused before they expand."""
    lines = ["a0: &a0 [x, x]", *(f"a{at}: &a{at} [*a{at - 1}, *a{at - 1}]" for at in range(1, 31))]
    assert "including those repeated by anchors." in refused("\n".join(lines))


def test_all_errors_are_reported_at_once(refused):
    """All errors are reported together in the order of their lines."""
    text = (
        "tools:\n  a: {parametres: {}}\n  b: {parameters: {x: {aliases: [2, 1]}}}\n  c: {policy: {mode: x}}\n"
    )
    reported = [sentence.split(": ")[:2] for sentence in refused(text).splitlines()]
    assert reported == [
        ["tools.yaml:2", "tools.a.parametres"],
        ["tools.yaml:3", "tools.b.parameters.x.aliases[0]"],
        ["tools.yaml:3", "tools.b.parameters.x.aliases[1]"],
        ["tools.yaml:4", "tools.c.policy.mode"],
    ]


def test_reported_errors_are_bounded(refused):
    """A file full of errors gives a bounded message."""
    fields = "".join(f"field{at}: {'x' * 100}\n" for at in range(500))
    reported = refused(
        f"{fields}tools: {{t: {{parameters: {{p: {{aliases: [{'1, ' * 1_000}]}}}}}}}}"
    ).splitlines()
    assert len(reported) == MAX_FAULTS + 1
    assert reported[-1] == f"… and {1_500 - MAX_FAULTS} more."
    assert max(map(len, reported)) < 1000


def test_names_in_errors_are_printable(refused):
    """Control characters in a file's names are escaped in errors."""
    assert "\x1b" not in refused('tools: {"\\e[31m": 1}')


@pytest.mark.parametrize("name", ["tools", "tools.json", "tools.yaml.txt"])
def test_suffix_decides_the_format(refused, name):
    """A name with another suffix is refused, with the allowed ones."""
    assert refused(YAML, name) == f"{name}: the file name must end in .yaml, .yml or .toml."


def test_missing_file_raises_os_error(tmp_path):
    """A missing file is not a DefinitionError."""
    with pytest.raises(FileNotFoundError):
        load_definitions(str(tmp_path / "none.yaml"))


def test_nothing_in_a_file_is_executed(refused, tmp_path):
    """A tag that names a function does not call it."""
    made = tmp_path / "made"
    assert "could not determine a constructor for the tag" in refused(
        f"tools: !!python/object/apply:os.mkdir ['{made}']"
    )
    assert not made.exists()


# --- laws ------------------------------------------------------------------------------------------------

NAMES = st.text(min_size=1, max_size=8).filter(lambda text: text.strip() and text.isprintable())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates()
FIELDS = st.sampled_from(
    [*ParameterEntry.model_fields, *ServerPolicyEntry.model_fields, "tools", "parameters"]
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS | NAMES, inner, max_size=3), max_leaves=12
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder for files that are rewritten."""
    return tmp_path_factory.mktemp("definitions")


def loads_or_is_refused(file: Path, text: str) -> None:
    file.write_bytes(text.encode(errors="surrogatepass"))
    try:
        load_definitions(file)
    except DefinitionError as error:
        assert str(error).startswith(str(file))  # noqa: PT017 - both outcomes are allowed


@given(
    text=st.text() | st.text(alphabet="{}[]:,-&*!? \n\"'#|>%@`=.ab1"),
    suffix=st.sampled_from(["yaml", "toml"]),
)
def test_any_text_loads_or_raises_definition_error(folder, text, suffix):
    """Any file is loaded, or refused with a DefinitionError that names it."""
    loads_or_is_refused(folder / f"any.{suffix}", text)


@given(
    tools=st.dictionaries(
        NAMES, st.fixed_dictionaries({}, optional={"parameters": VALUES, "policy": VALUES}), max_size=3
    ),
    policy=VALUES,
)
def test_any_value_loads_or_raises_definition_error(folder, tools, policy):
    """With any field values, the file is loaded, or refused with a DefinitionError that names it."""
    loads_or_is_refused(folder / "values.yaml", yaml.safe_dump({"tools": tools, "policy": policy}))


@given(aliases=st.dictionaries(NAMES, st.lists(NAMES, min_size=1, max_size=3, unique=True), max_size=3))
def test_quoted_aliases_are_read_unchanged(folder, aliases):
    """Quoted names are read unchanged, even if they mean something else in YAML."""
    others = [name for names in aliases.values() for name in names]
    if len({*others, *aliases}) < len(others) + len(aliases):
        return
    file = folder / "aliases.yaml"
    file.write_text(
        json.dumps(
            {"tools": {"t": {"parameters": {name: {"aliases": names} for name, names in aliases.items()}}}},
            ensure_ascii=False,
        ),
        encoding="utf-8",
    )
    assert load_definitions(file).tools["t"].aliases == {
        name: tuple(names) for name, names in aliases.items()
    }


# --- unknown names --------------------------------------------------------------------------------------


def named(**names):
    return Definitions(names={tool: frozenset(parameters) for tool, parameters in names.items()})


@each_row(
    ("definitions", "reported"),
    [
        pytest.param(named(find=["query"]), [], id="all-there"),
        pytest.param(named(find=[]), [], id="no-parameters"),
        pytest.param(named(fnid=["x"]), ["There is no tool 'fnid'; did you mean 'find'?"], id="tool"),
        pytest.param(named(other=["x"]), ["There is no tool 'other'."], id="tool-like-none"),
        pytest.param(named(find=["querry"]), ["Tool 'find' has no parameter 'querry'; did you mean 'query'?"], id="parameter"),
        pytest.param(named(find=["Query"]), ["Tool 'find' has no parameter 'Query'; did you mean 'query'?"], id="parameter-case"),
        pytest.param(named(find=["zone"]), ["Tool 'find' has no parameter 'zone'."], id="parameter-like-none"),
        pytest.param(named(stop=["now"]), ["Tool 'stop' has no parameter 'now'."], id="parameter-of-none"),
        pytest.param(
            named(find=["b", "a"], sleep=[]),
            ["Tool 'find' has no parameter 'a'.", "Tool 'find' has no parameter 'b'.", "There is no tool 'sleep'."],
            id="several",
        ),
    ],
)  # fmt: skip
def test_unknown_names_get_suggestions(definitions, reported):
    """Each unknown tool or parameter gives one sentence, with the most similar name if there is one."""
    assert list(unknown_names(definitions, {"find": ["query", "limit"], "stop": []})) == reported


def test_unknown_names_are_bounded():
    """A file for another server gives at most 20 sentences."""
    definitions = named(**{f"tool{at}": [] for at in range(1000)})
    assert len(unknown_names(definitions, {"find": []})) == 20
