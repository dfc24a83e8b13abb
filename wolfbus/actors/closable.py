"""`Closable`: what is closed at the end of a ``with`` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closable(ABC):
    """Something with a `close`; used as a context manager, it closes however the block is left."""

    @abstractmethod
    def close(self) -> None:
        """End it; closing again does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
