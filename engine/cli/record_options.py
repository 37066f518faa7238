"""Options of commands about records: which describes them, how they stand in a file, how their fields are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli.command_failures import existing
from engine.cli.shared_options import AllowFiles
from engine.errors import ConfigurationException
from engine.files.allowed_folders import allowed_files

if TYPE_CHECKING:
    from parsers.importers.copybook.source import Dialect
    from parsers.records.framing import Framing
    from parsers.records.json_fields import Coding
    from parsers.records.model_file import ModelFile
    from parsers.records.record_file import Choices, RecordFile

    Kind = RecordFile | ModelFile

NativeOrder = Annotated[
    str, typer.Option(help="big or little for COMP-5, COMP-N, INDEX and BINARY-x. [default: as COMP items]")
]


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> Any:
    """Returns a value that must be one of some."""
    if value not in allowed:
        raise ConfigurationException(f"{option} {value} is not known: it is one of {', '.join(allowed)}")
    return value


@dataclass(frozen=True, slots=True)
class CopybookOptions:
    """Options that say how copybooks are written."""

    copybooks: Annotated[
        list[Path] | None, typer.Option("--copybooks", "-I", help="A folder in which COPY looks; may be repeated.")
    ] = None
    allow_files: AllowFiles = None
    source_format: Annotated[
        str,
        typer.Option(help="How copybooks are written: auto, fixed, free or variable (fixed without a right margin)."),
    ] = "auto"
    binary_size: Annotated[
        str, typer.Option(help="The bytes of COMP items by their digits: 2-4-8 (IBM), 1-2-4-8 or 1--8 (Micro Focus).")
    ] = "2-4-8"
    lp: Annotated[int, typer.Option("--lp", help="The bits of pointers: 32 or 64.")] = 32
    currency: Annotated[str, typer.Option(help="The currency sign in pictures.")] = "$"
    decimal_point_is_comma: Annotated[bool, typer.Option("--decimal-point-is-comma", help="As in SPECIAL-NAMES.")] = (
        False
    )

    def dialect(self) -> Dialect:
        """Returns the dialect that the options make."""
        from parsers.importers.copybook.source import BINARY_SIZES, SOURCE_FORMATS, Dialect

        if len(self.currency) != 1 or self.currency.isalnum():
            raise ConfigurationException(
                f"--currency {self.currency} is no currency sign: it is one character, no letter or digit"
            )
        return Dialect(
            source_format=one_of("--source-format", self.source_format, SOURCE_FORMATS),
            folders=tuple(self.copybooks or ()),
            decimal_point_is_comma=self.decimal_point_is_comma,
            currency=self.currency,
            binary_size=one_of("--binary-size", self.binary_size, BINARY_SIZES),
            lp=64 if one_of("--lp", str(self.lp), ("32", "64")) == "64" else 32,
            allowed=allowed_files(self.allow_files or ()).roots,
        )


@dataclass(frozen=True, slots=True)
class CodingOptions:
    """Options that say how the bytes of fields are read."""

    ccsid: Annotated[int, typer.Option(help="The CCSID of texts and of numbers of characters, such as 37 or 500.")] = (
        1208
    )
    encoding: Annotated[
        int | None,
        typer.Option(help="The MQ encoding of binary numbers. [default: 785 for an EBCDIC CCSID, else 530]"),
    ] = None
    byte_order: Annotated[str, typer.Option(help="big or little, in place of the encoding's order of COMP items.")] = ""
    native_order: NativeOrder = ""
    float_format: Annotated[
        str, typer.Option(help="ieee or ibm, in place of the encoding's form of COMP-1 and COMP-2.")
    ] = ""
    sign: Annotated[
        str, typer.Option("--sign", help="Zoned signs: ascii, ebcdic or ebcdic-custom. [default: by the CCSID]")
    ] = ""
    national_ccsid: Annotated[int, typer.Option(help="The CCSID of N and G pictures.")] = 1200
    blank_is_null: Annotated[
        bool, typer.Option("--blank-is-null", help="A zoned number of blanks is null, not an error.")
    ] = False

    def coding(self) -> Coding:
        """Returns the coding that the options make."""
        from engine.descriptor import is_encoding
        from parsers.charsets.ccsid import codec
        from parsers.records.json_fields import ORDERS, ZONED_SIGNS, coding_of

        for ccsid in (self.ccsid, self.national_ccsid):
            codec(ccsid)
        encoding = coding_of(self.ccsid, self.encoding).encoding
        if not is_encoding(encoding):
            raise ConfigurationException(
                f"--encoding {encoding} is no MQ encoding: 785 is a mainframe's, 273 big endian, 546 little endian"
            )
        if self.byte_order:
            order = one_of("--byte-order", self.byte_order, ORDERS)
            encoding = encoding & ~0xF | (1 if order == "big" else 2)
            if encoding & 0xF00 in {0x100, 0x200}:
                encoding = encoding & ~0xF00 | (0x100 if order == "big" else 0x200)
        if self.float_format:
            ieee = 0x200 if encoding & 0xF == 2 else 0x100
            form = one_of("--float-format", self.float_format, ("ieee", "ibm"))
            encoding = encoding & ~0xF00 | (0x300 if form == "ibm" else ieee)
        native = one_of("--native-order", self.native_order, ORDERS) if self.native_order else None
        sign = one_of("--sign", self.sign, ZONED_SIGNS) if self.sign else None
        made = coding_of(self.ccsid, encoding, sign, native)
        return replace(made, national_ccsid=self.national_ccsid, blank_is_null=self.blank_is_null)


@dataclass(frozen=True, slots=True)
class FramingOptions:
    """Options that say how records stand in a file."""

    record_format: Annotated[
        str,
        typer.Option(
            help="F (fixed length), V (RDW), VB (BDW and RDW), D (text lines) or L (a field says the length)."
        ),
    ] = "F"
    record_length: Annotated[int | None, typer.Option(help="The length of F records. [default: the copybook's]")] = None
    rdw_order: Annotated[str, typer.Option(help="big or little: the order of bytes of an RDW.")] = "big"
    rdw_adjustment: Annotated[int, typer.Option(help="Added to what an RDW says.")] = 0
    rdw_excludes_itself: Annotated[
        bool, typer.Option("--rdw-excludes-itself", help="An RDW does not count its own 4 bytes.")
    ] = False
    bdw_order: Annotated[str, typer.Option(help="big or little: the order of bytes of a BDW.")] = "big"
    bdw_adjustment: Annotated[int, typer.Option(help="Added to what a BDW says.")] = 0
    length_adjustment: Annotated[int, typer.Option(help="Added to what the length field says.")] = 0
    record_start: Annotated[int, typer.Option(help="Bytes of each record to skip before its fields.")] = 0
    record_end: Annotated[int, typer.Option(help="Bytes of each record to skip behind its fields.")] = 0

    def framing(self, header: int = 0, footer: int = 0) -> Framing:
        """Returns the framing that the options make, for a file with so many bytes around its records."""
        from parsers.records.framing import LONGEST_RECORD, RECORD_FORMATS, Framing
        from parsers.records.json_fields import ORDERS

        skipped = {
            "--record-start": self.record_start,
            "--record-end": self.record_end,
            "--file-header": header,
            "--file-footer": footer,
        }
        for option, size in skipped.items():
            if not 0 <= size <= LONGEST_RECORD:
                raise ConfigurationException(f"{option} {size} is no number of bytes")
        if self.record_length is not None and not 0 < self.record_length <= LONGEST_RECORD:
            raise ConfigurationException(f"--record-length {self.record_length} is no length of records")
        return Framing(
            format=one_of("--record-format", self.record_format.upper(), RECORD_FORMATS),
            length=self.record_length,
            rdw_order=one_of("--rdw-order", self.rdw_order, ORDERS),
            rdw_adjustment=self.rdw_adjustment,
            rdw_excludes_itself=self.rdw_excludes_itself,
            bdw_order=one_of("--bdw-order", self.bdw_order, ORDERS),
            bdw_adjustment=self.bdw_adjustment,
            length_adjustment=self.length_adjustment,
            header=header,
            footer=footer,
            start=self.record_start,
            end=self.record_end,
        )


@dataclass(frozen=True, slots=True)
class ChoiceOptions:
    """Options that say which fields there are, and which record each is."""

    type_: Annotated[str, typer.Option("--type", help="The record (level 01) or message, where there are more.")] = ""
    length_field: Annotated[str, typer.Option(help="For L: a field's name, or OFFSET:SIZE of a binary number.")] = ""
    segment: Annotated[
        list[str] | None,
        typer.Option("--segment", help="FIELD=VALUE,VALUE:NAME, where NAME is a record or redefines; may be repeated."),
    ] = None
    fillers: Annotated[bool, typer.Option("--fillers", help="FILLER items are fields as well.")] = False
    odoslide: Annotated[
        bool,
        typer.Option("--odoslide/--no-odoslide", help="Whether what follows a table of variable length moves with it."),
    ] = True

    def choices(self) -> Choices:
        """Returns the choices that the options make."""
        from parsers.records.record_file import Choices

        return Choices(
            self.type_, tuple(self.segment or ()), self.length_field, fillers=self.fillers, slide=self.odoslide
        )


MaxRecords = Annotated[
    str,
    typer.Option(
        "--max-input", metavar="SIZE", help="The most bytes that are read, such as 2G; of a device 100M, else any."
    ),
]


@dataclass(frozen=True, slots=True)
class FailureOptions:
    """Options that say what is done with records that fail."""

    on_error: Annotated[str, typer.Option(help="stop, skip or quarantine (which needs --quarantine).")] = "stop"
    quarantine: Annotated[
        Path | None,
        typer.Option(help="Write records that fail to this file, those of blocks without them, and go on."),
    ] = None


@dataclass(frozen=True, slots=True)
class DescriptionOptions:
    """Options that name the description of records: a copybook, or a message set and one of its formats."""

    copybook: Annotated[str, typer.Option("--copybook", help="The copybook that describes the records.")] = ""
    messageset: Annotated[str, typer.Option("--messageset", help="The message set that describes them.")] = ""
    format_: Annotated[
        str, typer.Option("--format", help="The wire format of a message set, by its name in the set or its kind.")
    ] = ""


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """All options that decode and encode share, but for those of their outputs."""

    description: DescriptionOptions
    choice: ChoiceOptions
    coding: CodingOptions
    framing: FramingOptions
    source: CopybookOptions
    failure: FailureOptions

    def kind(self, framing: Framing, coding: Coding) -> tuple[Kind, tuple[Path, ...]]:
        """Returns the kind of file that is described, and the files that were read to know it."""
        dialect, choices, said = self.source.dialect(), self.choice.choices(), self.description
        if bool(said.copybook) == bool(said.messageset):
            raise ConfigurationException("name what describes the records: --copybook FILE or --messageset FILE")
        if not said.copybook:
            return self._of_set(framing, coding, choices), (Path(said.messageset),)
        if said.format_ not in {"", "CWF"}:
            raise ConfigurationException(f"--format {said.format_} needs a message set: a copybook describes CWF")
        from parsers.importers.copybook import read_copybook
        from parsers.records.record_file import record_file

        book = read_copybook(existing(said.copybook), dialect)
        return record_file(book, framing, coding, choices), book.files

    def _of_set(self, framing: Framing, coding: Coding, choices: Choices) -> ModelFile:
        from flows.message_sets.yaml_reader import load_message_set
        from parsers.records.model_file import model_file

        if choices.segments or choices.length_field or choices.fillers or framing.format == "L":
            raise ConfigurationException("segments, length fields and fillers are those of a copybook: name one")
        found = load_message_set(str(existing(self.description.messageset)))
        return model_file(found, self.description.format_, choices.type, framing, coding)
