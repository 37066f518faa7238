"""Which words are free as names, and where."""

import re
from pathlib import Path

import pytest

from esql import syntax
from esql.format import format_program
from esql.names import predefined
from esql.read import read_expression, read_file, read_statements
from esql.text import SyntaxProblems

GRAMMAR = Path(predefined.__file__).parents[1].joinpath("grammar", "ESQL.g4").read_text(encoding="utf-8")


def group(rule):
    """Give the words of a rule of the grammar that is a choice of words."""
    body = re.search(rf"^{rule}\s*:(.*?);", GRAMMAR, re.MULTILINE | re.DOTALL).group(1)
    return frozenset(re.findall(r"[A-Z_]+", body))


# words of the manual's list that are no tokens: functions, special registers and the like
OTHERS = frozenset(
    (
        "BY", "CONDITION", "COORDINATED", "COUNT", "CURRENT_DATE", "CURRENT_TIMESTAMP", "DAYOFWEEK", "DAYOFYEAR",
        "DAYS", "EXISTS", "GROUP", "HAVING", "ISLEAPYEAR", "LOCALTIMEZONE", "LOCAL_TIMEZONE", "MAX", "MIN", "MODIFIES",
        "MONTHS", "ORDER", "QUARTEROFYEAR", "QUARTERS", "READS", "SAMEFIELD", "SHORT", "SQL", "SQLCODE", "SQLERRORTEXT",
        "SQLNATIVEERROR", "SUM", "THE", "UNCOORDINATED", "UUIDASBLOB", "UUIDASCHAR", "WEEKOFMONTH", "WEEKOFYEAR",
        "WEEKS",
    )
)  # fmt: skip
FREE = sorted(
    group("plainKeyword") | group("operatorKeyword") | group("statementKeyword") | group("formKeyword") | OTHERS
)
LITERALS = sorted(group("literalKeyword"))
RESERVED = sorted(group("reserved"))


def test_words_are_those_of_the_grammar():
    """The words that the printer quotes are the grammar's groups."""
    assert group("reserved") == predefined.RESERVED
    assert group("operatorKeyword") == predefined.OPERATORS
    assert group("literalKeyword") == predefined.LITERALS
    assert group("formKeyword") == predefined.FORMS
    assert group("statementKeyword") == predefined.STATEMENTS


@pytest.mark.parametrize("word", FREE + LITERALS)
def test_a_free_word_can_be_declared(word):
    """A word that is not reserved names variables, routines, parameters, modules, schemas and correlations."""
    text = f"""
        BROKER SCHEMA {word}.{word} PATH {word};
        DECLARE {word} INTEGER 1;
        CREATE PROCEDURE {word}({word} INTEGER, OUT {word} CHARACTER) BEGIN
            SET {word} = 1;
            SET {word}.{word} = 1;
            CALL {word}(1);
            CALL {word}.{word}() INTO {word};
            FOR {word} AS x[] DO END FOR;
        END;
        CREATE COMPUTE MODULE {word} END MODULE;
    """
    program = read_file(text, "words")
    declared, routine, module = program.statements
    assert (word,) == declared.names
    assert word == routine.name
    assert [word, word] == [parameter.name for parameter in routine.parameters]
    assert word == routine.body.body[0].target.root
    assert word == module.name
    assert (word, word) == program.prologue.schema
    assert program == read_file(format_program(program), "printed")


@pytest.mark.parametrize("word", FREE)
def test_a_free_word_is_a_variable_in_expressions(word):
    """A word that is not reserved is a variable, with steps and an index, wherever an expression wants one."""
    assert syntax.Path(word) == read_expression(word, "words")
    assert syntax.Path(word) == read_expression(f"({word})", "words")
    assert syntax.Path(word.lower()) == read_expression(f"f({word.lower()}, 1)", "words").arguments[0]
    text = f"{word}.{word}[{word if word != 'LAST' else 1}] = 1 AND 1 + {word} || x = {word}"
    assert read_expression(text, "words").operands[0].left.root == word


@pytest.mark.parametrize("word", sorted(set(FREE) - predefined.FORMS))
def test_a_free_word_is_a_routine_in_expressions(word):
    """A word that has no form of its own names a routine that is called in an expression."""
    assert syntax.Call((word,), (syntax.Integer(1), syntax.Integer(2))) == read_expression(f"{word}(1, 2)", "words")


@pytest.mark.parametrize("word", FREE + LITERALS + RESERVED)
def test_every_word_is_a_field(word):
    """Every word, reserved ones too, is a field, a namespace, a column."""
    read = read_statements(f"SET a.{word}.{word}:{word}[1].*:{word} = 1;", "words").statements[0].target
    assert [word, word, word] == [step.name.text for step in read.steps]
    text = f"INSERT INTO Database.{word} ({word}) VALUES (1);"  # noqa: S608 - text to read
    columns = read_statements(text, "words").statements[0].columns
    assert (word,) == columns


@pytest.mark.parametrize("word", LITERALS)
def test_a_literal_word_is_the_literal_in_expressions(word):
    """TRUE is true whatever is declared; in quotes it is a name."""
    assert not isinstance(read_expression(word, "words"), syntax.Path)
    assert syntax.Path(word) == read_expression(f'"{word}"', "words")


@pytest.mark.parametrize("word", RESERVED)
def test_a_reserved_word_is_no_variable(word):
    """A reserved word names a variable in quotes only."""
    with pytest.raises(SyntaxProblems):
        read_statements(f"DECLARE {word} INTEGER;", "words")
    assert (word,) == read_statements(f'DECLARE "{word}" INTEGER;', "words").statements[0].names


@pytest.mark.parametrize(
    "word",
    sorted((set(FREE) | set(LITERALS)) - predefined.STATEMENTS - predefined.FORMS - predefined.LITERALS),
)
def test_a_word_that_starts_no_statement_is_a_label(word):
    """Labels are names too."""
    text = f"{word}: WHILE a DO LEAVE {word}; END WHILE {word};"
    assert word == read_statements(text, "words").statements[0].label


@pytest.mark.parametrize("word", ["name", "type", "value", "namespace", "select", "date", "repeat"])
def test_an_attribute_may_be_called_by_a_word(word):
    """Behind a type the next word is the name."""
    step = read_expression(f"a.(XML.Attribute){word}", "words").steps[0]
    assert word == step.name.text


def test_behind_a_type_an_operator_is_an_operator():
    """A typed step without a name ends before AND."""
    tree = read_expression("a.(XML.XmlDecl) AND (b)", "words")
    assert "AND" == tree.operator
