"""Finite fields: adding and multiplying numbers below a prime power, from which balanced designs are made."""

from __future__ import annotations

from typing import Final

_MODULI: Final[dict[int, tuple[int, tuple[int, ...]]]] = {
    8: (2, (1, 1, 0)),
    9: (3, (1, 0)),
    16: (2, (1, 1, 0, 0)),
    25: (5, (2, 0)),
    27: (3, (1, 2, 0)),
    32: (2, (1, 0, 1, 0, 0)),
}
"""Order to (characteristic, coefficients below the leading one of an irreducible polynomial, the lowest first)."""


def field_of(order: int) -> Field | None:
    """Return the field with so many elements; None if there is none, or none is kept here (beyond 32 only primes)."""
    if order in _MODULI:
        return Field(*_MODULI[order])
    is_prime = order > 1 and all(order % divisor for divisor in range(2, int(order**0.5) + 1))
    return Field(order, (0,)) if is_prime else None


class Field:
    """A finite field; its elements are the numbers from 0, read as digits to the base of its characteristic.

    Args:
        characteristic: a prime.
        modulus: coefficients, below the leading one, of an irreducible polynomial, the lowest first; its length is the
            field's degree.
    """

    def __init__(self, characteristic: int, modulus: tuple[int, ...]) -> None:
        self._base = characteristic
        self._modulus = modulus
        self.order = characteristic ** len(modulus)

    def add(self, one: int, other: int) -> int:
        """Return the sum of two elements."""
        pairs = zip(self._digits(one), self._digits(other), strict=True)
        return self._number([(a + b) % self._base for a, b in pairs])

    def multiply(self, one: int, other: int) -> int:
        """Return the product of two elements."""
        shifted, product = self._digits(one), [0] * len(self._modulus)
        for digit in self._digits(other):
            product = [(have + digit * more) % self._base for have, more in zip(product, shifted, strict=True)]
            shifted = self._times_x(shifted)
        return self._number(product)

    def _times_x(self, digits: list[int]) -> list[int]:
        carry = digits[-1]
        moved = [0, *digits[:-1]]
        return [(digit - carry * low) % self._base for digit, low in zip(moved, self._modulus, strict=True)]

    def _digits(self, number: int) -> list[int]:
        digits = []
        for _ in self._modulus:
            number, digit = divmod(number, self._base)
            digits.append(digit)
        return digits

    def _number(self, digits: list[int]) -> int:
        number = 0
        for digit in reversed(digits):
            number = number * self._base + digit
        return number
