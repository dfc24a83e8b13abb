"""The lexicon holds only what is used, and its patterns mean what their notation says."""

from __future__ import annotations

from pathlib import Path

import pytest

from analytics import claims
from analytics.claims import lexicon
from analytics.claims.lexicon import PATTERNS, WORDS

ROWS = "\n".join(PATTERNS.values())
CODE = "\n".join(path.read_text("utf-8") for path in sorted(Path(claims.__file__).parent.glob("*.py")))


def test_every_class_of_words_is_used():
    # phrases of "neutral" are read as one word, and so do nothing
    unused = [name for name in WORDS if not any(f"{name}".join(marks) in ROWS + CODE for marks in ("{}", '""', "''"))]
    assert unused == ["neutral"]


def test_every_pattern_is_used_and_well_written():
    for name, lines in PATTERNS.items():
        assert f"<{name}>" in ROWS or f'"{name}"' in CODE, name
        assert all(map(lexicon.compiled, lines.strip().splitlines()))


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("i {still}* am HERE", "i really am x", "i never am x"),
        ("HERE >!( or|and you )", "x or i", "x or you"),
        ("<!not i HERE", "so i x", "not i x"),
        ("^^ ( my || our ) HERE", "no . my x", "no my x"),
        ("HERE _{1,2} $", "x so be .", "x never ."),
    ],
)
def test_a_pattern_fits_the_words_it_is_written_for(monkeypatch, pattern, fits, fits_not):
    line = lexicon.compiled(pattern)
    monkeypatch.setattr(lexicon, "_table", lambda _: (line,))
    for words, expected in ((fits.split(), True), (fits_not.split(), False)):
        assert (lexicon.around(lexicon.coded(words), words.index("x"), "any") is not None) == expected


def test_what_excludes_words_stands_alone_in_a_pattern():
    with pytest.raises(ValueError, match="stands alone"):
        lexicon.compiled("_|@ HERE")
