"""The states of an element: how it stands to its source, as bits."""

from typing import Final

# An element starts unexpanded: `source` and `handle` say where its content is. A child that is asked for by name is
# made alone and kept in `_found` under its handle; `_first … _last` then link only the children appended since.
# When order matters the element is expanded: every child is made and linked, in order.
#
# EDITED on an element says that something in or below it is no longer what its source says. It is set along the path
# to the root, so a clean element can be shared (engine.sharing): a copy takes its source and handle, and no child.
# The root of a read-only tree is clean, so a change below it is refused on the way up.
#
# What a parser read stays patchable while edits only set values, replace content and append: RESTRUCTURED says that
# children were inserted, moved, renamed or taken away. REPLACED says that an element stands elsewhere than the place
# its source means.

EXPANDED: Final = 1
EDITED: Final = 2
VALUED: Final = 4
RESTRUCTURED: Final = 8
REPLACED: Final = 16
READ_ONLY: Final = 32
SHARES: Final = 64
CHANGED: Final = EDITED | REPLACED
