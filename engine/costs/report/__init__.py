"""Reports made of results: tables, CSV, JSON, a page, comparisons and verdicts; nothing here measures."""
