"""What docs/data.md says before the dictionary; its Python blocks are run by a test."""

from __future__ import annotations

from typing import Final

GUIDE: Final = """\
# The data: tables, columns, and how to load them

```sh
wolfbus export csv     runs --out tables
wolfbus export parquet runs --out tables      # pip install "wolfbus[parquet]"
wolfbus export inspect runs --out logs        # pip install "wolfbus[inspect]"
```

Sources are folders of records, a study's folder, single records (`.gz` too) and logs that the paper's authors
published. `--tables statements,judgements` writes only these; `--alpha`, `--prior` and `--include-defaulted` recompute
as `wolfbus replay` does. Games are read one by one, in the order of their paths: memory does not grow with them, and
equal sources give equal bytes. All files of an export appear together when they are whole, or none does. Files that are
there already are refused without `--force`.

**Damaged records.** Every line's number, time, seal and content are checked. What stands before the first wrong line is
exported; `games.problem` says what is wrong, a line on stderr names the file, and the exit code is 1. The same goes for
a record that stops before its game ended, and for a second file with a game that was read already, which is left out.
So is a record that is not what its study noted of the game (winner, rounds, digest, head), unless
`--include-differing` asks for it. `--prove` runs the *rules* again over every record, as `wolfbus replay` does.

**What is in it.** Everything that researchers may know: roles, private thoughts, self-labels, reasoning. Whoever gets
the tables knows the games' secrets. Prompts and models' raw text are left out; they stay in the records.

## Ids

| id | form | example |
| --- | --- | --- |
| `game_id` | the game's id | `study-1a2b3c4d-00007` |
| `seat_id` (`observer_id`, `target_id`, `voter_id`, `died_id`) | `GAME:NAME` | `study-1a2b3c4d-00007:Ada` |
| `statement_id` | `GAME:NNN`, the number in at least three digits | `study-1a2b3c4d-00007:012` |
| `judgement_id` | `GAME:NNN:OBSERVER` | `study-1a2b3c4d-00007:012:Ada` |
| `vote_id` | `GAME:ROUND:VOTER` | `study-1a2b3c4d-00007:2:Ada` |
| `bid_id` | `GAME:ROUND.TURN:BIDDER` | `study-1a2b3c4d-00007:2.5:Ada` |
| `call_id` | `GAME:LINE` | `study-1a2b3c4d-00007:118` |

They are the same in every export of the same game. `line` columns lead back to the record: line 118 of the file in
`games.file` is what the row was made from. An *agent* is what answers for a seat, its brain as it was asked for;
`seats.process` is the process that held it.

## CSV

UTF-8 without a byte order mark, RFC 4180: a header, CRLF line ends, quotes where they are needed, line ends within
texts kept. An empty field is null, and no text is ever empty. Booleans are `true` and `false`. A number is the shortest
text that reads back as exactly the same number. `datapackage.json` beside the tables gives all types, keys and links to
programs (Frictionless tabular data package).

Words are those of models, unchanged: line ends, quotes, invisible and right-to-left characters and NUL may be among
them. *A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula.* Nothing is put before such texts,
because that would change the data: open the files with pandas, polars, R or DuckDB, or import the columns as text.

Readers guess types unless told, and take words such as `NA` or `None` for missing. So, in pandas:

```python
import json

import pandas as pd

PANDAS = {"string": "string", "boolean": "boolean", "integer": "Int64", "number": "float64"}
with open("tables/datapackage.json", encoding="utf-8") as file:
    schemas = {each["name"]: each["schema"]["fields"] for each in json.load(file)["resources"]}


def table(name):
    types = {field["name"]: PANDAS[field["type"]] for field in schemas[name]}
    # an older pandas needs float_precision="round_trip" as well, to keep the last digit of numbers
    return pd.read_csv(f"tables/{name}.csv", dtype=types, keep_default_na=False, na_values=[""])


statements, judgements = table("statements"), table("judgements")
```

and in polars:

```python
import json

import polars as pl

POLARS = {"string": pl.String, "boolean": pl.Boolean, "integer": pl.Int64, "number": pl.Float64}
with open("tables/datapackage.json", encoding="utf-8") as file:
    schemas = {each["name"]: each["schema"]["fields"] for each in json.load(file)["resources"]}


def table(name):
    types = {field["name"]: POLARS[field["type"]] for field in schemas[name]}
    return pl.read_csv(f"tables/{name}.csv", schema=types)


statements, judgements = table("statements"), table("judgements")
```

## Parquet

The same tables with types of their own: 64-bit whole numbers and floats, booleans, texts, real nulls; roles, names,
agents and other columns of few values as dictionaries (pandas: `category`; polars: `Categorical`). Row groups hold up
to 65,536 rows, compressed with zstd. The fields' metadata hold the meanings below.

```python
import pandas as pd
import polars as pl

judgements = pd.read_parquet("parquet/judgements.parquet")
final = pl.scan_parquet("parquet/suspicion.parquet").filter(pl.col("moment") == "final").collect()
```

## Joins

Suspicion of lies and of other statements, by the observer's role (pandas, with `table` from above):

```python
import pandas as pd

statements = pd.read_parquet("parquet/statements.parquet", columns=["statement_id", "truth", "deceptive"])
judgements = pd.read_parquet("parquet/judgements.parquet")
joined = judgements.merge(statements, on="statement_id", suffixes=("", "_said"), validate="many_to_one")
joined["lie"] = joined["truth"] == "lie"
by_role = joined.dropna(subset=["suspicion", "truth"]).groupby(["observer_role", "lie"], observed=True)["suspicion"]
print(by_role.agg(["mean", "count"]))
```

Flags against self-labels, the counts of Table 3 (polars):

```python
import polars as pl

statements = pl.scan_parquet("parquet/statements.parquet").select("statement_id", said="deceptive")
table3 = (
    pl.scan_parquet("parquet/judgements.parquet")
    .join(statements, on="statement_id", validate="m:1")
    .drop_nulls(["deceptive", "said"])
    .group_by("observer_role")
    .agg(
        tp=(pl.col("said") & pl.col("deceptive")).sum(),
        tn=(~pl.col("said") & ~pl.col("deceptive")).sum(),
        fp=(~pl.col("said") & pl.col("deceptive")).sum(),
        fn=(pl.col("said") & ~pl.col("deceptive")).sum(),
    )
    .sort("observer_role")
    .collect()
)
print(table3)
```

Table 2 from the final suspicion: the mean within a game first, then over games (polars):

```python
import polars as pl

table2 = (
    pl.scan_parquet("parquet/suspicion.parquet")
    .filter(pl.col("moment") == "final")
    .group_by("game_id", "observer_role", "target_role")
    .agg(pl.col("suspicion").mean())
    .group_by("observer_role", "target_role")
    .agg(pl.col("suspicion").mean(), games=pl.len())
    .sort("observer_role", "target_role")
    .collect()
)
print(table2)
```

Whom do players vote for, and how does it end for them (pandas):

```python
import pandas as pd

votes = pd.read_parquet("parquet/votes.parquet")
seats = pd.read_parquet("parquet/seats.parquet", columns=["seat_id", "team", "won", "left_by"])
hits = votes.dropna(subset=["target_id"]).merge(seats, left_on="target_id", right_on="seat_id", validate="many_to_one")
print((hits["team"] == "werewolves").groupby(hits["voter_role"], observed=True).mean())
```

Rows of one game depend on each other. For intervals, resample whole `games.block`s, not rows.

## Inspect

`wolfbus export inspect` writes one `.eval` log per study (games of no study make one log together), which
`inspect view` shows and `inspect_ai.log.read_eval_log` reads. A sample is a game: its id is `game_id`, its input the
rules in words, its target who the Werewolves are. Its messages are the public transcript, statement by statement, each
with speaker, role, self-label and judgements in its metadata; its events are spans of rounds and phases with every
statement, vote, death and model call (their prompts and replies with `--prompts`). A damaged or unfinished game has an
error. Scores are those of the game; where one is undefined it is left out, and the metadata `undefined` says why.
`mean` and `stderr` of a score are over games; `pooled` is this program's figure over all games together, as
`wolfbus report` gives it. Tokens and cost stand by model, by role, and in the metadata by agent.

| score | of a game |
| --- | --- |
{scores}

```python
from inspect_ai.log import list_eval_logs, read_eval_log

log = read_eval_log(list_eval_logs("logs")[0])
for score in log.results.scores:
    print(score.name, {name: metric.value for name, metric in score.metrics.items()})
for sample in log.samples:
    print(sample.id, sample.target, sample.metadata["rounds"], sample.messages[0].text)
```

`inspect_ai.analysis.samples_df` and `evals_df` give scores by game and by log. Its `messages_df` reads model calls
only: it finds their words in a log written with `--prompts`, and nothing in games of scripts; the transcript is in
`sample.messages`, and in the table `statements`.

A log is built in memory before it is written:
{memory}.
Inspect's figures leave the blocks of a design out of account. Two logs of the same games hold the same, but their bytes
differ, as Inspect stamps them with the time.
"""
"""Text with places for the table of scores and for what a log takes in memory."""
