"""The report: one self-contained HTML page, the same tables in Markdown and in the terminal, headlines, and BibTeX.

Sections are blocks (`wolfbus.document`) made from findings and a `Context`. `html` (by templates), `markdown` and
`wolfbus.document.writers` write blocks down; `page` puts the document together, `index` holds the statements that
numbers link to. Every word from a game, an agent, a file or a manifest is escaped, and the page's policy lets no script
run but its own.
"""
