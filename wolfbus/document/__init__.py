"""What is told to people, as blocks: headings, paragraphs, tables, figures; and the writers that need nothing else.

Whoever tells something makes blocks. `terminal` writes them for a terminal; the report's page and its Markdown are
written by `analytics.report`. How numbers look is in `formats`, and nowhere else.
"""
