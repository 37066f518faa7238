"""The functions of ESQL that are written name(arguments): what each takes and gives.

A catalogue of the functions themselves can stand in for FUNCTIONS: all that is asked of it is `find` and `NAMES`.
"""

from __future__ import annotations

from dataclasses import dataclass

# Words for sets of types in the table below; an empty set accepts anything but a list.
NUMBERS = frozenset(("INTEGER", "FLOAT", "DECIMAL"))
STRINGS = frozenset(("CHARACTER", "BLOB", "BIT"))
DATES = frozenset(("DATE", "TIME", "TIMESTAMP", "GMTTIME", "GMTTIMESTAMP"))
ANY: frozenset[str] = frozenset()
_ACCEPTED = {
    "number": NUMBERS,
    "string": STRINGS,
    "any": ANY,
    "field": frozenset(("FIELD",)),
    "list": frozenset(("LIST",)),
    "reference": frozenset(("REFERENCE",)),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A built-in function; `FIELD`, `LIST` and `REFERENCE` among the accepted types ask for such a field reference."""

    name: str
    parameters: tuple[frozenset[str], ...]
    required: int
    result: str
    repeats: bool = False

    def accepts(self, count: int) -> bool:
        """Say whether it may be called with that many arguments."""
        return count >= self.required and (self.repeats or count <= len(self.parameters))

    def parameter(self, index: int) -> frozenset[str]:
        """Give the types that the argument at an index may have."""
        return self.parameters[min(index, len(self.parameters) - 1)]


# name and synonyms : parameters ([optional], one that repeats with ...) -> result; `first` is the first argument's type
_TABLE = """
LENGTH                          : string -> INTEGER
LTRIM RTRIM                     : string -> first
UPPER UCASE LOWER LCASE         : string -> first
LEFT RIGHT                      : string number -> first
REPLACE                         : string string [string] -> first
REPLICATE                       : string number -> first
SPACE                           : number -> CHARACTER
TRANSLATE                       : string string [string] -> first
CONTAINS STARTSWITH ENDSWITH    : string string -> BOOLEAN
BASE64ENCODE                    : string -> CHARACTER
BASE64DECODE                    : CHARACTER -> BLOB
URLENCODE URLDECODE             : CHARACTER -> CHARACTER
ABS ABSVAL CEIL CEILING FLOOR   : number -> first
SIGN                            : number -> INTEGER
MOD                             : number number -> any
TRUNCATE                        : number number -> first
SQRT                            : number -> FLOAT
ACOS ASIN ATAN COS COSH COT     : number -> FLOAT
SIN SINH TAN TANH               : number -> FLOAT
DEGREES RADIANS EXP LN LOG LOG10: number -> FLOAT
ATAN2 POWER                     : number number -> any
RAND                            : [number] -> FLOAT
BITAND BITOR BITXOR             : any any... -> any
BITNOT                          : any -> any
FIELDNAME FIELDNAMESPACE        : field -> CHARACTER
FIELDTYPE                       : field -> INTEGER
FIELDVALUE                      : field -> any
BITSTREAM                       : field -> BLOB
LASTMOVE                        : reference -> BOOLEAN
SAMEFIELD                       : field field -> BOOLEAN
CARDINALITY                     : list -> INTEGER
EXISTS SINGULAR                 : list -> BOOLEAN
THE                             : list -> any
COALESCE                        : any any... -> any
NULLIF                          : any any -> any
EVAL                            : any -> any
UUIDASBLOB                      : [CHARACTER] -> BLOB
UUIDASCHAR                      : [BLOB] -> CHARACTER
SLEEP                           : number -> BOOLEAN
"""


def _parameter(word: str) -> frozenset[str]:
    plain = word.strip("[].")
    return _ACCEPTED.get(plain) or (ANY if plain == "any" else frozenset((plain,)))


def _functions(line: str) -> list[Function]:
    names, _, signature = line.partition(":")
    parameters, _, result = signature.partition("->")
    words = parameters.split()
    required = sum(not word.startswith("[") for word in words)
    gives = "" if result.strip() == "any" else result.strip()
    accepted = tuple(_parameter(word) for word in words)
    repeats = bool(words) and words[-1].endswith("...")
    return [Function(name, accepted, required, gives, repeats) for name in names.split()]


FUNCTIONS = {function.name: function for line in _TABLE.strip().splitlines() for function in _functions(line)}
AGGREGATES = frozenset(("COUNT", "MAX", "MIN", "SUM"))
# These have a form of their own in the grammar; they are here to be suggested for a misspelt name.
FORMS = frozenset(("ASBITSTREAM", "CAST", "EXTRACT", "OVERLAY", "PASSTHRU", "POSITION", "ROUND", "SUBSTRING", "TRIM"))
NAMES = tuple(sorted({*FUNCTIONS, *FORMS, *AGGREGATES}))
# Called for what they do: their value may be left unused.
ACTIONS = frozenset(("SLEEP", "EVAL"))


def find(name: str) -> Function | None:
    """Find a function by its name, in capitals or not.

    >>> find("Left").accepts(1)
    False
    """
    return FUNCTIONS.get(name.upper())
