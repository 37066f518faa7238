"""Any record of any copybook: what is written is read as it was, and what is read is written as it was."""

from __future__ import annotations

from decimal import Decimal
from io import BytesIO
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parsers.importers.copybook import read_text
from parsers.importers.copybook.items import DataItem
from parsers.importers.copybook.message_set import field_names
from parsers.records.framing import RECORD_FORMATS, Framing, cut_records, framed
from parsers.records.json_fields import Coding, from_json, to_json
from parsers.records.reading import read_record
from parsers.records.record_plan import plan_of
from parsers.records.writing import write_record

USAGES = ("", " COMP", " COMP-5", " COMP-3", " SIGN LEADING", " SIGN TRAILING SEPARATE", " SIGN LEADING SEPARATE")
CODINGS = st.sampled_from(
    [
        Coding(37, 785, "ebcdic", "big"),
        Coding(500, 0x111, "ebcdic", "big"),
        Coding(819, 546, "ascii", "little"),
        Coding(819, 529, "ebcdic-custom", "little"),
        Coding(1208, 273, "ascii", "big"),
    ]
)


@st.composite
def clauses(draw: st.DrawFn) -> str:
    """The clauses of an elementary item."""
    kind = draw(st.sampled_from(["text", "number", "float", "national"]))
    if kind == "text":
        return f"PIC X({draw(st.integers(1, 20))})" + draw(st.sampled_from(["", " JUST"]))
    if kind == "float":
        return draw(st.sampled_from(["COMP-1", "COMP-2", "BINARY-LONG", "BINARY-CHAR UNSIGNED"]))
    if kind == "national":
        return f"PIC N({draw(st.integers(1, 9))})"
    whole, places = draw(st.integers(1, 9)), draw(st.integers(0, 8))
    sync = draw(st.sampled_from(["", " SYNC"]))
    return f"PIC S9({whole})" + (f"V9({places})" if places else "") + draw(st.sampled_from(USAGES)) + sync


@st.composite
def books(draw: st.DrawFn) -> str:
    """A copybook of fields, groups, tables, tables of variable length and shared storage."""
    lines, number = ["01 R."], 0

    def fields(level: int, depth: int) -> None:
        nonlocal number
        for _ in range(draw(st.integers(1, 4))):
            number += 1
            name = f"F{number}"
            shape = draw(st.sampled_from(["leaf", "leaf", "table", "group", "groups", "varying", "shared"]))
            if depth == 3 or shape == "leaf":
                lines.append(f"{level:02} {name} {draw(clauses())}.")
            elif shape == "table":
                lines.append(f"{level:02} {name} {draw(clauses())} OCCURS {draw(st.integers(1, 3))} TIMES.")
            elif shape == "shared":
                size = draw(st.integers(1, 9))
                lines.append(f"{level:02} {name} PIC X({size}).")
                lines.append(f"{level:02} {name}R REDEFINES {name} PIC X({draw(st.integers(1, 9))}).")
            else:
                occurs = ""
                if shape == "groups":
                    occurs = f" OCCURS {draw(st.integers(1, 3))}"
                elif shape == "varying":
                    lines.append(f"{level:02} {name}N PIC 9(2){draw(st.sampled_from(['', ' COMP', ' COMP-3']))}.")
                    occurs = f" OCCURS 0 TO 3 TIMES DEPENDING ON {name}N"
                lines.append(f"{level:02} {name}{occurs}.")
                fields(level + 2, depth + 1)

    fields(3, 0)
    return "\n".join(lines)


def leaf_values(item: DataItem) -> st.SearchStrategy[Any]:
    """Values that a field can hold, as they are read again."""
    picture = item.picture
    if item.usage in {"COMP-1", "COMP-2"}:
        return st.integers(-(2**20), 2**20).map(lambda n: n / 8)
    if picture is None:
        return st.integers(0, 255) if item.length == 1 else st.integers(-(2**31), 2**31 - 1)
    if picture.category != "numeric":
        text = st.text("abc XYZ09", max_size=picture.positions)
        return text.map(lambda value: value.lstrip(" ") if item.entry.justified else value.rstrip(" "))
    most = 10**picture.digits - 1
    if item.usage in {"BINARY", "COMP-5"}:
        most = min(most, 2 ** (8 * item.length - 1) - 1)
    numbers = st.integers(-most if picture.signed else 0, most)
    return numbers.map(lambda n: Decimal(n).scaleb(-picture.scale)) if picture.scale > 0 else numbers


def values(draw: st.DrawFn, item: DataItem) -> dict[str, Any]:
    """A record's fields, or those of a group; counts are those of tables, shared storage is given once."""
    found: dict[str, Any] = {}
    names = field_names(item)
    for inner in item.children:
        key = names[id(inner.entry)]
        if inner.redefines is not None:
            continue
        if inner.counter is not None:
            count = draw(st.integers(0, 3))
            found[inner.counter.name] = count
            found[key] = [one(draw, inner) for _ in range(count)]
        elif inner.occurs is not None:
            found[key] = [one(draw, inner) for _ in range(inner.most)]
        else:
            found[key] = one(draw, inner)
    return found


def one(draw: st.DrawFn, item: DataItem) -> Any:
    return values(draw, item) if item.is_group else draw(leaf_values(item))


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(books(), CODINGS, st.data(), st.booleans())
def test_round_trip(text: str, coding: Coding, data: st.DataObject, slide: bool) -> None:
    """Bytes to JSON to bytes, and JSON to bytes to JSON, for generated copybooks and records."""
    book = read_text("c.cpy", text).records[0]
    plan = plan_of(book, coding, slide=slide)
    blank = "\x40" if coding.sign == "ebcdic" else " "
    value = values(data.draw, book.top)  # type: ignore[arg-type]  # draw of st.data has another type than that of composite
    written = write_record(plan, value, ord(blank))
    found, end = read_record(plan.read, written)
    assert len(written) == end
    assert written == write_record(plan, found, ord(blank))
    again = from_json(to_json(found), 1)
    assert written == write_record(plan, again, ord(blank))
    assert all(found[key] == expected for key, expected in value.items() if not isinstance(expected, dict | list))


@given(
    st.lists(st.binary(min_size=1, max_size=50).filter(lambda data: not set(data) & {10, 13}), max_size=20),
    st.sampled_from([form for form in RECORD_FORMATS if form not in {"F", "L"}]),
    st.sampled_from(["big", "little"]),
    st.booleans(),
    st.integers(-3, 3),
)
def test_files_round_trip(records: list[bytes], form: Any, order: Any, excludes: bool, adjustment: int) -> None:
    """Records are cut from a file as they were put into it."""
    framing = Framing(
        form, rdw_order=order, bdw_order=order, rdw_excludes_itself=excludes, rdw_adjustment=min(adjustment, 0)
    )
    file = b"".join(framed(iter(records), framing, b" ", None))
    assert records == [cut.data for cut in cut_records(BytesIO(file), framing, longest=1)]
