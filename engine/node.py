"""The Node protocol, and node types: their terminals and properties, read from one declaration."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    runtime_checkable,
)
from typing import get_type_hints as annotations_of

from engine.catalog import Catalog, did_you_mean
from engine.errors import ConfigurationException

if TYPE_CHECKING:
    from engine.message.assembly import Message
    from engine.work import UnitOfWork

T = TypeVar("T")

FAILURE: Final = "failure"
ANY_TERMINAL: Final = "*"  # declared among the terminals: a flow may name more
ANY_LABEL: Final = "label *"  # declared among the outputs: every Label of the flow is a hidden terminal
LABEL: Final = "label "  # how such a terminal is called, before the Label's name
UNKNOWN_PROPERTY: Final = 2210
UNSUITABLE_VALUE: Final = 2211

Category = Literal["input", "output", "transformation", "routing", "database", "error", "diagnosis", "subflow"]


class Node(Protocol):
    """A place of a flow that does something with each message."""

    def evaluate(self, message: Message, work: UnitOfWork) -> Generator[tuple[str, Message], bool, None]:
        """Yield terminals and what goes out of them; what happens downstream happens inside the yield.

        The yield answers whether anything is wired to the terminal.
        """
        ...


@runtime_checkable
class Publishes(Protocol):
    """A node that publishes messages, which needs a queue manager that knows who subscribes."""

    @property
    def publishes_at(self) -> str:
        """The subscription point of its publications; an empty one is that of all who name none."""
        ...


@dataclass(frozen=True, slots=True)
class Esql:
    """Marks a property whose text is ESQL, compiled at deploy: `Annotated[Routine, Esql("filter")]`."""

    kind: str


@dataclass(frozen=True, slots=True)
class Inserts:
    """Marks a text in which ${...} stand for paths and ESQL expressions; the latter are compiled at deploy."""


@dataclass(frozen=True, slots=True)
class Range:
    """Marks a number that has limits: `Annotated[int, Range(0, 256)]`."""

    low: float
    high: float = float("inf")

    def __str__(self) -> str:
        """The limits in words."""
        return f"from {self.low}" + ("" if self.high == float("inf") else f" to {self.high}")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Marks a text that has a form: `Annotated[str, Pattern("[0-9]*", "digits")]`."""

    regex: str
    words: str

    def __str__(self) -> str:
        """The form in words."""
        return f"that is {self.words}"


@dataclass(frozen=True, slots=True)
class Pending:
    """Marks a property that is checked and has no effect before something else is there: `Pending("databases")`."""

    what: str


@dataclass(frozen=True, slots=True)
class InBrokers:
    """Marks a property of a flow that a broker acts on; a run at a desk or on Spark does not."""


@dataclass(frozen=True, slots=True)
class YesOrNo:
    """Marks a truth that may be written yes or no as well, as in IBM's documents."""


@dataclass(frozen=True, slots=True)
class LabelName:
    """Marks the property by which a node is reached from nodes that route to labels: unique in a flow."""


def prop(default: T, description: str, *, name: str = "") -> T:
    """A property with a default; `name` is for IBM's irregular spellings, such as SSLPeerName."""
    made: T = field(default=default, metadata={"description": description, "name": name})
    return made


