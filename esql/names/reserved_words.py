"""The words of ESQL that are not free for every use as a name; the grammar has the same groups, and a test compares."""

RESERVED = frozenset(
    ("ALL", "ASYMMETRIC", "BOTH", "CASE", "DISTINCT", "FROM", "ITEM", "LEADING", "NOT", "SYMMETRIC", "TRAILING", "WHEN")
)
OPERATORS = frozenset(("AND", "BETWEEN", "IN", "IS", "LIKE", "OR"))
LITERALS = frozenset(("FALSE", "NULL", "TRUE", "UNKNOWN"))
FORMS = frozenset(
    (
        "ASBITSTREAM", "CAST", "EXTRACT", "FOR", "OVERLAY", "PASSTHRU", "POSITION", "ROUND", "ROW", "SELECT",
        "SUBSTRING", "TRIM",
    )
)  # fmt: skip
STATEMENTS = frozenset(
    (
        "ATTACH", "BEGIN", "CALL", "COMMIT", "CREATE", "DECLARE", "DELETE", "DETACH", "ELSE", "ELSEIF", "END", "EVAL",
        "IF", "INSERT", "ITERATE", "LEAVE", "LOG", "LOOP", "MOVE", "PROPAGATE", "REPEAT", "RESIGNAL", "RETURN",
        "ROLLBACK", "SET", "THROW", "UNTIL", "UPDATE", "WHILE",
    )
)  # fmt: skip
