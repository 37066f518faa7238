"""Every node has its table: each terminal, property and failure of its own is shown by a test that is named here."""

from __future__ import annotations

from importlib import import_module
from inspect import getsource
from types import MappingProxyType
from typing import Final, NamedTuple

import pytest

from engine.flow.definition import Flow, NodeUse, Setting
from engine.message.assembly import Message
from engine.node import FAILURE, node_catalog
from engine.runtime.deployment import deploy
from engine.transports.memory import MemoryQueues
from flows.programs import binder
from tests.nodes import got
from tests.nodes.bench import carried, exception_numbers, message_of
from tests.nodes.esql_nodes import made, sent

LABELS: Final = "label *"


class Table(NamedTuple):
    """The tests of a node, as module.test below tests.nodes: by terminal, by property, and of its own failures."""

    terminals: dict[str, str]
    properties: dict[str, str]
    failures: str = ""  # empty for a node that cannot fail


def each(test: str, *names: str) -> dict[str, str]:
    """Several names that one test shows."""
    return dict.fromkeys(names, test)


DATABASE: Final = each(
    "databases.test_properties",
    *("dataSource", "transaction", "treatWarningsAsErrors", "throwExceptionOnDatabaseError"),
)
CHECKS: Final = each("test_validate.test_checks", "domain", "checkDomain", "set", "checkSet", "type", "checkType")

