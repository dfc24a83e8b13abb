"""An actor's attributes and methods through its proxy."""

from __future__ import annotations

import threading
from typing import Any, NoReturn

import pykka
import pytest
from pykka import Actor, ActorDeadError, ActorProxy
from pykka.typing import ActorMemberMixin, proxy_field, proxy_method

WAIT = 5


class Lantern:
    colour = "amber"

    def describe(self) -> str:
        return f"a lantern, {self.colour}"


class House(Actor):
    rooms = 4
    _secret = "under the stairs"
    lantern = pykka.traversable(Lantern())
    shuttered = Lantern()

    def __init__(self, failed: threading.Event | None = None) -> None:
        super().__init__()
        self.failed = failed or threading.Event()
        self.guests: list[str] = []
        self._price = 10

    @property
    def price(self) -> int:
        return self._price

    @price.setter
    def price(self, value: int) -> None:
        self._price = value

    @property
    def age(self) -> int:
        return 300

    def enter(self, guest: str, *, twice: bool = False) -> int:
        self.guests += [guest] * (2 if twice else 1)
        return len(self.guests)

    def burn(self) -> NoReturn:
        raise RuntimeError("fire")

    def build(self, name: str) -> None:
        setattr(self, name, lambda: f"the new {name}")

    def through_own_proxy(self) -> Any:
        return self.actor_ref.proxy().enter("myself")

    def on_failure(self, *_: Any) -> None:
        self.failed.set()


@pytest.fixture
def house(start):
    return start(House).proxy()


def test_an_attribute_is_read_by_get(house):
    assert house.rooms.get(timeout=WAIT) == 4


def test_an_attribute_is_set_by_assignment(house):
    house.rooms = 5
    assert house.rooms.get(timeout=WAIT) == 5


def test_a_property_is_read_and_set_like_an_attribute(house):
    house.price = 12
    assert house.price.get(timeout=WAIT) == 12


def test_a_read_only_property_refuses_to_be_set(house):
    with pytest.raises(AttributeError):
        house.age = 301
    assert house.age.get(timeout=WAIT) == 300


@pytest.mark.parametrize("name", ["_secret", "cellar"])
def test_private_and_missing_attributes_are_not_there(house, name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(house, name)


def test_making_a_proxy_touches_no_property(start):
    class Trapdoor(Actor):
        @property
        def trap(self) -> NoReturn:
            raise AssertionError("the property was touched")

    start(Trapdoor).proxy()


def test_methods_take_arguments_and_answer_with_futures(house):
    assert house.enter("Raj").get(timeout=WAIT) == 1
    assert house.enter("Mia", twice=True).get(timeout=WAIT) == 3
    assert house.guests.get(timeout=WAIT) == ["Raj", "Mia", "Mia"]


def test_a_deferred_call_returns_at_once_and_has_its_effect(house):
    assert house.enter.defer("Raj") is None
    assert house.guests.get(timeout=WAIT) == ["Raj"]


def test_an_exception_in_a_method_is_raised_by_its_future(house):
    with pytest.raises(RuntimeError, match="fire"):
        house.burn().get(timeout=WAIT)
    assert house.rooms.get(timeout=WAIT) == 4


def test_an_exception_in_a_deferred_call_ends_the_actor(start):
    failed = threading.Event()
    ref = start(House, failed)
    ref.proxy().burn.defer()
    assert failed.wait(WAIT)
    assert not ref.is_alive()


def test_a_method_made_at_run_time_can_be_called(house):
    house.build("stable").get(timeout=WAIT)
    assert house.stable().get(timeout=WAIT) == "the new stable"


def test_an_actor_may_use_its_own_proxy_as_long_as_it_does_not_wait(house):
    assert house.through_own_proxy().get(timeout=WAIT).get(timeout=WAIT) == 1


def test_a_marked_object_can_be_traversed_and_an_unmarked_one_cannot(house):
    assert house.lantern.colour.get(timeout=WAIT) == "amber"
    assert house.lantern.describe().get(timeout=WAIT) == "a lantern, amber"
    house.lantern.colour = "green"
    assert house.lantern.describe().get(timeout=WAIT) == "a lantern, green"
    house.lantern.colour = "amber"
    with pytest.raises(AttributeError):
        house.shuttered.colour.get(timeout=WAIT)


def test_proxies_of_one_actor_are_equal_and_hash_alike(house):
    other = house.actor_ref.proxy()
    assert house == other
    assert hash(house) == hash(other)
    assert house != house.lantern


def test_dir_of_a_proxy_lists_what_the_actor_has(house):
    assert {"rooms", "guests", "enter", "lantern"} <= set(dir(house))


def test_a_proxy_prints_class_urn_and_path(house):
    assert str(house.actor_ref) in str(house)
    assert "lantern" in repr(house.lantern)


def test_a_proxy_of_a_dead_actor_cannot_be_made(start):
    ref = start(House)
    ref.stop()
    with pytest.raises(ActorDeadError, match="not found"):
        ref.proxy()


def test_a_proxy_whose_actor_died_raises_from_its_futures(house):
    house.stop().get(timeout=WAIT)
    assert house.actor_ref.actor_stopped.wait(WAIT)
    with pytest.raises(ActorDeadError):
        house.rooms.get(timeout=WAIT)


def test_a_typed_proxy_works(start):
    class HouseProxy(ActorMemberMixin, ActorProxy[House]):
        rooms = proxy_field(House.rooms)
        enter = proxy_method(House.enter)

    house: HouseProxy = start(House).proxy()
    assert house.rooms.get(timeout=WAIT) == 4
    assert house.enter("Raj").get(timeout=WAIT) == 1
