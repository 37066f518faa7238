"""Who may import whom: DESIGN.md section 2 as a table, which test_architecture.py enforces."""

# DESIGN.md section 2 as a table. A row covers a module and all beneath it; the longest row that fits is the one that
# counts; what stands in a row is allowed with all beneath it. A module may always import its own row.
TREES = (
    *("engine.budget", "engine.errors", "engine.source", "engine.state", "engine.step", "engine.links"),
    *("engine.tree", "engine.sharing", "engine.dump"),
)
MESSAGES = (
    *TREES,
    *("engine.catalog", "engine.descriptor", "engine.parser", "engine.received", "engine.writing", "engine.finalizing"),
    *("engine.describing", "engine.exceptions", "engine.message", "engine.moments", "engine.validating"),
)
FOUNDATION = (
    *MESSAGES,
    "engine.topics",
    "engine.work",
    "engine.node",
    "engine.dead_letters",
    "engine.destinations",
    "engine.getting",
)
DEPLOYMENT = (*FOUNDATION, "engine.flow", "engine.lint", "engine.marking", "engine.routes", "engine.statistics")
EVERYTHING = ("engine", "nodes", "esql", "parsers", "flows")
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "engine": (),  # only engine/__init__.py: each module of engine has a row of its own
    **dict.fromkeys(("engine.errors", "engine.moments", "engine.room", "engine.state", "engine.step"), ()),
    **dict.fromkeys(("engine.allowed_files", "engine.input_files", "engine.output_files"), ("engine.errors",)),
    "engine.output_folders": ("engine.errors", "engine.output_files"),
    "engine.budget": ("engine.errors",),
    "engine.source": ("engine.step", "engine.tree"),
    "engine.links": ("engine.errors", "engine.source", "engine.state", "engine.step"),
    "engine.tree": ("engine.errors", "engine.source", "engine.state", "engine.step", "engine.links"),
    "engine.sharing": TREES,
    "engine.dump": TREES,
    "engine.exceptions": TREES,
    "engine.catalog": ("engine.errors",),
    "engine.descriptor": (),
    "engine.topics": ("engine.errors",),
    "engine.describing": ("engine.catalog", "engine.descriptor", "engine.errors", "engine.source"),
    "engine.parser": MESSAGES,
    "engine.received": MESSAGES,
    "engine.writing": MESSAGES,
    "engine.finalizing": (*MESSAGES, "engine.writing"),
    "engine.message": MESSAGES,
    "engine.validating": MESSAGES,
    "engine.xpath": MESSAGES,
    "engine.work": MESSAGES,
    **dict.fromkeys(("engine.node", "engine.dead_letters", "engine.destinations", "engine.getting"), FOUNDATION),
    "engine.flow": FOUNDATION,
    "engine.routes": (*FOUNDATION, "engine.flow"),
    "engine.lint": (*FOUNDATION, "engine.flow", "engine.marking", "engine.routes"),
    "engine.notes": (*FOUNDATION, "engine.flow", "engine.lint", "engine.marking"),
    "engine.marking": ("engine.errors",),
    "engine.statistics": (*FOUNDATION, "engine.flow"),
    "engine.databases": (*FOUNDATION, "engine.input_files", "engine.xpath"),
    "engine.mq": FOUNDATION,
    "engine.transports": (*FOUNDATION, "engine.mq"),
    **dict.fromkeys(("engine.batches", "engine.usertrace"), FOUNDATION),
    "engine.own_nodes": (*FOUNDATION, "engine.input_files"),
    "engine.listening": FOUNDATION,
    "engine.runtime": (*DEPLOYMENT, "engine.listening", "engine.allowed_files", "engine.batches", "engine.usertrace"),
    "engine.incidents": ("engine.dead_letters", "engine.errors"),
    "engine.desk": (
        *(*DEPLOYMENT, "engine.batches", "engine.runtime", "engine.transports", "engine.usertrace"),
        *("engine.databases", "engine.incidents", "engine.input_files", "engine.output_files"),
        "engine.output_folders",
    ),
    "engine.flow_runner": (*DEPLOYMENT, "engine.batches", "engine.incidents", "engine.room", "engine.runtime"),
    "engine.broker": EVERYTHING,  # it deploys flows: their files, programs and nodes
    **dict.fromkeys(
        ("engine.broker.definition", "engine.broker.file", "engine.broker.people", "engine.broker.values"),
        (*FOUNDATION, "engine.databases", "engine.lint", "engine.broker", "flows.document"),
    ),
    "esql": (*FOUNDATION, "engine.databases"),
    "parsers": FOUNDATION,
    **dict.fromkeys(
        ("parsers.importers", "parsers.records"),
        (*FOUNDATION, "engine.allowed_files", "engine.input_files", "engine.marking", "parsers"),
    ),
    "nodes": (*FOUNDATION, "engine.allowed_files", "engine.databases", "engine.xpath", "esql"),
    "flows": ("engine",),
    "flows.esql_files": ("engine", "esql"),  # what flows are programmed in
    "flows.message_sets": ("engine", "parsers.mrm", "flows.document", "flows.writer", "flows.schema"),
    "flows.label_names": ("engine", "esql", "flows.programs"),
    "flows.shipped": ("engine", "flows"),
    "flows.schemas": ("engine", "parsers", "flows.document"),
    "flows.content_filters": ("engine", "esql"),
    "flows.filtering": ("engine", "flows.content_filters"),
    "flows.programs": (
        *("engine", "esql", "parsers", "flows.esql_files", "flows.message_sets", "flows.schemas", "flows.tables"),
        "flows.data_sources",
    ),
    **dict.fromkeys(("flows.data_sources", "flows.tables"), ("engine", "esql")),
    **dict.fromkeys(("engine.costs", "engine.testing"), EVERYTHING),
    "engine.costs.spark": (*EVERYTHING, "spark_exec"),  # what it measures
    "engine.cli": (*EVERYTHING, "spark_exec"),
    "spark_exec": (
        *(
            *DEPLOYMENT,
            "engine.batches",
            "engine.databases",
            "engine.runtime",
            "engine.broker",
            "engine.own_nodes",
            "flows",
        ),
        *("engine.incidents", "engine.input_files", "engine.output_files"),
    ),
}
COMPOSITION_ROOTS = ("engine.cli", "engine.costs", "engine.testing", "spark_exec")
IMPORTERS_OF_ROOTS = ("engine.cli", "engine.costs.spark")  # nobody else imports a composition root

IMPORTED_ONLY_BY = {"antlr4": "esql.read", "esql.grammar.generated": "esql.read"}
THIRD_PARTY: dict[str, tuple[str, ...]] = {  # a module without a row may import any package pyproject.toml names
    "engine.tree": (),
    "flows": ("lxml", "yaml"),
}
