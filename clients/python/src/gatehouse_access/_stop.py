"""A pause that can be ended from elsewhere: the difference between both clients."""

from __future__ import annotations

import threading
from typing import Optional

import anyio


class AsyncStop:
    """Not set at first."""

    def __init__(self) -> None:
        self.is_set = False
        # made where it is waited for: it belongs to an event loop
        self._event: Optional[anyio.Event] = None

    def set(self) -> None:
        self.is_set = True
        if self._event is not None:
            self._event.set()

    async def wait(self, seconds: float) -> None:
        """Waits until it is set, but no longer."""
        if self.is_set:
            return
        event = self._event = anyio.Event()
        with anyio.move_on_after(seconds):
            await event.wait()


class Stop:
    """The same with threads."""

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._event.set()

    def wait(self, seconds: float) -> None:
        self._event.wait(seconds)
