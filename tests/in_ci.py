"""What CI makes of tests that fail or are skipped.

A test that fails is run once more, alone, when all others are over, so that nobody's work is lost to a race. If it
passes then, the run passes and says ``UNSTEADY``, the test and why it had failed. That holds for three tests at most,
and for none of a file that the newest commit has changed. Tests that share what could not be set up are one, and are
run once more together.

A test that was skipped has failed, unless its reason fits the pattern of ``CI_MAY_SKIP``; which ones were is written to
the file that ``CI_SKIPPED`` names, so that another run can make up for them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

MOST = 3
"""How much may be unsteady in one run, each test or fixture counted once: more has another cause."""
AGAIN = "WOLFBUS_TEST_AGAIN"
"""Set where a test is run once more."""


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Judge after the processes that ran the tests have ended, and before the summary."""
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput") or os.environ.get("CI") != "true":
        return
    if AGAIN not in os.environ:
        _run_again(session, reporter)
        if path := os.environ.get("CI_SKIPPED"):
            Path(path).write_text("".join(f"{report.nodeid}\n" for report in reporter.stats.get("skipped", ())))
    _refuse_skips(session, reporter)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show how each unsteady test had failed, and name them in one line each."""
    unsteady = terminalreporter.stats.get("unsteady", [])
    if not unsteady:
        return
    terminalreporter.section("UNSTEADY: failed among the others, passed alone")
    for report in unsteady:
        terminalreporter.line(f"{report.nodeid} ({report.when})")
        report.toterminal(terminalreporter._tw)
    for report in unsteady:
        terminalreporter.line(f"UNSTEADY: {report.nodeid}, {_reason(report)}")


def _run_again(session: pytest.Session, reporter: pytest.TerminalReporter) -> None:
    failed: dict[str, list[pytest.TestReport]] = {}
    for outcome in ("failed", "error"):
        for report in reporter.stats.get(outcome, ()):
            if not isinstance(report, pytest.TestReport):
                return  # a file that cannot be collected
            failed.setdefault(report.nodeid, []).append(report)
    faults: dict[str, list[str]] = {}
    for name, reports in failed.items():
        faults.setdefault(_fault(name, reports), []).append(name)
    # after --exitfirst and its like nobody knows what else would have failed
    if session.shouldfail or session.shouldstop or not 0 < len(faults) <= MOST:
        return
    if {name.partition("::")[0] for name in failed} & _changed_last(session.config.rootpath):
        return
    for names in faults.values():
        if not _pass_alone(session.config, reporter, names):
            continue
        reports = [report for name in names for report in failed.pop(name)]
        for outcome in ("failed", "error"):
            kept = [report for report in reporter.stats.get(outcome, ()) if report not in reports]
            reporter.stats[outcome] = kept
        reporter.stats.setdefault("unsteady", []).extend(reports)
    if not failed and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
        session.exitstatus = pytest.ExitCode.OK


def _refuse_skips(session: pytest.Session, reporter: pytest.TerminalReporter) -> None:
    may = re.compile(os.environ.get("CI_MAY_SKIP") or "(?!)")
    reasons = [str(report.longrepr[2]).removeprefix("Skipped: ") for report in reporter.stats.get("skipped", ())]
    if refused := [reason for reason in reasons if not may.match(reason)]:
        reporter.ensure_newline()
        reporter.line(f"skipped, which in CI is a failure ({len(refused)}): {'; '.join(sorted({*refused}))}", red=True)
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def _changed_last(root: Path) -> set[str]:
    """Return the files that the newest commit changed; none outside a checkout."""
    command = ["git", "diff", "--name-only", "HEAD^", "HEAD"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return set()
    return set(done.stdout.splitlines()) if done.returncode == 0 else set()


def _fault(name: str, reports: list[pytest.TestReport]) -> str:
    """Return what a test has in common with all that fail for one reason: where and how a shared fixture failed."""
    for report in reports:
        crash = getattr(report.longrepr, "reprcrash", None)
        if report.when == "setup" and crash is not None:
            return str(crash)
    return name


def _pass_alone(config: pytest.Config, reporter: pytest.TerminalReporter, names: list[str]) -> bool:
    reporter.ensure_newline()
    others = f" and {len(names) - 1} that failed with it" if names[1:] else ""
    reporter.line(f"once more, alone: {names[0]}{others}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", config.option.markexpr]
    if config.pluginmanager.has_plugin("xdist"):
        command += ["-n", "0"]
    for setting in config.option.override_ini or ():
        command += ["-o", setting]
    done = subprocess.run(
        [*command, *names],
        cwd=config.rootpath,
        env={**os.environ, AGAIN: "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        reporter.line(done.stdout + done.stderr)
    return done.returncode == 0


def _reason(report: pytest.TestReport) -> str:
    """Return the first line of what was raised."""
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = str(report.longrepr if crash is None else crash.message).strip().splitlines()
    return lines[0] if lines else "no reason given"
