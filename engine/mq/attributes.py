"""The attributes of queue manager objects: one table that define, alter, display and MQSC all read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.catalog import did_you_mean
from engine.errors import MessageException
from engine.mq.attribute_values import MOST, Attribute, Value

UNKNOWN_ATTRIBUTE: Final = 2067  # MQRC_SELECTOR_ERROR: there is no such attribute

_DAY: Final = 1_440  # minutes
_LONGEST: Final = 104_857_600


def _integer(name: str, default: int, low: int, high: int, **more: str) -> Attribute:
    return Attribute(name, "integer", default, low, high, fixed=more.get("fixed", ""))


def _choice(name: str, choices: str, *, fixed: str = "", synonyms: tuple[str, ...] = ()) -> Attribute:
    """Returns an attribute of several words, the first of which is the default."""
    words = tuple(choices.split())
    return Attribute(name, "choice", words[0], choices=words, fixed=fixed, synonyms=synonyms)


def _interval(name: str, default: str, *words: str) -> Attribute:
    return Attribute(name, "interval", default, high=_DAY, choices=words)


def _name_of(name: str, *synonyms: str, fixed: str = "") -> Attribute:
    return Attribute(name, "name", "", synonyms=synonyms, fixed=fixed)


def _shown(name: str, default: Value = "") -> Attribute:
    return Attribute(name, "integer" if isinstance(default, int) else "text", default, shown=True)


_NO_LIMIT: Final = (Attribute("CAPEXPRY", "limit", "NOLIMIT", choices=("NOLIMIT",)), Attribute("CUSTOM", "custom", ""))
_DATES: Final = tuple(map(_shown, ("ALTDATE", "ALTTIME")))
_CREATED: Final = (*tuple(map(_shown, ("CRDATE", "CRTIME"))), *_DATES)
_NO_CLUSTERS: Final = "there are no clusters here"
_NO_EVENTS: Final = "there are no events here"
_NO_TRIGGERS: Final = "queues start no programs here"
_BY_QUEUE: Final = "statistics and accounting are by queue here (STATQ, ACCTQ)"
_NOT_HERE: Final = "this queue manager works in this way only"
_GATES: Final = (_choice("GET", "ENABLED DISABLED"), _choice("PUT", "ENABLED DISABLED"))
_PUT_DEFAULTS: Final = (_integer("DEFPRTY", 0, 0, 9), _choice("DEFPSIST", "NO YES"))
_DESCRIPTION: Final = Attribute("DESCR", "text", "", high=64)
_OF_CLUSTERS: Final = (
    _name_of("CLUSTER", fixed=_NO_CLUSTERS),
    _name_of("CLUSNL", fixed=_NO_CLUSTERS),
    _integer("CLWLPRTY", 0, 0, 9),  # these two matter where there are clusters only, as in MQ
    _integer("CLWLRANK", 0, 0, 9),
    _choice("DEFBIND", "OPEN NOTFIXED GROUP"),
)
_OF_PROGRAMS: Final = (
    _choice("DEFPRESP", "SYNC ASYNC", fixed=_NOT_HERE),
    _choice("DEFREADA", "NO YES DISABLED", fixed=_NOT_HERE),
)
# What these say matters in MQ when the queue manager has PERFMEV(ENABLED), or the queue TRIGGER; both are refused here.
_OF_EVENTS_AND_TRIGGERS: Final = (
    _integer("QDEPTHHI", 80, 0, 100),
    _integer("QDEPTHLO", 20, 0, 100),
    _choice("QDPHIEV", "DISABLED ENABLED"),
    _choice("QDPLOEV", "DISABLED ENABLED"),
    _choice("QDPMAXEV", "ENABLED DISABLED"),
    _choice("QSVCIEV", "NONE HIGH OK"),
    _integer("QSVCINT", MOST, 0, MOST),
    Attribute("TRIGGER", "flag", default=False, fixed=_NO_TRIGGERS),
    _choice("TRIGTYPE", "FIRST EVERY DEPTH NONE"),
    _integer("TRIGDPTH", 1, 1, MOST),
    _integer("TRIGMPRI", 0, 0, 9),
    Attribute("TRIGDATA", "text", "", high=64),
    _name_of("INITQ"),
    _name_of("PROCESS"),
)
_LOCAL: Final = (
    *(_DESCRIPTION, *_GATES, *_PUT_DEFAULTS),
    _integer("MAXDEPTH", MOST, 0, MOST),
    _integer("MAXMSGL", 4_194_304, 0, _LONGEST),
    _integer("BOTHRESH", 0, 0, MOST),
    _name_of("BOQNAME"),
    _choice("MSGDLVSQ", "PRIORITY FIFO"),
    _choice("INDXTYPE", "NONE MSGID CORRELID GROUPID MSGTOKEN"),  # every id is indexed, whatever it says
    Attribute("HARDENBO", "flag", default=True),  # the count is hardened either way, as MQ does it but on z/OS
    _choice("NPMCLASS", "NORMAL HIGH"),
    _integer("RETINTVL", MOST, 0, MOST),
    Attribute("SHARE", "flag", default=True, fixed=_NOT_HERE),
    _choice("DEFSOPT", "SHARED EXCL", fixed=_NOT_HERE),
    _choice("DISTL", "NO YES", fixed=_NOT_HERE),
    _choice("USAGE", "NORMAL XMITQ", fixed="there are no channels here"),
    _choice("SCOPE", "QMGR CELL", fixed=_NOT_HERE),
    _choice("MONQ", "QMGR OFF LOW MEDIUM HIGH NONE", fixed=_NO_EVENTS),
    _choice("IMGRCOVQ", "QMGR YES NO", fixed=_NOT_HERE),
    Attribute("MAXFSIZE", "text", "DEFAULT", fixed="--max-size limits all queues together here"),
    _choice("CLWLUSEQ", "QMGR LOCAL ANY"),
    Attribute("CLCHNAME", "text", "", fixed=_NO_CLUSTERS),
    *(*_OF_CLUSTERS, *_OF_PROGRAMS, *_OF_EVENTS_AND_TRIGGERS),
    _choice("PROPCTL", "COMPAT ALL FORCE"),  # of what subscriptions send; other properties stay with messages
    _name_of("STREAMQ"),
    _choice("STRMQOS", "BESTEF MUSTDUP"),
    *_NO_LIMIT,
    *(_choice(name, "QMGR OFF ON") for name in ("STATQ", "ACCTQ")),
    *(_interval(name, "QMGR", "QMGR") for name in ("STATIME", "ACCTIME")),
    *(_shown("CURDEPTH", 0), _shown("IPPROCS", 0), _shown("OPPROCS", 0), _shown("DEFTYPE", "PREDEFINED"), *_CREATED),
)
_ALIAS: Final = (
    *(_DESCRIPTION, *_GATES, *_PUT_DEFAULTS),
    _name_of("TARGET", "TARGQ"),
    _choice("TARGTYPE", "QUEUE TOPIC"),
    _choice("SCOPE", "QMGR CELL", fixed=_NOT_HERE),
    *(*_OF_CLUSTERS, *_OF_PROGRAMS),
    _choice("PROPCTL", "COMPAT ALL FORCE", fixed=_NOT_HERE),
    *_NO_LIMIT,
    *_DATES,
)
# What these say matters in MQ where there are channels, clusters, triggers or media images, which are not here.
_OF_OTHER_PARTS: Final = (
    *(_choice(name, "ENABLED DISABLED") for name in ("CHLAUTH", "PSCLUS", "REVDNS")),
    *(_choice(name, "DISABLED ENABLED") for name in ("ACCTCONO", "ACTVCONO", "CHAD", "CHADEV", "SSLEV")),
    *(_choice(name, "MSG QUEUE DISABLED") for name in ("ACTIVREC", "ROUTEREC")),
    *(_choice(name, "OFF NONE LOW MEDIUM HIGH") for name in ("MONCHL", "STATCHL")),
    *(_choice(name, "QMGR NONE OFF LOW MEDIUM HIGH") for name in ("MONACLS", "STATACLS")),
    *(_choice(name, "QMGR MANUAL") for name in ("SCHINIT", "SCMDSERV")),
    *(_choice(name, "YES NO") for name in ("IMGRCOVO", "IMGRCOVQ")),
    _choice("CERTVPOL", "ANY RFC5280"),
    _choice("CHLEV", "DISABLED ENABLED EXCEPTION"),
    _choice("CLWLUSEQ", "LOCAL ANY"),
    _choice("DEFCLXQ", "SCTQ CHANNEL"),
    _choice("IMGSCHED", "MANUAL AUTO"),
    _choice("IPADDRV", "IPV4 IPV6"),
    _choice("SSLFIPS", "NO YES"),
    *(_integer(name, MOST, 0, MOST) for name in ("CLWLMRUC", "TRIGINT")),
    *(_integer(name, default, 0, MOST) for name, default in (("CLWLLEN", 100), ("MARKINT", 5_000), ("SSLRKEYC", 0))),
    _integer("TREELIFE", 1_800, 0, 604_000),
    _integer("MAXHANDS", 256, 256, MOST),  # as many as a program may count on; none is refused for having more
    *(Attribute(name, "text", "", high=256) for name in ("CERTLABL", "CHADEXIT", "CLWLDATA", "CLWLEXIT", "SSLCRLNL")),
    *(Attribute(name, "text", "", high=256) for name in ("SSLCRYP", "SSLKEYR")),
    *(Attribute(name, "text", default, high=16) for name, default in (("IMGINTVL", "60"), ("IMGLOGLN", "OFF"))),
    Attribute("SUITEB", "text", "NONE", high=64),
)
_AS_MQ_BEGINS: Final = (  # values of a new queue manager of MQ, from which this one does not part
    _name_of("CONNAUTH", fixed="the system says who users are"),
    *(_name_of(name, fixed=_NO_CLUSTERS) for name in ("REPOS", "REPOSNL")),
    _name_of("PARENT", fixed="brokers share publish/subscribe by collectives here"),
    _integer("CCSID", 1208, 1, 65_535, fixed="what the queue manager writes itself is in UTF-8"),
    *(_choice(name, "DISABLED ENABLED", fixed=_NO_EVENTS) for name in ("CMDEV", "CONFIGEV", "LOGGEREV")),
    _choice("ACTVTRC", "OFF ON", fixed=_NO_EVENTS),
    *(_integer(name, 1_800, 1, 604_800, fixed="intervals are STATIME and ACCTIME") for name in ("ACCTINT", "STATINT")),
    _choice("PSNPMSG", "DISCARD KEEP", fixed=_NOT_HERE),
    _choice("PSNPRES", "NORMAL SAFE DISCARD KEEP", fixed=_NOT_HERE),
    _choice("PSSYNCPT", "IFPER YES NO", fixed=_NOT_HERE),
    _integer("PSRTYCNT", 5, 0, MOST, fixed=_NOT_HERE),
    Attribute("MAXPROPL", "text", "NOLIMIT", fixed=_NOT_HERE),
    Attribute("CUSTOM", "text", "", fixed=_NOT_HERE),
)
_MANAGER: Final = (
    _shown("QMNAME"),
    _DESCRIPTION,
    _name_of("DEADQ"),
    _integer("MAXMSGL", _LONGEST, 32_768, _LONGEST),
    _integer("MAXUMSGS", 10_000, 1, MOST),
    _integer("EXPRYINT", 300, 0, 99_999_999),
    _choice("PERFMEV", "DISABLED ENABLED", fixed=_NO_EVENTS),
    *(_choice(name, "DISABLED ENABLED", fixed=_NO_EVENTS) for name in ("INHIBTEV", "LOCALEV", "REMOTEEV", "STRSTPEV")),
    _choice("AUTHOREV", "DISABLED ENABLED", fixed=_NO_EVENTS),
    _choice("MONQ", "OFF NONE LOW MEDIUM HIGH", fixed=_NO_EVENTS),
    _name_of("DEFXMITQ", fixed="there are no channels here"),
    *(_choice(name, "OFF ON NONE") for name in ("STATQ", "ACCTQ")),
    _interval("STATIME", "30"),
    _interval("ACCTIME", "-1", "-1"),
    *(_shown("CURSTATIME"), _shown("CURACCTIME")),  # of the intervals that run
    *(_choice(name, "OFF ON", fixed=_BY_QUEUE) for name in ("STATMQI", "ACCTMQI")),
    _choice("COMPLOG", "NONE RLE ZLIBFAST ZLIBHIGH ANY"),  # of bodies in the store
    _choice("PSMODE", "ENABLED COMPAT DISABLED"),
    *_OF_OTHER_PARTS,
    *_AS_MQ_BEGINS,
    *(_shown("MAXPRTY", 9), _shown("CMDLEVEL", 930), _shown("PLATFORM", "UNIX")),
    *(_shown("VERSION", "09030000"), _shown("QMID")),
    *_CREATED,
)
_INHERITED: Final = "ASPARENT"
_TOPIC: Final = (
    Attribute("TOPICSTR", "text", "", high=10_240),
    _DESCRIPTION,
    *(_choice(name, f"{_INHERITED} ENABLED DISABLED") for name in ("PUB", "SUB")),
    *(_choice(name, f"{_INHERITED} YES NO") for name in ("DURSUB", "DEFPSIST", "USEDLQ")),
    _choice("DEFPRTY", " ".join((_INHERITED, *map(str, range(10))))),
    *(_choice(name, f"{_INHERITED} ALL ALLDUR ALLAVAIL") for name in ("PMSGDLV", "NPMSGDLV")),
    *(_choice(name, f"{_INHERITED} ALL QMGR") for name in ("PUBSCOPE", "SUBSCOPE")),
    _choice("WILDCARD", "PASSTHRU BLOCK"),
    _choice("TYPE", "LOCAL"),
    _name_of("CLUSTER", fixed=_NO_CLUSTERS),
    _choice("CLROUTE", "DIRECT TOPICHOST"),  # these two matter where there are other queue managers only, as in MQ
    _choice("PROXYSUB", "FIRSTUSE FORCE"),
    _choice("MCAST", f"{_INHERITED} DISABLED"),  # there is no multicast either way
    *(_name_of(name, fixed=_NOT_HERE) for name in ("COMMINFO", "MDURMDL", "MNDURMDL")),
    _choice("DEFPRESP", f"{_INHERITED} SYNC"),  # a put is answered either way
    Attribute("CAPEXPRY", "limit", _INHERITED, choices=(_INHERITED, "NOLIMIT")),
    Attribute("CUSTOM", "custom", ""),
    *_CREATED,
)
_SUBSCRIPTION: Final = (
    Attribute("TOPICSTR", "text", "", high=10_240),
    _name_of("TOPICOBJ"),
    _name_of("DEST"),
    _choice("DESTCLAS", "PROVIDED MANAGED"),
    Attribute("DESTCORL", "text", "", high=48),
    Attribute("SELECTOR", "text", "", high=10_240),
    _choice("WSCHEMA", "TOPIC CHAR"),
    _choice("PSPROP", "MSGPROP NONE RFH2"),
    _choice("PUBPRTY", " ".join(("ASPUB", "ASQDEF", *map(str, range(10))))),
    _choice("PUBPSIST", "ASPUB ASQDEF YES NO"),
    *(Attribute(name, "text", "", high=length) for name, length in (("PUBACCT", 64), ("PUBAPPID", 32))),
    _integer("SUBLEVEL", 1, 0, 9, fixed=_NOT_HERE),
    _choice("REQONLY", "NO YES"),
    Attribute("SUBPOINT", "text", "", high=128),
    Attribute("SUBUSER", "text", "", high=64),
    Attribute("USERDATA", "text", "", high=10_240),
    _choice("VARUSER", "ANY FIXED"),
    Attribute("DESTQMGR", "text", "", fixed="there are no other queue managers here"),
    _choice("EXPIRY", "UNLIMITED", fixed=_NOT_HERE),
    _choice("SUBSCOPE", "ALL QMGR"),
    *(
        _shown("SUBID"),
        _shown("DURABLE"),
        _shown("SUBTYPE"),
        _shown("SELTYPE"),
        _shown("IDENTITY"),
        _shown("INFORMRET"),
        *_CREATED,
    ),
)
_TOPIC_STATUS: Final = (
    *(_shown(name) for name in ("TOPICSTR", "ADMIN", "PUB", "SUB", "DURSUB", "DEFPRTY", "DEFPSIST", "PMSGDLV")),
    *(_shown(name) for name in ("NPMSGDLV", "USEDLQ", "WILDCARD", "PUBSCOPE", "SUBSCOPE", "CAPEXPRY", "RETAINED")),
    _shown("SUBCOUNT", 0),
)


def _by_name(attributes: tuple[Attribute, ...]) -> Mapping[str, Attribute]:
    return MappingProxyType({attribute.name: attribute for attribute in attributes})


ATTRIBUTES: Final[Mapping[str, Mapping[str, Attribute]]] = {
    "QLOCAL": _by_name(_LOCAL),
    "QALIAS": _by_name(_ALIAS),
    "QMGR": _by_name(_MANAGER),
    "TOPIC": _by_name(_TOPIC),
    "SUB": _by_name(_SUBSCRIPTION),
    "TPSTATUS": _by_name(_TOPIC_STATUS),
}


def find(kind: str, word: str) -> Attribute:
    """Returns the attribute of a kind of object by its name or a synonym, in capitals or not.

    >>> find("QLOCAL", "MAXDEPTH").value("5000"), find("QLOCAL", "get").value("disabled")
    (5000, 'DISABLED')
    """
    name = word.upper()
    known = ATTRIBUTES[kind]
    if name in known:
        return known[name]
    for attribute in known.values():
        if name in attribute.synonyms:
            return attribute
    text = f"{kind} has no attribute {word:.40}{did_you_mean(name, tuple(known))} ({UNKNOWN_ATTRIBUTE})"
    raise MessageException(UNKNOWN_ATTRIBUTE, text, word, reason=UNKNOWN_ATTRIBUTE)


def defaults(kind: str) -> dict[str, Value]:
    """Returns every attribute of a kind that can be set, with its default.

    >>> defaults("QALIAS")["TARGET"], defaults("QLOCAL")["BOTHRESH"]
    ('', 0)
    """
    known = ATTRIBUTES[kind].values()
    return {attribute.name: attribute.default for attribute in known if not attribute.shown}


def checked(kind: str, attributes: Mapping[str, object]) -> dict[str, Value]:
    """Returns attributes by their names with their values as they are kept, or refuses the first that cannot be set.

    >>> checked("QLOCAL", {"maxdepth": "10", "Get": "disabled", "BOQNAME": " "})
    {'MAXDEPTH': 10, 'GET': 'DISABLED', 'BOQNAME': ''}
    """
    found: dict[str, Value] = {}
    for word, given in attributes.items():
        attribute = find(kind, word)
        found[attribute.name] = attribute.value(given)
    return found
