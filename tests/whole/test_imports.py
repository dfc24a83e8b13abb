"""What needs no heavy package loads none."""

import subprocess
import sys

from tests.cli_views.games import lively
from tests.llm.calls.woven import lines

STEPS = {
    "import wolfbus; wolfbus.__version__; assert {'play', 'run_study'} <= set(dir(wolfbus))": "moderator analytics",
    "import wolfbus.agent": "openai scipy sklearn numpy redis click players moderator",
    "import analytics.fold, wolfbus.cli.play, wolfbus.cli.report": "numpy polars scipy sklearn markupsafe rich",
    "from wolfbus.cli import run; run(['export', 'csv', '--help'])": "numpy pandas pyarrow inspect_ai scipy",
    "import analytics.export.writing": "numpy pandas pyarrow inspect_ai scipy",
    "run(['--help']); run(['replay', 'game.ndjson', '--until', '60', '--plain'])": "rich http.server",
    "import wolfbus.service.logs, wolfbus.cli.options": "rich http.server",
}
"""What a program does, one after the other, and what is not loaded after each."""


def test_nothing_heavy_is_loaded_before_it_is_needed(tmp_path):
    (tmp_path / "game.ndjson").write_bytes(lines(lively("1")))
    checks = [f"{step}\nassert not {set(heavy.split())} & {{*sys.modules}}\n" for step, heavy in STEPS.items()]
    program = [sys.executable, "-c", f"import sys\n{''.join(checks)}"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
