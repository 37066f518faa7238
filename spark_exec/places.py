"""Places: where output goes, on this machine or wherever Hadoop's file systems reach."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def inside(place: str, name: str) -> str:
    """A place inside another."""
    return f"{place.rstrip('/')}/{name}" if "://" in place else str(Path(place) / name)


def is_empty(spark: SparkSession, place: str) -> bool:
    """Whether nothing is there yet."""
    if "://" not in place:
        return not Path(place).exists() or (Path(place).is_dir() and not any(Path(place).iterdir()))
    files, at = _hadoop(spark, place)
    return not files.exists(at) or not len(files.listStatus(at))


def write_text(spark: SparkSession, place: str, text: str) -> None:
    """Write a small file."""
    if "://" not in place:
        Path(place).write_text(text, encoding="utf-8")
        return
    files, at = _hadoop(spark, place)
    stream = files.create(at)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def _hadoop(spark: SparkSession, place: str) -> tuple[Any, Any]:
    context = spark.sparkContext
    assert context._jvm is not None
    at = context._jvm.org.apache.hadoop.fs.Path(place)
    return at.getFileSystem(context._jsc.hadoopConfiguration()), at
