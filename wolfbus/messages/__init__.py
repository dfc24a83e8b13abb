"""Every message that travels or is recorded.

`base` (version, names), `content` (answers and claims), `events` (records), `requests` (deliveries, questions and
replies), `calls` (reports on models), `house` (who is here, what games there are), `codec` (bytes), `schema` (JSON
Schema).
"""
