"""`spreadsheet_rows`: tables as spreadsheets save them."""

from __future__ import annotations

import csv
import io
import re


def spreadsheet_rows(text: str, *, strict: bool = False) -> csv.DictReader[str]:
    """Return a reader of a table's rows below its header. Values stand between commas, semicolons or tabs, whichever
    the header has most of; lines may end in carriage returns alone.

    Args:
        text: the table, without the mark of its encoding.
        strict: refuse quotes that are not as they should be.

    Raises:
        csv.Error: by the reader, also of its header: this is no such table.
    """
    head = re.split(r"[\r\n]", text, maxsplit=1)[0]
    # where a comma is the decimal point, spreadsheets save with semicolons
    separator = max(",;\t", key=head.count)
    return csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, restval="", strict=strict)
