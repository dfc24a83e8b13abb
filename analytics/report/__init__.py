"""The report: one self-contained HTML page, the same tables in Markdown and in the terminal, headlines, and BibTeX.

Sections are blocks (`wolfbus.files.document`) made from findings and a `Context`. `html` (by templates) puts the page
together, with the statements that numbers link to; `wolfbus.files.document` writes Markdown and text. Every word from
a game, an agent, a file or a manifest is escaped, and the page's policy lets no script run but its own.
"""
