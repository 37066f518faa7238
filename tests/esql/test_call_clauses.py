"""What CALL may say of a routine's database."""

import pytest

from esql.compile import compile_text
from esql.text import SyntaxProblems


@pytest.mark.parametrize("clause", ["IN Database.stock", "EXTERNAL SCHEMA 'me'"])
def test_clauses_of_databases_need_a_routine_of_a_database(clause: str) -> None:
    """A clause that would have no effect is a problem, not a word without meaning."""
    program = f"CREATE PROCEDURE p() BEGIN END; CALL p() {clause};"
    with pytest.raises(SyntaxProblems) as raised:
        compile_text(program, "COMPUTE")
    assert ["LANGUAGE DATABASE" in problem.text for problem in raised.value.problems] == [True]
