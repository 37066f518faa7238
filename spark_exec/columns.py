"""Columns: any DataFrame made a message set, column by column, and its messages told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.descriptor import LENGTHS
from engine.errors import ConfigurationException
from spark_exec.message_sets import MESSAGE, spark_schema
from spark_exec.work import LONGEST_NAME

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_NEEDED: Final = ("body", "sequence")
_BINARY: Final = "binary"
_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint")
_PERHAPS: Final = (*_NUMBERS, "float", "double", "string")  # what may be a whole number; what is none is a problem
_TAKEN: Final = {"int": _PERHAPS, "bigint": _PERHAPS, "string": ("string", *_NUMBERS), _BINARY: (_BINARY,)}


def completed(frame: DataFrame, otherwise: str = "") -> DataFrame:
    """A DataFrame with every column of a message set, by type; what names no queue is on the one named `otherwise`.

    A value that does not fit its column is a problem of its message. Columns that a message set has not are left out.
    """
    from pyspark.sql import functions as f

    if missing := [name for name in _NEEDED if name not in frame.columns]:
        text = f"this is no message set: it has no column {' and no column '.join(missing)}"
        raise ConfigurationException(f"{text}, but {', '.join(frame.columns)}")
    given = {field.name: field.dataType for field in frame.schema.fields}
    problems = [f.col("problem")] if "problem" in given else []
    columns = []
    for field in spark_schema().fields:
        made, wrong = f.lit(None).cast(field.dataType), None
        if field.name in given:
            made, wrong = _fitted(frame[field.name], field.name, given[field.name], field.dataType)
        if field.name == "queue":
            wrong = f.when(f.length(made) > LONGEST_NAME, f.concat(f.lit("there is no queue called "), made))
            made = f.substring(made, 1, LONGEST_NAME)
        if field.name == "queue" and otherwise:
            made = f.coalesce(f.nullif(made, f.lit("")), f.lit(otherwise))
        if field.name == "problem":
            made = f.coalesce(*problems).cast("string")
        elif wrong is not None:
            problems.append(wrong)
        columns.append(made.alias(field.name))
    return frame.select(*columns)


def _fitted(column: Column, name: str, kind: DataType, wanted: DataType) -> tuple[Column, Column | None]:
    """A column as a message set has it, and what is said where a value does not fit."""
    from pyspark.sql import functions as f

    target, found = wanted.simpleString(), kind.simpleString()
    _check(name, found, target)
    if name == "sequence":
        made = column.try_cast(wanted)
        return made, f.when(made.isNull(), f.lit("the message has no sequence, which is a whole number of 64 bits"))
    if target in {"int", "bigint"} and found not in _NUMBERS[: _NUMBERS.index(target) + 1]:
        made = column.try_cast(wanted)
        same = made.cast(kind) == column if found != "string" else made.isNotNull()
        text = f.concat(f.lit(f"{name} is no whole number of 32 bits: "), column.cast("string"))
        return made, f.when(column.isNotNull() & ~f.coalesce(same, f.lit(False)), text)
    if name in LENGTHS and target == _BINARY:
        long = f.lit(f"{name} has at most {LENGTHS[name]} bytes")
        return f.rpad(column, LENGTHS[name], f.lit(b"\0")), f.when(f.length(column) > LENGTHS[name], long)
    return column.cast(wanted), None


def _check(name: str, found: str, target: str) -> None:
    """Refuse a column whose values can be none of a message set's."""
    if name == "body":
        taken: tuple[str, ...] = (_BINARY, "string")
    elif name == "properties":
        if found.startswith("map<string,"):
            return
        taken = ("map<string,string>",)
    else:
        taken = _TAKEN[target]
    if found not in {*taken, "void"} and not (found.startswith("decimal") and "double" in taken):
        of = " or ".join((", ".join(taken[:-1]), taken[-1]) if len(taken) > 1 else taken)
        raise ConfigurationException(f"this is no message set: its column {name} is {found}, and not {of}")


def told_apart(frame: DataFrame) -> DataFrame:
    """A message set in which no two messages have the same lineage, which ids and the order of all follow from.

    Messages of one sequence that say no lineage are numbered by what they say in all their columns, so that each has
    the same number however they are dealt out; those that say the same may change places without anyone noticing.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    key = f.coalesce("lineage", f.col("sequence").cast("string"))
    if frame.groupBy(key.alias("key")).count().where("count > 1 AND key IS NOT NULL").isEmpty():
        return frame
    every = [f.col(name) for name in MESSAGE.names if name != "properties"]
    said = f.array_sort(f.map_entries("properties"))
    same = Window.partitionBy(key)
    number = f.row_number().over(same.orderBy(*every, said)) - 1
    numbered = f.concat(key, f.lit("#"), number.cast("string"))
    shared = f.count(f.lit(1)).over(same) > 1
    return frame.withColumn("lineage", f.when(shared, numbered).otherwise(f.col("lineage")))
