"""The report: one self-contained HTML page, the same tables in Markdown, headlines, and BibTeX.

Sections are built of blocks (`blocks`) from findings and a `Context`; `markup` and `markdown` write blocks down, `page`
puts the document together, and `index` holds the statements that numbers link to. Every word from a game, an agent, a
file or a manifest is escaped by `markupsafe`, and the page's policy lets no script run but its own.
"""
