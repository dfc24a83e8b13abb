"""Two who issue tickets at the same time: neither undoes what the other did, and nobody is locked out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from tests.isolation.conftest import Clerk, opens, url_of


class Crossing:
    """Has others come in between, at the next call of a function of `wolfbus.tickets.issuing`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def before(self, where: str, others: Callable[[], object]) -> None:
        """Have others act just before the call."""

        def crossed(call: Callable[[], object]) -> object:
            others()
            return call()

        self._cross(where, crossed)

    def within(self, where: str, others: Callable[[], object], until: str) -> None:
        """Have others act, and the call be made just before they get to another function."""

        def crossed(call: Callable[[], object]) -> object:
            self.before(until, call)
            return others()

        self._cross(where, crossed)

    def _cross(self, where: str, crossed: Callable[[Callable[[], object]], object]) -> None:
        place = f"wolfbus.tickets.issuing.{where}"
        function = resolve_name(place)

        def once(*arguments: Any, **named: Any) -> object:
            self._patch.setattr(place, function)
            return crossed(lambda: function(*arguments, **named))

        self._patch.setattr(place, once)


@pytest.fixture
def crossing(monkeypatch: pytest.MonkeyPatch) -> Crossing:
    return Crossing(monkeypatch)


def test_of_two_who_issue_at_once_neither_undoes_what_the_other_did(
    folder: Path, tickets: Clerk, crossing: Crossing, tmp_path: Path
) -> None:
    tickets("issue")
    crossing.before("make_folder", lambda: tickets("issue --agents ada", "admin"))
    assert "ada.ticket is there already (--force" in tickets("issue --agents bruno,ada", "admin", status=2)
    assert opens(url_of(folder, "ada"))
    assert not (folder / "bruno.ticket").exists()

    # who writes into a folder of his own meets the same user
    other = tmp_path / "other"
    elsewhere = f"issue --agents bruno --out {other}"
    crossing.within("UserAdmin.set_users", lambda: tickets(elsewhere, "admin"), "UserAdmin.set_users")
    assert "does not accept this user" in tickets("issue --agents carl,bruno", "admin", status=1)
    assert opens(url_of(other, "bruno"))
    assert [path.stem for path in sorted(folder.iterdir())] == [".gitignore", "ada", "admin", "moderator"]
    assert "carl" not in tickets("list", "admin")


def test_who_issues_is_told_if_another_has_replaced_the_ticket_at_once(
    folder: Path, tickets: Clerk, crossing: Crossing
) -> None:
    tickets("issue --agents ada")
    again = "issue --agents ada --force"
    crossing.before("UserAdmin.set_users", lambda: tickets(again, "admin"))
    assert "does not accept this user" in tickets(again, "admin", status=1)
    tickets(again, "admin")
    assert opens(url_of(folder, "ada"))


def test_of_two_who_close_the_door_at_once_none_locks_the_administrator_out(
    folder: Path, tickets: Clerk, crossing: Crossing
) -> None:
    crossing.within("UserAdmin.set_users", lambda: tickets("issue --agents bruno"), "_make_tickets")
    assert "there already" in tickets("issue --agents ada", status=2)
    assert opens(url_of(folder, "admin"))
    assert "bruno" in tickets("list", "admin")
    assert not (folder / "ada.ticket").exists()
