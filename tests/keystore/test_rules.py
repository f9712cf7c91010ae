"""Where a key may go: only to the host it is meant for, or after a yes for exactly that."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from engine.config.schema import Config, Connection, Judge, ModelEntry
from engine.errors import UserError
from engine.hosts import endpoint
from engine.keystore import KeyStore
from engine.secret_refs import literal_keys, looks_like_key, parse_ref, vendor_hosts
from tests.keystore.fakes import FakeStore

KEY = "sk-test-0123456789abcdef"
ENV = {"OPENAI_API_KEY": "sk-vendor-000000001", "GATEWAY_KEY": "gateway-000000001", "EMPTY_KEY": " "}


def store(**kind: object) -> KeyStore:
    return KeyStore(backend=FakeStore(), environ=ENV, **kind)  # type: ignore[arg-type]


def compatible(url: str, ref: str | None = None, **more: object) -> Connection:
    return Connection(id="gw", kind="openai_compatible", base_url=url, api_key_ref=ref, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["mock", "builtin", "callable", "ollama", "lmstudio", "vllm"])
def test_what_needs_no_key_is_usable_without_one(kind: str) -> None:
    result = store().resolve(Connection(id=kind, kind=kind))
    assert result.usable
    assert result.value is None


def test_the_kept_key_goes_before_the_variable() -> None:
    keys = store()
    connection = Connection(id="openai", kind="openai")
    assert keys.resolve(connection).source == "environment"
    keys.store(connection, KEY)
    assert keys.resolve(connection).value == KEY


def test_the_second_variable_of_a_vendor_counts_too() -> None:
    keys = KeyStore(backend=FakeStore(), environ={"GOOGLE_API_KEY": "AIza-test-00000001"})
    assert keys.resolve(Connection(id="g", kind="gemini")).name == "GOOGLE_API_KEY"


@pytest.mark.parametrize(
    "url",
    [
        "https://gateway.example.com/v1",
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.example.com/v1",
        "https://xn--pi-6kc.openai.com/v1",
        "http://127.0.0.1:8080/v1",
    ],
)
@pytest.mark.parametrize("trust", [False, True])
def test_a_vendors_variable_never_goes_elsewhere(url: str, trust: bool) -> None:
    for connection in (
        Connection(id="openai", kind="openai", base_url=url),
        compatible(url, "${env:OPENAI_API_KEY}"),
    ):
        result = store().resolve(connection, trust=trust)
        assert result.value is None
        assert result.code == "refused_host"
        assert endpoint(url).host in result.reason


def test_the_address_of_an_entry_counts_as_well() -> None:
    entry = ModelEntry(model="m", api_base="https://elsewhere.example.com")
    result = store().resolve(Connection(id="openai", kind="openai"), entry)
    assert result.code == "refused_host"
    named = ModelEntry(model="m", api_base="https://elsewhere.example.com", api_key_env="OPENAI_API_KEY")
    assert store().resolve(Connection(id="openai", kind="openai"), named).code == "refused_host"


@pytest.mark.parametrize(
    "url",
    ["https://api.openai.com@evil.com", "https://evil.com\\@api.openai.com", "https://a%2eb/", "htp://x"],
)
def test_an_address_that_reads_two_ways_gets_no_key(url: str) -> None:
    result = store().resolve(Connection(id="openai", kind="openai", base_url=url), trust=True)
    assert (result.value, result.code) == (None, "refused_host")


def test_a_kept_key_stays_with_its_host() -> None:
    keys = store()
    keys.store(compatible("https://one.example.com/v1"), KEY)
    assert keys.resolve(compatible("https://one.example.com/other")).value == KEY
    moved = keys.resolve(compatible("https://two.example.com/v1"), trust=True)
    assert (moved.value, moved.code) == (None, "refused_host")
    assert "one.example.com" in moved.reason
    assert "two.example.com" in moved.reason
    open_line = keys.resolve(compatible("http://one.example.com/v1"), trust=True)
    assert open_line.value is None
    keys.store(compatible("https://two.example.com/v1"), KEY + "2")
    assert keys.resolve(compatible("https://two.example.com/v1")).value == KEY + "2"
    assert keys.resolve(compatible("https://one.example.com/v1")).value == KEY


def test_another_variable_goes_to_this_computer_without_asking() -> None:
    result = store().resolve(compatible("http://127.0.0.1:4000/v1", "${env:GATEWAY_KEY}"))
    assert (result.value, result.source) == (ENV["GATEWAY_KEY"], "environment")


def test_another_variable_goes_elsewhere_after_a_yes_for_exactly_that() -> None:
    keys = store()
    connection = compatible("https://gw.example.com/v1", "${env:GATEWAY_KEY}")
    asked = keys.resolve(connection)
    assert (asked.value, asked.code) == (None, "needs_yes")
    assert asked.question == ("env", "GATEWAY_KEY", "gw.example.com")
    assert keys.resolve(connection, trust=True).value == ENV["GATEWAY_KEY"]
    assert keys.resolve(connection).code == "needs_yes"
    keys.permit(asked)
    assert keys.resolve(connection).value == ENV["GATEWAY_KEY"]
    assert store().resolve(connection).value == ENV["GATEWAY_KEY"]
    other_host = compatible("https://gw2.example.com/v1", "${env:GATEWAY_KEY}")
    other_name = compatible("https://gw.example.com/v1", "${env:OTHER}")
    assert keys.resolve(other_host).code == keys.resolve(other_name).code == "needs_yes"


def test_trusted_code_is_no_yes_for_a_key() -> None:
    connection = compatible("https://gw.example.com/v1", "${env:GATEWAY_KEY}")
    assert store().resolve(connection, code_trusted=True).code == "needs_yes"


@pytest.mark.parametrize("name", ["EMPTY_KEY", "NOT_THERE"])
def test_an_empty_variable_is_missing(name: str) -> None:
    result = store().resolve(compatible("http://127.0.0.1:4000/v1", f"${{env:{name}}}"))
    assert result.code == "missing"
    assert name in result.reason


def test_an_entry_of_ours_by_name() -> None:
    keys = store()
    keys.store(compatible("https://gw.example.com/v1"), KEY)
    for ref in ("${keyring:gw}", "${keyring:agent-arena/gw}"):
        assert keys.resolve(compatible("https://gw.example.com/v1", ref)).value == KEY
    moved = keys.resolve(compatible("https://evil.example.com/v1", "${keyring:gw}"), trust=True)
    assert (moved.value, moved.code) == (None, "refused_host")
    foreign = keys.resolve(compatible("https://gw.example.com/v1", "${keyring:github/me}"), trust=True)
    assert (foreign.value, foreign.code) == (None, "refused")
    absent = keys.resolve(compatible("https://gw.example.com/v1", "${keyring:nobody}"))
    assert absent.code == "missing"


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_a_file_is_read_inside_the_folder_and_for_the_user_only(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    inside, outside = root / "key.txt", tmp_path / "key.txt"
    for path in (inside, outside):
        path.write_text(f"\ufeff{KEY}\n", encoding="utf-8")
        path.chmod(0o600)
    os.symlink(outside, root / "link.txt")
    keys = store()

    def ask(ref: str) -> tuple[str | None, str]:
        result = keys.resolve(compatible("https://gw.example.com", ref), root=root)
        return result.value, result.code

    assert ask("${file:key.txt}") == (KEY, "found")
    for ref in ("${file:../key.txt}", f"${{file:{outside}}}", "${file:link.txt}"):
        assert ask(ref) == (None, "refused")
    assert ask("${file:none.txt}") == (None, "missing")
    for mode in (0o640, 0o604, 0o660):
        inside.chmod(mode)
        assert ask("${file:key.txt}") == (None, "refused")
    refused = keys.resolve(compatible("https://gw.example.com", "${file:key.txt}"), root=root)
    assert refused.fix == "Run: chmod 600 key.txt"


def test_a_command_runs_only_with_trust_and_without_a_shell(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    script = tmp_path / "give.py"
    script.write_text(
        f"import sys, pathlib\npathlib.Path({str(mark)!r}).write_text('x')\nprint(sys.argv[1])\n",
        encoding="utf-8",
    )
    python = sys.executable.replace("\\", "/")
    connection = compatible("https://gw.example.com", f"${{cmd:{python} give.py '$HOME; echo x'}}")
    keys = store()
    asked = keys.resolve(connection, root=tmp_path)
    assert (asked.value, asked.code) == (None, "needs_yes")
    assert not mark.exists()
    for yes in ({"code_trusted": True}, {"trust": True}):
        assert keys.resolve(connection, root=tmp_path, **yes).value == "$HOME; echo x"


def test_a_failing_command_says_what_it_said_without_keys(tmp_path: Path) -> None:
    (tmp_path / "fail.py").write_text(f"import sys\nsys.exit('no vault: {KEY}')\n", encoding="utf-8")
    python = sys.executable.replace("\\", "/")
    connection = compatible("https://gw.example.com", f"${{cmd:{python} fail.py}}")
    result = store().resolve(connection, root=tmp_path, trust=True)
    assert result.code == "refused"
    assert "no vault" in result.reason
    assert KEY not in result.reason
    gone = store().resolve(compatible("https://gw.example.com", "${cmd:no-such-program-here}"), trust=True)
    assert "cannot be started" in gone.reason


@pytest.mark.parametrize("ref", ["${vault:x}", "${env:}"])
def test_a_reference_that_is_none(ref: str) -> None:
    with pytest.raises(UserError) as fault:
        parse_ref(ref)
    assert fault.value.hint
    assert store().resolve(compatible("http://localhost:1", ref)).code == "refused"


def test_fc149_a_key_in_the_project_file_is_refused_and_found() -> None:
    connection = compatible(
        "https://gw.example.com/v1", KEY, headers={"Authorization": f"Bearer {KEY}", "X-Team": "a"}
    )
    entry = ModelEntry(model="m", provider="gw", api_key_env=KEY)
    result = store().resolve(connection, trust=True)
    assert (result.value, result.code) == (None, "refused")
    assert KEY not in repr(result)
    assert store().resolve(connection, entry, trust=True).code == "refused"
    found = literal_keys(Config(connections=(connection,), models=(entry,), judge=Judge(api_key_env=KEY)))
    assert [literal.place for literal in found] == [
        "connections.gw.api_key_ref",
        "connections.gw.headers.Authorization",
        "models[0].api_key_env",
        "judge.api_key_env",
    ]
    assert KEY not in repr(found)


@pytest.mark.parametrize("word", ["ollama", "EMPTY", "not-needed", "sk-no-key-required"])
def test_a_placeholder_is_no_key(word: str) -> None:
    connection = compatible("http://localhost:11434/v1", word)
    assert store().resolve(connection).value == word
    assert literal_keys(Config(connections=(connection,))) == []
    assert not looks_like_key(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KEY, True),
        ("Bearer " + KEY, True),
        ("gsk_abcdefgh1234", True),
        ("a1b2c3d4e5f6a7b8c9d0e1", True),
        ("${env:NAME}", False),
        ("team-a", False),
        ("application/json", False),
        ("OPENAI_API_KEY", False),
    ],
)
def test_what_looks_like_a_key(text: str, expected: bool) -> None:
    assert looks_like_key(text) is expected


@pytest.mark.parametrize(
    "bend",
    [
        {"proxy": "http://proxy.example.com:3128"},
        {"verify_tls": False},
        {"verify_tls": "own-ca.pem"},
        {"headers": {"Authorization": "Basic abc"}},
        {"headers": {"X-Api-Key": "abc"}},
    ],
)
def test_a_bent_line_gets_no_key_until_it_is_confirmed(bend: dict[str, object]) -> None:
    keys = store()
    keys.store(compatible("https://gw.example.com/v1"), KEY)
    straight = Connection(id="openai", kind="openai")
    for connection in (
        compatible("https://gw.example.com/v1", **bend),
        Connection(id="openai", kind="openai", **bend),  # type: ignore[arg-type]
    ):
        asked = keys.resolve(connection)
        assert (asked.value, asked.code) == (None, "needs_yes"), connection
        assert keys.resolve(connection, trust=True).value
        keys.permit(asked)
        assert keys.resolve(connection).value
    assert keys.resolve(straight).value
    other = compatible("https://gw.example.com/v1", proxy="http://other.example.com:1")
    assert keys.resolve(other).code == "needs_yes"


def test_harmless_headers_ask_nothing() -> None:
    connection = Connection(id="openai", kind="openai", headers={"X-Title": "a", "HTTP-Referer": "b"})
    keys = store()
    assert keys.resolve(connection).value
    assert keys.resolve_headers(connection) == ({"X-Title": "a", "HTTP-Referer": "b"}, None)


def test_headers_follow_the_same_rules() -> None:
    keys = store()
    line = compatible(
        "https://gw.example.com/v1", headers={"Authorization": "Bearer ${env:GATEWAY_KEY}", "X-Team": "a"}
    )
    headers, fault = keys.resolve_headers(line)
    assert headers == {"X-Team": "a"}
    assert fault is not None
    assert fault.code == "needs_yes"
    keys.permit(fault)
    headers, fault = keys.resolve_headers(line)
    assert headers == {"Authorization": f"Bearer {ENV['GATEWAY_KEY']}", "X-Team": "a"}
    assert fault is None
    assert ENV["GATEWAY_KEY"] in keys.known_values()
    vendor = compatible("https://gw.example.com/v1", headers={"X-Api-Key": "${env:OPENAI_API_KEY}"})
    assert keys.resolve_headers(vendor, trust=True)[0] == {}
    literal = compatible("https://gw.example.com/v1", headers={"X-Api-Key": KEY})
    headers, fault = keys.resolve_headers(literal, trust=True)
    assert headers == {}
    assert fault is not None
    assert fault.code == "refused"


def test_vendors_behind_openai_compatible_have_their_own_host() -> None:
    assert vendor_hosts("MISTRAL_API_KEY") == ("api.mistral.ai",)
    keys = KeyStore(backend=FakeStore(), environ={"MISTRAL_API_KEY": "m-000000001"})
    own = compatible("https://api.mistral.ai/v1", "${env:MISTRAL_API_KEY}")
    assert keys.resolve(own).value == "m-000000001"
    assert keys.resolve(compatible("https://x.example.com", "${env:MISTRAL_API_KEY}")).code == "refused_host"
