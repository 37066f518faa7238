"""DatabaseException: errors of databases as flows see them, with the state and the words of the database."""

from __future__ import annotations

from typing import Final

from engine.errors import BrokerError, Insert

ROOT: Final = 2321
CHILD: Final = 2322
GENERAL: Final = "HY000"
NO_TABLE: Final = "42S02"
NO_COLUMN: Final = "42S22"
BROKEN: Final = "08S01"
NOT_NOW: Final = "25000"
_NUMBER: Final = 2  # the insert types of numbers and of texts
_TEXT: Final = 5


class DatabaseException(BrokerError):
    """A statement that a database refused; `sqlstate` begins with D, the origin, as ESQL's handlers compare it."""

    kind = "DatabaseException"

    def __init__(self, number: int, text: str, *inserts: str | Insert) -> None:
        super().__init__(number, text, *inserts)
        self.sqlstate = f"D{GENERAL}"
        self.sqlcode = -1
        self.sqlnativeerror = 0
        self.sqlerrortext = text

    def stating(self, state: str, code: int, native: int, text: str) -> DatabaseException:
        """Say what ESQL's SQLSTATE, SQLCODE, SQLNATIVEERROR and SQLERRORTEXT give of it."""
        self.sqlstate, self.sqlcode, self.sqlnativeerror, self.sqlerrortext = f"D{state}", code, native, text
        return self


def refusal(source: str, driver: str, state: str, native: int, text: str, code: int = -1) -> DatabaseException:
    """The error that a statement ends with: where it was sent, and inside it what the database said.

    >>> error = refusal("STOCK", "sqlite", "23505", 2067, "UNIQUE constraint failed: T.ID")
    >>> error.sqlstate, str(error)
    ('D23505', 'BIP2321: data source STOCK: UNIQUE constraint failed: T.ID')
    """
    inner = DatabaseException(CHILD, f"SQL state {state}, native error {native}: {text}", *_told(state, native, text))
    outer = DatabaseException(
        ROOT, f"data source {source}: {text}", Insert(str(code), _NUMBER), Insert(source, _TEXT), Insert(driver, _TEXT)
    )
    outer.__cause__ = inner.stating(state, code, native, text)
    return outer.stating(state, code, native, text)


def _told(state: str, native: int, text: str) -> tuple[Insert, ...]:
    return Insert(state, _TEXT), Insert(str(native), _NUMBER), Insert(text, _TEXT)
