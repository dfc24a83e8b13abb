"""What is told to people, as blocks: headings, paragraphs, tables, figures; and the writers that need nothing else.

Whoever tells something makes blocks. `writers` writes them for a terminal and as Markdown; the report's page is written
by `analytics.report`. How numbers look is in `formats`, and nowhere else.
"""
