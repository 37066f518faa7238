"""Filters of contents: conditions in ESQL that subscriptions hold publications against, their bodies too.

ESQL is imported when a subscription has the first such condition, so that other queue managers start without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from engine.budget import spending
from engine.errors import BrokerError, MessageException

if TYPE_CHECKING:
    from engine.descriptor import Descriptor
    from engine.mq import QueueManager


SELECTOR_SYNTAX_ERROR: Final = 2459
_SEEN: Final = 1_000  # bytes of a body in which it begins
_LOOKS_LIKE: Final = {b"<": "XMLNSC", b"{": "JSON", b"[": "JSON"}


def compile_content(text: str) -> Callable[[Descriptor, bytes], bool | None]:
    """Returns the filter of a condition, such as `Body.Order.Total > 100`; a wrong one is refused with 2459.

    What a publication's header does not say of its body is taken from how that begins.

    >>> from engine.descriptor import Descriptor
    >>> large = compile_content("Body.Order.Total > 100")
    >>> large(Descriptor(), b"<Order><Total>120</Total></Order>"), large(Descriptor(), b"<Order/>")
    (True, None)
    """
    from engine.message.assembly import Message
    from engine.parser import Template
    from esql.compile import compile_expression
    from esql.text import SyntaxProblems

    try:
        compiled = compile_expression(text)
    except (SyntaxProblems, BrokerError) as error:
        problem = f"and it is no condition in ESQL: {str(error).splitlines()[0]}"
        raise MessageException(SELECTOR_SYNTAX_ERROR, problem, text, reason=SELECTOR_SYNTAX_ERROR) from error
    entrance = compiled.entrance()

    def select(descriptor: Descriptor, body: bytes) -> bool | None:
        domain = _LOOKS_LIKE.get(_content(descriptor, body).lstrip()[:1], "BLOB")
        here = compiled.activation(Message.received(descriptor, body, template=Template(domain)), None)
        try:
            with spending(here.around.limits.allowance):
                value = compiled.returned(entrance, here)
        except BrokerError:  # what cannot be calculated of a publication is unknown of it
            return None
        return value if isinstance(value, bool) else None

    return select


def _content(descriptor: Descriptor, body: bytes) -> bytes:
    """Returns the beginning of what stands behind the headers with properties, of which there may be several."""
    from engine.mq.properties import RFH2, opened

    while descriptor.format == RFH2:
        _, behind, rest = opened(descriptor, body)
        if len(rest) == len(body):  # a header that cannot be read
            break
        descriptor, body = behind, rest
    return body[:_SEEN]


def filtering(manager: QueueManager) -> QueueManager:
    """Returns a queue manager whose subscriptions may have conditions in ESQL."""
    manager.topics.objects.compile_content = compile_content
    return manager
