"""Bodies: the XML domains, JSON and BLOB: what is written of a changed document is read again, and JSON as the same."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from engine.parser import Form, parser_catalog
from tests.fuzz.target import Target
from tests.fuzz.trees import opened, rewritten, seen

_CCSIDS: Final = (1208, 1208, 1208, 819, 500, 1200, 943, 1390)
_SAMPLES: Final = Path(__file__).resolve().parents[3] / "flows" / "samples"
_XML: Final = (
    '<r xmlns:p="urn:a}b" p:z="q" w="1"><p:e p:f="1">x</p:e></r>',
    '<r q:z="q"><a>1</a><b/>t<b>2</b>u</r>',
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e "v"><!ATTLIST a b CDATA "c">]><!--c--><a>&e;<![CDATA[x]]><?p i?></a>',
    "<a xmlns='u' xmlns:q='v'><b q:c='1'><q:d/></b>é</a>",
)
_XML_WORDS: Final = (
    *(b"<a>", b"</a>", b"<b/>", b" xmlns:p='u'", b" xmlns=''", b" c='1'", b"p:", b"<![CDATA[", b"]]>", b"<!--", b"-->"),
    *(b"&lt;", b"&#38;", b"<?p i?>", b"<!DOCTYPE a [", b"<!ENTITY e '&#38;'>", b"]>", b"&e;", b"xml:space='preserve'"),
)
_JSON: Final = ('{"a": [1, 2.50, null, true, "é\\u00e9", {}], "b": {"c": []}}', "[1e5, -0, [[]]]", '"text"', "")
_JSON_WORDS: Final = (b'{"a":', b"}", b"[", b"]", b"null", b"1e999", b'"\\ud83d"', b",", b"-0.0", b'"a":1,')


def _attempt(domain: str, same: bool, data: bytes) -> None:
    parser = parser_catalog.find(domain)
    ccsid, which, data = (_CCSIDS[data[0] % len(_CCSIDS)], data[1], data[2:]) if len(data) > 2 else (1208, 0, data)
    tree = opened(parser, data, 273, ccsid)
    before = seen(tree)
    made = rewritten(parser.write, opened(parser, data, 273, ccsid), 273, ccsid, which)
    after = seen(opened(parser, made, 273, ccsid))
    if same:
        assert before == after, f"{before!r:.500} became {after!r:.500} in {made!r:.500}"
    again = seen(opened(parser, parser.write(opened(parser, made, 273, ccsid), Form(273, ccsid)), 273, ccsid))
    assert after == again, f"{after!r:.500} became {again!r:.500}"


def _xml_seeds() -> list[bytes]:
    samples = [path.read_bytes() for path in sorted(_SAMPLES.glob("*/messages/*.xml"))[:8]]
    return [b"\0\0" + data[:2000] for data in (*(text.encode() for text in _XML), *samples)]


TARGETS: Final = (
    *(
        Target(domain.lower(), partial(_attempt, domain, False), _xml_seeds, _XML_WORDS)
        for domain in ("XML", "XMLNS", "XMLNSC")
    ),
    Target(
        "json",
        partial(_attempt, "JSON", True),
        lambda: [b"\0\0" + text.encode() for text in _JSON],
        _JSON_WORDS,
    ),
    Target("blob", partial(_attempt, "BLOB", True), lambda: [b"\0\0abc"], guided=False),
)
