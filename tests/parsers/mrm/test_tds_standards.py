"""TDS: messages as messaging standards have them, by the markup that each standard brings."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from engine.tree.sharing import copy
from parsers.mrm.model import Group
from parsers.mrm.tds.properties import TdsFormat
from tests.parsers.mrm.texts import ALL_DELIMITED, built, codec, complex_, group, plain, read, simple, write

SEGMENT = {"group_terminator": "<EDIFACT_GROUP_TERM>", "delimiter": "<EDIFACT_DS>", **ALL_DELIMITED}
COMPOSITE = {"group_terminator": "<EMPTY>", **ALL_DELIMITED}
EDIFACT = group(
    complex_(
        "BGM",
        group(complex_("name", group(simple("code"), simple("list"), **COMPOSITE)), simple("number"), **SEGMENT),
        tag="BGM",
    ),
    complex_("FTX", group(simple("subject"), simple("text"), **SEGMENT), tag="FTX", min_occurs=0, max_occurs=9),
    data_element_separation="taggedDelimited",
    delimiter="<EMPTY>",
    group_terminator="<EMPTY>",
)
HL7 = group(
    complex_("MSH", group(simple("characters"), simple("sender"), **ALL_DELIMITED), tag="MSH"),
    complex_(
        "PID",
        group(
            simple("set"),
            complex_(
                "name",
                group(
                    simple("family"), simple("given"), delimiter="<HL7_CS>", group_terminator="<EMPTY>", **ALL_DELIMITED
                ),
                max_occurs=-1,
            ),
            **ALL_DELIMITED,
        ),
        tag="PID",
    ),
    data_element_separation="taggedDelimited",
    delimiter="<EMPTY>",
    group_terminator="<EMPTY>",
)
ELEMENTS = {"delimiter": "<X12_DS>", **ALL_DELIMITED}
PARTS = {"group_terminator": "<EMPTY>", **ALL_DELIMITED}
X12 = group(
    complex_("ST", group(simple("set"), simple("control"), **ELEMENTS), tag="ST"),
    complex_("SV", group(complex_("code", group(simple("kind"), simple("of"), **PARTS)), **ELEMENTS), tag="SV"),
    complex_("SE", group(simple("count", "integer"), simple("control"), **ELEMENTS), tag="SE"),
    data_element_separation="taggedDelimited",
    delimiter="<EMPTY>",
    tag_data_separator="<X12_TAGDATA_SEP>",
    group_terminator="<EMPTY>",
)
SWIFT = group(
    simple("reference", tag="20"),
    simple("amount", "decimal", tag="32B"),
    simple("details", tag="70"),
)
AL3 = group(
    simple("a", length=3),
    simple("b", length=2, min_occurs=0),
    simple("c", length=1),
    simple("e", "boolean", length=1),
)


@dataclass(frozen=True)
class Case:
    """A standard, a message in it, and its tree."""

    standard: Any
    content: Group
    text: str
    tree: list[Any]


CASES = {
    "EDIFACT": Case(
        "EDIFACT",
        EDIFACT,
        "BGM+380:1+4711'FTX+AAI+it?'s 3 ?+ 4'FTX+AAI'",
        [
            ("BGM", [("name", [("code", "380"), ("list", "1")]), ("number", "4711")]),
            ("FTX", [("subject", "AAI"), ("text", "it's 3 + 4")]),
            ("FTX", [("subject", "AAI")]),
        ],
    ),
    "HL7": Case(
        "HL7",
        HL7,
        "MSH|x|LAB\rPID|1|Doe^John~Roe^Jane\r",
        [
            ("MSH", [("characters", "x"), ("sender", "LAB")]),
            (
                "PID",
                [
                    ("set", "1"),
                    ("name", [("family", "Doe"), ("given", "John")]),
                    ("name", [("family", "Roe"), ("given", "Jane")]),
                ],
            ),
        ],
    ),
    "X12": Case(
        "X12",
        X12,
        "ST*850*0001!SV*HC:99!SE*2*0001!",
        [
            ("ST", [("set", "850"), ("control", "0001")]),
            ("SV", [("code", [("kind", "HC"), ("of", "99")])]),
            ("SE", [("count", 2), ("control", "0001")]),
        ],
    ),
    "ACORD AL3": Case("ACORD AL3", AL3, "abc??dY", [("a", "abc"), ("c", "d"), ("e", True)]),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_reading(case: Case) -> None:
    """A message of a standard becomes a tree by little more than its model."""
    assert plain(read(codec(case.content, TdsFormat(messaging_standard=case.standard)), case.text)) == case.tree


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_writing(case: Case) -> None:
    """A tree is written as a message of the standard."""
    assert write(codec(case.content, TdsFormat(messaging_standard=case.standard)), built(case.tree)) == case.text


def test_swift() -> None:
    """A SWIFT block has its own ends of lines, a decimal comma, and EBCDIC where the message says nothing else."""
    own = codec(SWIFT, TdsFormat(messaging_standard="SWIFT"))
    text = "\r\n:20:REF\r\n:32B:12,50\r\n:70:PAY\r\n-"
    tree = [("reference", "REF"), ("amount", Decimal("12.50")), ("details", "PAY")]
    assert plain(read(own, text, 500)) == tree
    assert write(own, built(tree), 500) == text


def test_what_is_not_changed_is_written_as_it_was_read() -> None:
    """One field changes; the text of every other stays, escapes and all."""
    own = codec(EDIFACT, TdsFormat(messaging_standard="EDIFACT"))
    changed = copy(read(own, "BGM+380:1+4711'FTX+A?AI+it?'s'"))
    number = changed.at("BGM", "number")
    assert number is not None
    number.value = "4'12"
    assert write(own, changed) == "BGM+380:1+4?'12'FTX+A?AI+it?'s'"


@pytest.mark.parametrize(("name", "sign"), [("EDIFACT", "?"), ("CSV", '"')])
def test_without_escapes(name: str, sign: str) -> None:
    """A format that says that it has no such character takes what its standard has for one as any other."""
    said = {"escape_character": "<EMPTY>", "quote_character": "<EMPTY>", "reserved_characters": "<EMPTY>"}
    pair = group(simple("a"), simple("b"), delimiter=",", group_terminator="<EMPTY>", **ALL_DELIMITED)
    own = codec(pair, TdsFormat(messaging_standard=name, **said))  # type: ignore[arg-type]
    text = f"{sign}1,2{sign}"
    assert [("a", f"{sign}1"), ("b", f"2{sign}")] == plain(read(own, text))
    assert text == write(own, built([("a", f"{sign}1"), ("b", f"2{sign}")]))
