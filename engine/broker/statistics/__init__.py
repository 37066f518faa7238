"""Accounting and statistics of deployed flows: counted by workers in shared files, told as IBM's record."""