TABLES: Final = MappingProxyType(
    {
        "MQInput": Table(
            each("test_mq_input.test_retry", "out", "catch", FAILURE),
            {
                "queueName": "test_mq_input_order.test_what_stays_in_order",
                **each("test_mq_input_properties.test_domain", "messageDomainProperty", "messageSetProperty"),
                **each("test_mq_input_properties.test_domain", "messageTypeProperty", "messageFormatProperty"),
                "topicProperty": "test_mq_input_properties.test_topic",
                "connection": "test_mq_input_properties.test_refused_properties",
                "transactionMode": "test_mq_input.test_without_transaction",
                **each("test_mq_input_order.test_what_stays_in_order", "orderMode", "logicalOrder"),
                "allMsgsAvailable": "test_mq_input_order.test_whole_groups",
                "commitByMessageGroup": "test_mq_input_order.test_commit_by_group",
                **each("test_mq_input_properties.test_matching_ids", "matchMessageId", "matchCorrelId"),
                **each("test_mq_input_properties.test_convert", "convert", "convertEncoding", "convertCodedCharSetId"),
                "browse": "test_mq_input_properties.test_browsed_messages_stay",
                "resetBrowseTimeout": "test_mq_input_order.test_browsing_anew",
                **each("test_mq_input_order.test_instances", "additionalInstances", "componentLevel"),
                "validateMaster": "test_mq_input_order.test_validation",
                "validateFailureAction": "test_mq_input_order.test_validation",
                "validateTiming": "test_mq_input.test_retry",
                **each(
                    "test_mq_input_properties.test_retention",
                    "parserXmlnscMixedContentRetainMode",
                    "parserXmlnscCommentsRetainMode",
                    "parserXmlnscProcessingInstructionsRetainMode",
                ),
                "parserXmlnscUseForXmlnsDomain": "test_mq_input_properties.test_xmlnsc_for_xmlns",
            },
            "test_mq_input.test_no_such_queue",
        ),
        "MQOutput": Table(
            {"out": "test_mq_output.test_written_destination", FAILURE: "test_tables.test_own_failures"},
            {
                **each("test_mq_output.test_refusals", "queueName", "queueManagerName", "destinationMode"),
                "transactionMode": "test_mq_output.test_transaction_mode",
                **each("test_mq_output.test_properties", "persistenceMode", "messageContext", "request"),
                **each("test_mq_output.test_properties", "replyToQ", "replyToQMgr"),
                **each("test_mq_output.test_new_ids", "newMsgId", "newCorrelId"),
                "segmentationAllowed": "test_mq_output_segments.test_a_message_that_is_too_long_for_its_queue",
                "alternateUserAuthority": "test_mq_output_authority.test_the_users_authority",
                **each("test_validation_options.test_before_a_put", "validateMaster", "validateFailureAction"),
            },
            "test_mq_output.test_refusals",
        ),
        "MQReply": Table(
            {"out": "test_mq_reply.test_what_goes_on", FAILURE: "test_tables.test_own_failures"},
            {
                **each("test_mq_reply.test_replies", "segmentationAllowed", "persistenceMode"),
                "transactionMode": "test_mq_reply.test_transaction_mode",
                **each("test_validation_options.test_before_a_put", "validateMaster", "validateFailureAction"),
            },
            "test_mq_reply.test_refusals",
        ),
        "MQGet": Table(
            {
                "out": "test_mq_get.test_trees",
                "noMessage": "test_mq_get.test_no_message",
                "warning": "test_mq_get_options.test_warnings",
                FAILURE: "test_mq_get.test_failures",
            },
            {
                "queueName": "test_mq_get.test_a_queue_is_needed",
                **each("test_mq_get.test_trees", "messageDomainProperty", "messageSetProperty", "messageTypeProperty"),
                **each("test_mq_get.test_trees", "messageFormatProperty", "copyMessage", "copyLocalEnv"),
                **each("test_mq_get.test_trees", "outputDataLocation", "resultDataLocation", "outputMQParmsLocation"),
                "generateMode": "test_mq_get.test_trees",
                "validateTiming": "test_mq_get.test_failures",
                **each("test_mq_input_order.test_validation_of_what_is_got", "validateMaster", "validateFailureAction"),
                **each(
                    "test_mq_get_options.test_parser_options",
                    "parserXmlnscMixedContentRetainMode",
                    "parserXmlnscCommentsRetainMode",
                    "parserXmlnscProcessingInstructionsRetainMode",
                ),
                "parserXmlnscUseForXmlnsDomain": "test_mq_get_options.test_xmlnsc_for_xmlns",
                "transactionMode": "test_mq_get.test_transaction_mode",
                "waitInterval": "test_mq_get.test_waiting",
                "minimumGetBufferSize": "test_mq_get_options.test_what_fits_the_buffer_is_not_cut",
                **each("test_mq_get.test_ids", "getWithMsgID", "getWithCorrelID", "useCompleteInputMQMD"),
                "inputMQMDLocation": "test_mq_get.test_ids",
                **each("test_mq_get_options.test_browse", "browse", "resetBrowseTimeout"),
                **each("test_mq_get_options.test_conversion", "convert", "convertCodedCharSetId"),
                "convertEncoding": "test_mq_get_options.test_encoding_to_convert_to",
                "inputMQParmsLocation": "test_mq_get_options.test_match_options",
                "warningDataLocation": "test_mq_get_options.test_warnings",
            },
            "test_mq_get.test_failures",
        ),
        "Compute": Table(
            {
                **each("test_compute.test_what_is_sent", "out", "out1", "out4", LABELS),
                **each("test_tables.test_terminals_of_compute", "out2", "out3"),
                FAILURE: "test_compute.test_its_own_failure_goes_to_its_failure_terminal",
            },
            {
                "computeExpression": "test_filter.test_a_program_that_nobody_compiled",
                "computeMode": "test_compute.test_compute_modes",
                **DATABASE,
                "validateMaster": "test_validation_options.test_compute",
                "validateFailureAction": "test_validation_options.test_what_becomes_of_it",
            },
            "test_compute.test_failures",
        ),
        "Filter": Table(
            {
                **each("test_filter.test_terminals", "true", "false", "unknown"),
                FAILURE: "test_tables.test_own_failures",
            },
            {"filterExpression": "test_filter.test_a_program_that_nobody_compiled", **DATABASE},
            "test_filter.test_a_failure",
        ),
        **{
            kind: Table(
                each("databases.test_one_program", "out", *further, FAILURE),
                {"statement": "databases.test_one_program", **DATABASE},
                "databases.test_one_program",
            )
            for kind, further in {
                "Database": ("out1", "out2", "out3", "out4"),
                **dict.fromkeys(("DataInsert", "DataUpdate", "DataDelete", "Warehouse", "Extract"), ()),
            }.items()
        },
        "DatabaseRetrieve": Table(
            each("databases.test_retrieve", "out", "keyNotFound", FAILURE),
            each(
                "databases.test_retrieve",
                *("dataSourceName", "queryElements", "dataElements", "allRows", "copyMessage", "sqlQuery"),
                "nsMappingTable",
            ),
            "databases.test_retrieve",
        ),
        "DatabaseRoute": Table(
            each("databases.test_route", "match", "default", "keyNotFound", "*", FAILURE),
            each(
                "databases.test_route",
                *("dataSourceName", "queryElements", "filterTable", "distributionMode", "nsMappingTable"),
            ),
            "databases.test_route",
        ),
        "RouteToLabel": Table(
            {LABELS: "test_route_to_label.test_choices", FAILURE: "test_route_to_label.test_refusals"},
            {"mode": "test_route_to_label.test_choices"},
            "test_route_to_label.test_refusals",
        ),
        "Label": Table(
            {"out": "test_route_to_label.test_one_after_the_other"},
            {"labelName": "test_route_to_label.test_a_label_needs_a_name"},
        ),
        "TryCatch": Table(each("test_try_catch.test_ways", "try", "catch"), {}),
        "Throw": Table(
            {},
            {
                **each("test_throw.test_the_exception", "messageText"),
                **each("test_throw.test_numbers", "messageNumber", "messageCatalog"),
            },
            "test_throw.test_the_exception",
        ),
        "Trace": Table(
            {"out": "test_trace.test_patterns", FAILURE: "test_tables.test_own_failures"},
            {
                "destination": "test_trace.test_logs",
                "filePath": "test_trace.test_a_file_that_cannot_be_written",
                "pattern": "test_trace.test_patterns",
                "messageCatalog": "test_trace.test_a_catalogue_of_your_own",
                "messageNumber": "test_trace.test_logs",
            },
            "test_trace.test_a_file_that_cannot_be_written",
        ),
        "FlowOrder": Table(each("test_flow_order.test_order", "first", "second", FAILURE), {}),
        "ResetContentDescriptor": Table(
            each("test_reset_content_descriptor.test_timing", "out", FAILURE),
            {
                **each("test_reset_content_descriptor.test_resets", "messageDomain", "resetMessageDomain"),
                **each("test_reset_content_descriptor.test_resets", "messageSet", "resetMessageSet"),
                **each("test_reset_content_descriptor.test_resets", "messageType", "resetMessageType"),
                **each("test_reset_content_descriptor.test_resets", "messageFormat", "resetMessageFormat"),
                "validateTiming": "test_reset_content_descriptor.test_timing",
                "validateMaster": "test_validation_options.test_reset_content_descriptor",
                "validateFailureAction": "test_validation_options.test_reset_content_descriptor",
            },
            "test_reset_content_descriptor.test_an_unwritable_body",
        ),
        "Check": Table(each("test_validate.test_checks", "match", FAILURE), CHECKS, "test_validate.test_checks"),
        "Validate": Table(
            each("test_validate.test_checks", "match", FAILURE),
            {
                **CHECKS,
                "validateMaster": "test_validate.test_what_becomes_of_a_body_that_is_not_valid",
                "validateFailureAction": "test_validate.test_what_becomes_of_a_body_that_is_not_valid",
            },
            "test_validate.test_checks",
        ),
        "Publication": Table(
            {
                "out": "test_publication.test_topics",
                "noMatch": "test_publication.test_matched",
                FAILURE: "test_publication.test_refused",
            },
            {
                "implicitStreamNaming": "test_publication.test_pending",
                "subscriptionPoint": "test_publication.test_topics",
            },
            "test_publication.test_refused",
        ),
        "Passthrough": Table({"out": "test_passthrough.test_the_same_message"}, {}),
    }
)


