"""Trees: what ESQL statements do to message trees, and how they find their way in them.

A reference variable is an element; a list is a Python list of scalars, elements and rows; a row is an element without
a parent. A field that is taken out of its tree stays what it is for those who refer to it: they may go on reading and
changing it, and nothing of that reaches a message.
"""
