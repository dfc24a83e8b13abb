"""Repair report and cost as text; each is empty where there is nothing to tell."""

from __future__ import annotations

from collections.abc import Iterator

from analytics import Result
from analytics.grid import UNDEFINED, distinct, grid, note, number, percent

_HOW = ("clean", "extracted", "repaired", "coerced", "reasked", "defaulted", "timed_out", "declined")
_HEAD = ("replies", "clean", "extr", "repair", "coerce", "reask", "default", "late", "decl")
_LABEL = 24
_MODEL = 20


def repair_lines(result: Result) -> list[str]:
    """Return the repair report, nothing if every reply was clean and accepted."""
    repair = result["repair"]
    overall = repair["overall"]
    if overall["replies"] == overall["clean"]:
        return []
    lines = grid(
        "Repair report. Replies by how they were read, if accepted, and by what became of them, if not; by brain, and "
        "under it the kinds that were not all clean and accepted",
        ["", *_HEAD],
        list(_repair_rows(repair)),
    )[:-1]
    faults = [f"{short(count)} {fault}" for fault, count in overall["faults"].items() if count]
    lines += note(
        "clean: as it stood; extr: JSON taken out of prose; repair: broken JSON mended; coerce: a value brought into "
        "its range; reask: the model was asked again; default: no usable answer; late: timed out; decl: its agent does "
        "not answer this kind"
    )
    if faults:
        lines += note(f"what was wrong with those without an answer: {', '.join(faults)}")
    names = ("accuracy", "balanced_accuracy", "base_rate", "constant_accuracy")
    scores = [
        [words, short(row["n"]), *(percent(row[name]) for name in names), number(row["auc"], 3), short(row["auc_n"])]
        for words, row in (("all", result["headline"]["all"]), ("clean only", result["headline"]["clean"]))
    ]
    return [
        *lines,
        "",
        *grid(
            "Detection with and without what was not clean, percent; AUC of suspicion; against self-labels",
            ["judgements", "n", "acc", "balanced", "base", "const", "AUC", "n"],
            scores,
            "needs a judged, labelled statement, balanced accuracy and AUC deceptive and truthful ones.",
        ),
    ]


def _repair_rows(repair: Result) -> Iterator[list[str]]:
    shown = distinct(repair["by_brain"], _LABEL)
    for brain, own in repair["by_brain"].items():
        yield [shown[brain], *_counts(own["overall"])]
        for kind, row in own["by_kind"].items():
            if row["replies"] != row["clean"]:
                yield [f"  {kind}", *_counts(row)]
    if len(repair["by_brain"]) > 1:
        yield ["all", *_counts(repair["overall"])]


def _counts(row: Result) -> list[str]:
    return [short(row["replies"]), *(short(row[name]) for name in _HOW)]


def cost_lines(result: Result) -> list[str]:
    """Return what model calls took, nothing if there were none."""
    cost = result["cost"]
    total = cost["total"]
    if not total["calls"]:
        return []
    rows = [["all", *_sums(total)]]
    splits = ["model", "kind", "role" if cost["by_seat"] is None else "seat"]
    for split in splits:
        parts = cost[f"by_{split}"]
        shown = distinct(parts, _MODEL)
        rows += [[f"  {shown[key]}", *_sums(row)] for key, row in parts.items()]
    lines = grid(
        f"Model calls, all, by {splits[0]}, by {splits[1]} and by {splits[2]}; tokens as servers counted them; "
        "seconds of latency (median, 95th percentile) and of waiting under limits (95th percentile)",
        ["", "calls", "failed", "reask", "prompt", "cached", "reply", "USD", "median", "p95", "queue"],
        rows,
        "no call tells it; no tokens were counted, no price is configured, or none reached the network.",
    )[:-1]
    missing = {
        "prompt tokens": total["prompt_tokens_missing"],
        "cached tokens": total["cached_tokens_missing"],
        "reply tokens": total["completion_tokens_missing"],
        "a price": total["cost_usd_missing"],
    }
    lacking = [f"{short(count)} lack {name}" for name, count in missing.items() if 0 < count < total["calls"]]
    if total["cassette"]:
        played = f"{short(total['cassette'])} from a cassette, with the tokens that they once took; they cost nothing"
        lines += note(f"{played}, and no times are told of them")
    attempts = total["attempts"]
    told = f"{short(attempts)} attempt{'' if attempts == 1 else 's'}"
    lines += note(told + (f"; of the calls, {', '.join(lacking)}" if lacking else ""))
    return [*lines, *_per(cost), ""]


def _sums(row: Result) -> list[str]:
    tokens = (row["prompt_tokens"], row["cached_tokens"], row["completion_tokens"])
    return [
        *(short(row[name]) for name in ("calls", "failed", "reasks")),
        *(UNDEFINED if value is None else short(value) for value in tokens),
        money(row["cost_usd"]),
        seconds(row["latency_s"]["median"]),
        seconds(row["latency_s"]["p95"]),
        seconds(row["queue_s"]["p95"]),
    ]


def _per(cost: Result) -> Iterator[str]:
    for words, per in (("game", cost["per_game"]), ("statement", cost["per_statement"])):
        parts = [f"{number(per['calls'], 1)} calls", f"critical path {number(per['critical_path'], 1)} calls"]
        if per["wall_s"] is not None:
            parts.append(f"{seconds(per['wall_s'])} s")
        parts += [
            f"{short(round(per[name]))} {words} tokens"
            for name, words in (("prompt_tokens", "prompt"), ("completion_tokens", "reply"))
            if per[name] is not None
        ]
        if per["cost_usd"] is not None:
            parts.append(f"USD {money(per['cost_usd'])}")
        if per["calls"] is not None:
            n = cost["games"] if words == "game" else cost["statements"]
            yield from note(f"per {words} (n {short(n)}): {', '.join(parts)}")


def short(count: int) -> str:
    """Return a count in at most six characters, big ones with one decimal and a unit: 9999, 588.4k, 1.2M, 1.2G."""
    if count < 10_000:
        return str(count)
    for scale, unit in ((1_000, "k"), (1_000_000, "M")):
        if count < 999.95 * scale:
            return f"{count / scale:.1f}{unit}"
    return f"{count / 1_000_000_000:.1f}G"


def money(usd: float | None) -> str:
    """Return dollars, with as many decimals as the sum is worth."""
    if usd is None:
        return UNDEFINED
    return f"{usd:.0f}" if usd >= 1000 else f"{usd:.2f}" if usd >= 1 or not usd else f"{usd:.4f}"


def seconds(value: float | None) -> str:
    """Return seconds with two decimals, fewer from a hundred on."""
    if value is None:
        return UNDEFINED
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"
