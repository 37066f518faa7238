"""Copies of publications that their queues refused: they are put away, or the publication is refused with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.descriptor import NO_ID, UTF_8
from engine.errors import MessageException
from engine.flow.dead_letters import FORMAT, header
from engine.mq.refusals import refusal
from engine.mq.topics.copies import Copy, Moved, Publication, formed

if TYPE_CHECKING:
    from engine.mq.topics.settings import TopicSettings
    from engine.mq.unit import Work

PUBLICATION_FAILURE: Final = 2502


def settle(
    failed: list[tuple[Copy, MessageException]],
    publication: Publication,
    settings: TopicSettings,
    moved: Moved,
    work: Work,
) -> None:
    """Send what queues refused to the dead-letter queue, or refuse the publication, as the topic has it."""
    mode = settings.delivery[publication.descriptor.persistence]
    for copy, error in failed:
        if settings.dead_letters and _is_put_away(copy, error, publication, moved, work):
            continue
        if mode == "ALL" or (mode == "ALLDUR" and copy.subscription.durable):
            queue = copy.subscription.queue
            text = f"a publication on {publication.topic} cannot be delivered to {queue} ({error.text}), and"
            problem = f"{text} {mode} of its TOPIC asks for that: let the queue take it, or ALTER the TOPIC"
            raise refusal(PUBLICATION_FAILURE, problem, publication.topic) from error


def _is_put_away(copy: Copy, error: MessageException, publication: Publication, moved: Moved, work: Work) -> bool:
    """Returns True where the dead-letter queue takes a copy that its own queue does not."""
    manager = work.manager
    name = manager.dead_letter_queue
    if name in {"", copy.subscription.queue}:
        return False
    try:
        descriptor, body = formed(manager, copy, publication)
        above = header(copy.subscription.queue, descriptor, work, error.reason, UTF_8)
        letter = descriptor._replace(format=FORMAT, coded_char_set_id=UTF_8, msg_id=NO_ID, correl_id=copy.correl_id)
        target = manager.target(name)
        moved.append((target.queue, manager.admission.admit(target, letter, above + body, ("", ""))))
    except MessageException:
        return False
    return True
