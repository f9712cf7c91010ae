"""Files of test cases to written cases: YAML, JSON, JSON lines, CSV and TSV through one form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from yaml.error import Mark
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.cases.build import BuildSettings, Written, build_case, is_off, read_fields, with_defaults
from engine.cases.fields import COLUMN_OF, LIST_NAMES
from engine.cases.table import Row, Table, parse_table
from engine.config import json_text
from engine.config.faults import Faults, join, nearest
from engine.config.text_files import TextFile, read_text
from engine.config.values import MAP, PLAIN, SEQ, STR, pairs
from engine.config.yaml_text import MAX_BYTES, compose
from engine.domain import Case, Problem, Severity
from engine.errors import ArenaError

MAX_TABLE_BYTES = 256 * 1024 * 1024
SUFFIXES = (".yaml", ".yml", ".json", ".jsonl", ".ndjson", ".csv", ".tsv")
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
_TABLES = (".csv", ".tsv")
_LINES = (".jsonl", ".ndjson")
_TYPED_COLUMNS = frozenset({"weight", "max_tokens", "temperature", "enabled", "skip"})
_JSON_COLUMNS = frozenset({"params", "checks"})
_LIST_COLUMNS = frozenset({"tags", "images", "files"})


@dataclass(frozen=True, slots=True)
class CaseFile:
    """One file of cases as it was read: what was found out about it, to be shown.

    `delimiter` is None for all but tables with several columns; `columns` are a table's headers,
    `quote` the character around its cells; `off` counts cases that are switched off.
    """

    file: str
    encoding: str = ""
    delimiter: str | None = None
    columns: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    problems: tuple[Problem, ...] = ()
    off: int = 0
    quote: str = '"'


def read_case_file(path: Path, file: str, settings: BuildSettings) -> CaseFile:
    """All cases of one file, without final ids, and all its problems. Never raises for content."""
    limit = MAX_TABLE_BYTES if path.suffix.lower() in (*_TABLES, *_LINES) else MAX_BYTES
    try:
        source = read_text(path, file, limit)
    except ArenaError as error:
        fault = Problem(Severity.ERROR, error.message, error.hint, file, code=error.code)
        return CaseFile(file, problems=(fault,))
    return read_case_text(source, file, settings)


def read_case_text(source: TextFile, file: str, settings: BuildSettings) -> CaseFile:
    """As `read_case_file`, for text that is already there."""
    faults = Faults(file)
    faults.items.extend(source.problems)
    if not source.encoding:
        return CaseFile(file, problems=tuple(faults.items))
    if not source.text.strip():
        faults.error(None, "", "empty_file", "The file is empty.", "Write test cases into it.")
        return CaseFile(file, source.encoding, problems=tuple(faults.items))
    suffix = source.path.suffix.lower()
    table = parse_table(source.text, file) if suffix in _TABLES else None
    if table is not None:
        faults.items.extend(table.problems)
        written = _from_table(table, settings, faults)
    elif suffix in _LINES:
        written = _from_lines(source.text, faults)
    else:
        written = _from_document(source.text, faults)
    cases, off = _build(written, settings, faults)
    if not cases and not off and not any(p.severity is Severity.ERROR for p in faults.items):
        faults.error(None, "", "no_cases", "There are no test cases in this file.", _hint(table))
    return CaseFile(
        file,
        source.encoding,
        table.delimiter if table else None,
        table.header if table else (),
        tuple(cases),
        tuple(faults.items),
        off,
        table.quote if table else '"',
    )


def _hint(table: Table | None) -> str:
    if table is not None:
        return "Only the header row is there; add one row per test."
    return "Write them as a list under `tests:`."


def _build(written: list[Written], settings: BuildSettings, faults: Faults) -> tuple[list[Case], int]:
    cases, off = [], 0
    for item in written:
        if is_off(item):
            off += 1
            continue
        case = build_case(item, settings, faults)
        if case is not None:
            cases.append(case)
    return cases, off


def _from_document(text: str, faults: Faults) -> list[Written]:
    document = compose(text, faults.file)
    faults.items.extend(document.problems)
    root = document.root
    if root is None:
        if not document.problems:
            faults.error(None, "", "no_cases", "There are no test cases in this file.", _hint(None))
        return []
    return _from_root(root, faults)


def _from_root(root: Node, faults: Faults) -> list[Written]:
    if isinstance(root, SequenceNode):
        return _from_list(root, "", None, faults)
    if not isinstance(root, MappingNode):
        faults.error(root, "", "not_cases", "The file is not a list of tests.", _hint(None))
        return []
    found = {key.value: (key, value) for key, value in pairs(root)}
    name = next((name for name in LIST_NAMES if name in found), None)
    if name is None:
        faults.error(
            root, "", "not_cases", "The file holds no list `tests`, `cases` or `test_cases`.", _hint(None)
        )
        return []
    _name_unused(found, name, faults)
    defaults = None
    if "defaults" in found and isinstance(found["defaults"][1], MappingNode):
        defaults = read_fields(found["defaults"][1], "defaults", faults)
    rows = found[name][1]
    if not isinstance(rows, SequenceNode):
        if isinstance(rows, MappingNode) or rows.value:
            faults.error(rows, name, "bad_value", f"`{name}` must be a list.", "Start each test with `- `.")
        return []
    return _from_list(rows, name, defaults, faults)


def _name_unused(found: dict[str, tuple[ScalarNode, Node]], used: str, faults: Faults) -> None:
    for name, (key, _) in found.items():
        if name in (used, "defaults", "schema_version") or name.startswith("x-"):
            continue
        close = nearest(name, ("defaults", *LIST_NAMES), 0.8)
        fix = f"Did you mean `{close}`?" if close else "Remove it, or start its name with `x-`."
        faults.warning(key, name, "unknown_key", f"`{name}` is not read from a file of tests.", fix)


def _from_list(rows: SequenceNode, name: str, defaults: Written | None, faults: Faults) -> list[Written]:
    result = []
    for index, node in enumerate(rows.value):
        path = join(name, index) if name else f"[{index}]"
        if isinstance(node, MappingNode):
            result.append(with_defaults(read_fields(node, path, faults), defaults))
        else:
            faults.error(
                node, path, "not_a_case", "A test must be a block with an `input`.", "Write `- input: …`."
            )
    return result


def _from_lines(text: str, faults: Faults) -> list[Written]:
    """One JSON object per line; a whole JSON document under the wrong ending is read as such."""
    if _is_one_document(text):
        try:
            root = json_text.compose(text)
        except (json_text.BadJsonError, json_text.TooDeepError):
            root = None
        if root is not None:
            return _from_root(root, faults) if isinstance(root, SequenceNode) else _from_object(root, faults)
    result = []
    for number, line in enumerate(text.split("\n")):
        stripped = line.strip()
        if not stripped or stripped.startswith("//"):
            continue
        node = _line(line.rstrip("\r"), number, faults)
        if node is not None:
            result.append(read_fields(node, "", faults))
    return result


def _is_one_document(text: str) -> bool:
    head = text.lstrip()
    first = head.split("\n", 1)[0].rstrip()
    return head.startswith("[") or (head.startswith("{") and not first.endswith("}"))


def _from_object(root: Node, faults: Faults) -> list[Written]:
    names = {key.value for key, _ in pairs(root)}
    if names.intersection(LIST_NAMES) or not isinstance(root, MappingNode):
        return _from_root(root, faults)
    return [read_fields(root, "", faults)]


def _line(line: str, number: int, faults: Faults) -> MappingNode | None:
    try:
        node = json_text.compose(line, number)
    except json_text.BadJsonError as fault:
        _at(faults, fault.line, fault.column, "bad_json", fault.message, fault.fix)
        return None
    except json_text.TooDeepError:
        _at(faults, number + 1, None, "too_deep", "The line is nested too deeply.", "Make it flatter.")
        return None
    if isinstance(node, MappingNode):
        _report_twins(node, faults)
        return node
    message = "The line is not an object with an `input`."
    faults.error(node, "", "not_a_case", message, 'Write `{"input": "…"}`.')
    return None


def _at(faults: Faults, line: int, column: int | None, code: str, message: str, fix: str) -> None:
    faults.items.append(Problem(Severity.ERROR, message, fix, faults.file, line, column, code=code))


def _report_twins(node: MappingNode, faults: Faults) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if key.value in seen:
            message = f"`{key.value}` is written twice in this line; only one of them could count."
            faults.error(key, str(key.value), "duplicate_key", message, "Delete one.")
        seen.add(key.value)


def _from_table(table: Table, settings: BuildSettings, faults: Faults) -> list[Written]:
    columns = _columns(table)
    fields = set(columns.values())
    if table.rows and "input" not in fields and (settings.needs_input or not table.header):
        names = ", ".join(f"`{name}`" for name in table.header)
        faults.items.append(
            Problem(
                Severity.ERROR,
                f"No column is called `input`; the columns are {names}.",
                "Rename the column with the questions to `input`, or use the columns in a prompt: `{{…}}`.",
                faults.file,
                table.header_line,
                code="no_input_column",
            )
        )
        return []
    if table.rows and not fields & {"reference", "checks", "eval_type", "params"}:
        faults.items.append(
            Problem(
                Severity.WARNING,
                "No column holds the expected answers.",
                "Add a column `reference`, or use checks that need none (a judge, or marking by hand).",
                faults.file,
                table.header_line,
                code="no_reference_column",
            )
        )
    return [_from_row(row, table.header, columns, faults) for row in table.rows]


def _columns(table: Table) -> dict[int, str]:
    """Which field each column is, by position; of several names for one field the first in rank."""
    best: dict[str, tuple[int, int]] = {}
    for index, name in enumerate(table.header):
        place = COLUMN_OF.get(name.lower().replace(" ", "_"))
        if place is not None and (place[0] not in best or place[1] < best[place[0]][0]):
            best[place[0]] = (place[1], index)
    return {index: field for field, (_, index) in best.items()}


def _from_row(row: Row, header: tuple[str, ...], columns: dict[int, str], faults: Faults) -> Written:
    written = Written(ScalarNode(STR, "", _mark(row.line, 0)), "")
    variables: list[tuple[Node, Node]] = []
    for index, cell in enumerate(row.cells):
        field = columns.get(index)
        mark = _mark(row.line, index)
        if field is None:
            if header[index]:
                variables.append((ScalarNode(STR, header[index], mark), ScalarNode(STR, cell, mark)))
        elif cell.strip() or field == "input":
            node = _cell(field, cell, mark, faults)
            if node is not None:
                written.fields[field] = (node, node)
    if variables:
        block = MappingNode(MAP, variables, written.node.start_mark)
        written.fields["vars"] = (block, block)
    return written


def _mark(line: int, index: int) -> Mark:
    return Mark("", 0, line - 1, index, "", 0)


def _cell(field: str, cell: str, mark: Mark, faults: Faults) -> Node | None:
    if field in _LIST_COLUMNS:
        parts = cell.replace(";", ",").split(",")
        return SequenceNode(SEQ, [ScalarNode(STR, part.strip(), mark) for part in parts], mark)
    if field in _JSON_COLUMNS:
        return _json_cell(cell, mark, faults)
    if field in _TYPED_COLUMNS:
        return ScalarNode(PLAIN, cell.strip(), mark)
    return ScalarNode(STR, cell, mark)


def _json_cell(cell: str, mark: Mark, faults: Faults) -> Node | None:
    try:
        return json_text.compose(cell, mark.line)
    except (json_text.BadJsonError, json_text.TooDeepError):
        fix = 'Write for instance {"labels": ["yes", "no"]}.'
        _at(faults, mark.line + 1, mark.column + 1, "bad_json", "The cell is not JSON.", fix)
        return None