def test_every_node_has_a_table() -> None:
    """A new node needs a row here."""
    assert sorted(TABLES) == sorted(node_catalog)


@pytest.mark.parametrize("kind", TABLES)
def test_the_table_is_whole(kind: str) -> None:
    """A new terminal or property needs a test; one that is gone leaves no row."""
    declared, table = node_catalog.find(kind), TABLES[kind]
    assert sorted(table.terminals) == sorted(declared.outputs)
    assert sorted(table.properties) == sorted(one.name for one in declared.properties)


ROWS = sorted(
    {
        (kind, name, test)
        for kind, table in TABLES.items()
        for name, test in (table.terminals | table.properties).items()
    }
    | {(kind, "", table.failures) for kind, table in TABLES.items() if table.failures}
)


@pytest.mark.parametrize(("kind", "name", "test"), ROWS, ids=[f"{kind}.{name}" for kind, name, _ in ROWS])
def test_the_tests_are_there(kind: str, name: str, test: str) -> None:
    """Each test that is named is there, and its module speaks of what it is named for."""
    module_name, function = test.split(".")
    place = "tests.databases.test_nodes" if module_name == "databases" else f"tests.nodes.{module_name}"
    module = import_module(place)
    assert callable(getattr(module, function))
    known = getsource(module) + (getsource(got) if kind == "MQGet" else "")
    assert name.removesuffix("*") in known