def mandatory(description: str, *, name: str = "") -> Any:
    """A property that every flow must give; these come first in a node's dataclass."""
    return field(metadata={"description": description, "name": name})


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a node or of a flow, as its dataclass field declares it."""

    name: str
    attribute: str
    type: type
    description: str = ""
    default: object = field(default_factory=lambda: MISSING)
    choices: tuple[str, ...] = ()
    marks: tuple[object, ...] = ()
    columns: tuple[Property, ...] = ()
    many: bool = False

    @property
    def mandatory(self) -> bool:
        """Returns whether a flow must give it."""
        return self.default is MISSING

    @property
    def words(self) -> str:
        """Returns what it may be, in words."""
        if self.columns:
            return "a list of tables with " + ", ".join(column.name for column in self.columns)
        one = self._one()
        return f"a list, each {one}" if self.many else one

    def _one(self) -> str:
        if self.choices:
            return "one of " + ", ".join(self.choices)
        for mark in self.marks:
            if isinstance(mark, Esql):
                return f"ESQL ({mark.kind})"
        limits = "".join(f" {mark}" for mark in self.marks if isinstance(mark, Range | Pattern))
        return WORDS[self.type] + limits

    def read(self, value: object) -> object:
        """A value as a flow gives it, text or of the type already, as the node wants it; raises if it does not fit."""
        if not self.many:
            return self._read_one(value)
        if not isinstance(value, list | tuple):
            raise self.unsuitable(value)
        return tuple(self._read_row(item) if self.columns else self._read_one(item) for item in value)

    def _read_one(self, value: object) -> object:
        if isinstance(value, str) and any(isinstance(mark, YesOrNo) for mark in self.marks):
            value = {"yes": "true", "no": "false"}.get(value.lower(), value)
        read = READERS[self.type](value)
        if read is None or (self.choices and read not in self.choices):
            close = did_you_mean(read, self.choices) if isinstance(read, str) else ""
            raise self.unsuitable(value, close)
        for mark in self.marks:
            if isinstance(mark, Range) and not mark.low <= float(str(read)) <= mark.high:
                raise self.unsuitable(value)
            if isinstance(mark, Pattern) and not re.fullmatch(mark.regex, str(read)):
                raise self.unsuitable(value)
        return read

    def _read_row(self, value: object) -> object:
        if not isinstance(value, Mapping):
            raise self.unsuitable(value)
        return self.type(**read_values(self.name, self.columns, value))

    def unsuitable(self, value: object, suggestion: str = "") -> ConfigurationException:
        """The complaint that a value is not what this property may be."""
        text = f"{self.name} is {self.words}, not {shown(value)}{suggestion}"
        return ConfigurationException(text, number=UNSUITABLE_VALUE)


@dataclass(frozen=True, slots=True)
class NodeType:
    """A kind of node: all that flows, lint, documentation and drawings know of it."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    properties: tuple[Property, ...]
    description: str
    category: Category
    implementation: Callable[..., Node]

    @property
    def is_source(self) -> bool:
        """Returns whether messages enter a flow here."""
        return not self.inputs and self.label_property is None

    @property
    def routes_to_labels(self) -> bool:
        """Returns whether it may send messages to Labels, by name and without a wire."""
        return ANY_LABEL in self.outputs

    @property
    def label_property(self) -> Property | None:
        """The property by which nodes that route to labels know it, if it is one they can reach."""
        return next((p for p in self.properties if any(isinstance(mark, LabelName) for mark in p.marks)), None)


node_catalog: Catalog[NodeType] = Catalog("node type", package="nodes")


def node(
    name: str,
    *,
    inputs: tuple[str, ...] = ("in",),
    outputs: tuple[str, ...] = ("out",),
    failure: bool = True,
    category: Category = "transformation",
    catalog: Catalog[NodeType] = node_catalog,
) -> Callable[[type[T]], type[T]]:
    """A decorator that makes a frozen slotted dataclass a node type of that name; its fields are its properties.

    A node that takes messages from other nodes has a `failure` output, unless `failure=False` says otherwise.
    ANY_TERMINAL among the terminals says that a flow may name more, ANY_LABEL that it sends to Labels by name.
    """
    if failure and inputs and FAILURE not in outputs:
        outputs = (FAILURE, *outputs)

    def declare(implementation: type[T]) -> type[T]:
        made: Any = implementation
        declared = NodeType(
            name,
            inputs,
            outputs,
            properties_of(implementation),
            (implementation.__doc__ or "").strip(),
            category,
            made,
        )
        catalog.register(name)(declared)
        return implementation

    return declare


def build(
    node_type: NodeType,
    values: Mapping[str, object],
    *,
    bind: Callable[[Property, object], object] = lambda _, value: value,
) -> Node:
    """A node with these values, by IBM's names; `bind` is given every property that has marks and what it was given.

    Deploying passes a `bind` that compiles the text of properties marked Esql.
    """
    read = read_values(node_type.name, node_type.properties, values)
    for declared in node_type.properties:
        if declared.marks and declared.attribute in read:
            read[declared.attribute] = bind(declared, read[declared.attribute])
    return node_type.implementation(**read)


