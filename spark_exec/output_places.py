"""Places: where output goes, on this machine or wherever Hadoop's file systems reach."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from engine.errors import ConfigurationException, reason
from engine.files.output_files import write_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def inside(place: str, name: str) -> str:
    """A place inside another."""
    return f"{place.rstrip('/')}/{name}" if "://" in place else str(Path(place) / name)


def refuse_taken(place: str, spark: SparkSession | None = None) -> None:
    """Refuse a place where something is; one that only Hadoop knows is looked at once there is a session."""
    if not place:
        raise ConfigurationException("no directory is named for the output: name one that is empty, or not there yet")
    if "://" not in place:
        empty = not Path(place).exists() or (Path(place).is_dir() and not any(Path(place).iterdir()))
    elif spark is not None:
        files, at = _hadoop(spark, place)
        empty = not files.exists(at) or not len(files.listStatus(at))
    else:
        return
    if not empty:
        raise ConfigurationException(f"{place} is not empty: name a directory that is, or that is not there yet")


def make_place(place: str) -> None:
    """Makes a directory for output, and refuses one that takes no file, before Spark is started for it."""
    if "://" in place:
        return
    folder = Path(place)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as tried:
            tried.write(b"tried")
    except OSError as error:
        text = f"{place} cannot be written: {reason(error, 'make its folder, or name another')}"
        raise ConfigurationException(text) from error


def write_text(spark: SparkSession, place: str, text: str) -> None:
    """Write a small file."""
    if "://" not in place:
        write_file(Path(place), text)
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