FAILURES = {
    "MQOutput": ({"queueName": "NONE"}, 2085),
    "MQReply": ({}, 2635),
    "MQGet": ({"queueName": "NONE"}, 2085),
    "RouteToLabel": ({}, 4256),
    "Trace": ({"destination": "file", "filePath": "/", "pattern": "x"}, 2211),
    "Validate": ({"checkDomain": True}, 2230),
    "Check": ({"checkDomain": True}, 2230),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_own_failures(kind: str) -> None:
    """What a node cannot do goes to its failure terminal: the message as it came, with the ExceptionList."""
    properties, number = FAILURES[kind]
    given = message_of()
    others = [name for name in node_catalog.find(kind).outputs if name not in {FAILURE, LABELS}]
    seen = carried(kind, given, FAILURE, *others, properties=properties, work=MemoryQueues("IN").work())
    assert (seen.terminals, seen.error) == ([FAILURE], None)
    assert seen.message.root is given.root
    assert exception_numbers(seen.message)[-1] == number
    unwired = carried(kind, given, *others, properties=properties, work=MemoryQueues("IN").work())
    assert unwired.error is not None
    assert unwired.error.number == number


@pytest.mark.parametrize(("kind", "program"), [("Compute", "SET Environment.x = 1 / 0;"), ("Filter", "1 / 0 = 1")])
def test_own_failures_of_programs(kind: str, program: str) -> None:
    """What fails in a program goes to failure as well."""
    name = {"Compute": "computeExpression", "Filter": "filterExpression"}[kind]
    flow = Flow("F", nodes=(NodeUse("N", kind, (Setting(name, program),)),))
    station, seen = deploy(flow, bind=binder(flow)).stations["N"], list[Message]()
    station.wires[FAILURE] = (lambda message, _: seen.append(message),)
    station.carry(message_of(), MemoryQueues().work())
    assert exception_numbers(seen[0]) == [2230, 2488, 2439, 2450]


@pytest.mark.parametrize("terminal", ["failure", "out", "out1", "out2", "out3", "out4"])
def test_terminals_of_compute(terminal: str) -> None:
    """PROPAGATE sends to each terminal by its name."""
    program = f"PROPAGATE TO TERMINAL '{terminal}'; RETURN FALSE;"
    assert [one for one, _ in sent(made("Compute", program))] == [terminal]
