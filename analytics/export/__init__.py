"""Tidy exports: games as flat tables with stable ids, in CSV and Parquet, and as logs that Inspect reads.

A table is a module of `analytics.export.tables`: its columns with their meanings, and how a game becomes its rows. What
is said of them in the data dictionary, in ``datapackage.json`` and in Parquet's metadata comes from there.
"""

from analytics.export.tables import TABLES
from analytics.export.writing import Exported, write_csv, write_parquet

__all__ = ["TABLES", "Exported", "write_csv", "write_parquet"]
