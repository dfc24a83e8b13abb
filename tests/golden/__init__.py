"""Pinned behaviour: what the program answered before is what it answers now.

`values/` holds what was answered once: digests of fifty games on two buses, findings, tables and reports of three
studies, the schema, every message of a session on Redis, and what commands print about fixed records. The tests here
ask again and compare. `records/` holds those records: they were written once, and must be read, verified and measured
for ever, so they are never played anew.

    python -m tests.golden.make              # rewrite every value, and print what changed
    python -m tests.golden.make terminal     # only those of one group

A change on purpose is a run of that script, and its printed differences are what there is to review. Large values are
kept compressed; `python -m tests.golden.make --show findings/models.json` prints one.
"""