def read_values(owner: str, properties: tuple[Property, ...], values: Mapping[str, object]) -> dict[str, object]:
    """The values by Python's names and of the declared types; raises with everything that is wrong with them."""
    known = {declared.name: declared for declared in properties}
    complaints: list[ConfigurationException] = []
    read = {}
    for name, value in values.items():
        try:
            read[known[name].attribute] = known[name].read(value)
        except KeyError:
            complaints.append(unknown_property(owner, name, properties))
        except ConfigurationException as complaint:
            complaints.append(complaint)
    complaints.extend(missing_property(owner, p) for p in properties if p.mandatory and p.name not in values)
    if complaints:
        text = "; ".join(complaint.text for complaint in complaints)
        raise ConfigurationException(text, number=complaints[0].number)
    return read


def unknown_property(owner: str, name: str, properties: tuple[Property, ...]) -> ConfigurationException:
    """The complaint that there is no such property."""
    suggestion = did_you_mean(name, [declared.name for declared in properties])
    return ConfigurationException(f"{owner} has no property {name}{suggestion}", number=UNKNOWN_PROPERTY)


def missing_property(owner: str, declared: Property) -> ConfigurationException:
    """The complaint that a mandatory property is not given."""
    text = f"{owner} needs {declared.name}: {declared.description or declared.words}"
    return ConfigurationException(text, number=UNSUITABLE_VALUE)


def properties_of(declaration: type) -> tuple[Property, ...]:
    """The properties that a dataclass declares by its fields; fields that are not given to it are its own affair."""
    if not is_dataclass(declaration):
        raise TypeError(f"{declaration.__qualname__} is not a dataclass: put @dataclass(frozen=True, slots=True) on it")
    types = annotations_of(declaration, include_extras=True)
    return tuple(_property(declaration, made, types[made.name]) for made in fields(declaration) if made.init)


def _property(declaration: type, made: Field[Any], annotation: Any) -> Property:
    many = False
    if get_origin(annotation) is tuple and get_args(annotation)[1:] == (...,):
        many, annotation = True, get_args(annotation)[0]
    marks: tuple[object, ...] = ()
    if get_origin(annotation) is Annotated:
        annotation, *rest = get_args(annotation)
        marks = tuple(rest)
    choices = tuple(get_args(annotation)) if get_origin(annotation) is Literal else ()
    if choices or any(isinstance(mark, Esql) for mark in marks):
        annotation = str
    columns = properties_of(annotation) if many and isinstance(annotation, type) and is_dataclass(annotation) else ()
    if annotation not in READERS and not columns:
        where = f"{declaration.__module__}.{declaration.__qualname__}.{made.name}"
        raise TypeError(f"{where}: a property cannot be {annotation}")
    return Property(
        made.metadata.get("name") or camel_case(made.name),
        made.name,
        annotation,
        made.metadata.get("description", ""),
        made.default if made.default_factory is MISSING else made.default_factory(),
        choices,
        marks,
        columns,
        many,
    )


def camel_case(attribute: str) -> str:
    """IBM's spelling of a Python name.

    >>> camel_case("backout_requeue_queue")
    'backoutRequeueQueue'
    """
    first, *rest = attribute.strip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def shown(value: object) -> str:
    """A value for a complaint, cut where it is long."""
    text = repr(value) if isinstance(value, str) else f"{value}"
    return text if len(text) <= 60 else text[:57] + "..."


def _read_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _read_int(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_float(value: object) -> float | None:
    if isinstance(value, str) and re.fullmatch(r"[+-]?([0-9]{1,300}\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?", value):
        return float(value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _read_bool(value: object) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None


READERS: Final[Mapping[type, Callable[[object], object]]] = {
    str: _read_text,
    int: _read_int,
    float: _read_float,
    bool: _read_bool,
}
WORDS: Final[Mapping[type, str]] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
