"""Who may import whom: DESIGN.md section 2 as a table, which test_architecture.py enforces."""

# A row covers a module and all beneath it; the longest row that fits is the one that counts; what stands in a row is
# allowed with all beneath it. A module may always import its own row.
VALUES = ("engine.errors", "engine.budget", "engine.catalog", "engine.dates", "engine.descriptor")
MESSAGES = (*VALUES, "engine.tree", "engine.parser", "engine.message")
FLOWS = (*MESSAGES, "engine.work", "engine.node", "engine.files", "engine.flow")
EVERYTHING = ("engine", "nodes", "esql", "parsers", "flows")
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "engine": (),  # only engine/__init__.py: each room of engine has a row of its own
    **dict.fromkeys(("engine.errors", "engine.dates"), ()),
    "engine.descriptor": ("engine.errors", "engine.catalog"),
    **dict.fromkeys(("engine.budget", "engine.catalog", "engine.files"), ("engine.errors",)),
    "engine.tree": ("engine.errors", "engine.budget"),
    **dict.fromkeys(("engine.message", "engine.parser", "engine.work"), MESSAGES),
    "engine.node": (*MESSAGES, "engine.work"),
    "engine.flow": FLOWS,
    "engine.mq": FLOWS,
    "engine.databases": FLOWS,
    "engine.transports": (*FLOWS, "engine.mq"),
    "engine.runtime": FLOWS,
    "engine.runtime.file_run": (*FLOWS, "engine.runtime", "engine.databases", "engine.transports"),
    "esql": (*FLOWS, "engine.databases"),
    "parsers": FLOWS,
    "nodes": (*FLOWS, "engine.databases", "esql"),
    "flows": ("engine", "flows"),
    **dict.fromkeys(
        ("flows.content_filters", "flows.data_sources", "flows.esql_files", "flows.label_names", "flows.programs"),
        ("engine", "esql", "flows"),
    ),
    "flows.message_sets": ("engine", "parsers", "flows"),
    "engine.broker": EVERYTHING,  # it deploys flows: their files, programs and nodes
    **dict.fromkeys(
        (
            "engine.broker.definition",
            "engine.broker.file_reader",
            "engine.broker.user_rights",
            "engine.broker.file_values",
        ),
        (*FLOWS, "engine.databases", "engine.broker", "flows.yaml_document"),  # Spark reads broker files too
    ),
    **dict.fromkeys(("engine.costs", "engine.testing"), EVERYTHING),
    "engine.costs.spark": (*EVERYTHING, "spark_exec"),  # what it measures
    "engine.cli": (*EVERYTHING, "spark_exec"),
    "spark_exec": (*FLOWS, "engine.runtime", "engine.databases", "engine.broker", "flows"),
}
COMPOSITION_ROOTS = ("engine.cli", "engine.costs", "engine.testing", "spark_exec")
IMPORTERS_OF_ROOTS = ("engine.cli", "engine.costs.spark")  # nobody else imports a composition root

IMPORTED_ONLY_BY = {"antlr4": "esql.read", "esql.grammar.generated": "esql.read"}
THIRD_PARTY: dict[str, tuple[str, ...]] = {  # a module without a row may import any package pyproject.toml names
    "engine.tree": (),
    "flows": ("lxml", "yaml"),
}
