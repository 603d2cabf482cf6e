"""Work that is not tied to the request which asks for it: the difference between both clients."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any, Awaitable, Callable, Optional

import anyio


class AsyncBackground:
    """Runs one piece of work at a time. Who waits for it may be cancelled: the work goes on."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._done: Optional[anyio.Event] = None
        # the event loop holds tasks weakly
        self._task: Optional[asyncio.Task[None]] = None

    def start(self) -> anyio.Event:
        """Starts the work, unless it is under way."""
        if self._done is not None:
            return self._done
        done = self._done = anyio.Event()

        def finish(_task: object = None) -> None:
            if self._done is done:
                self._done = None
            done.set()

        async def run() -> None:
            try:
                await self._work()
            finally:
                finish()

        try:
            if not _start_in_trio(run):
                self._task = asyncio.get_running_loop().create_task(run())
                # a task that is cancelled before it began runs nothing
                self._task.add_done_callback(finish)
        except BaseException:
            finish()
            raise
        return done

    async def run(self, seconds: float) -> None:
        """Waits for the work, but no longer."""
        done = self.start()
        with anyio.move_on_after(seconds):
            await done.wait()
            return
        if self._done is done:
            # of an event loop that is gone
            self._done = None


def _start_in_trio(run: Callable[[], Awaitable[None]]) -> bool:
    lowlevel: Any = getattr(sys.modules.get("trio"), "lowlevel", None)
    if lowlevel is None:
        return False
    try:
        lowlevel.current_task()
    except RuntimeError:
        # it is imported, and something else runs
        return False
    lowlevel.spawn_system_task(run)
    return True


class Background:
    """The same with threads. ``run`` works in the caller's: some servers do not let others run."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._lock = threading.Lock()

    def start(self) -> None:
        """Starts the work, unless it is under way."""
        if not self._lock.locked():
            threading.Thread(target=self.run, args=(0.0,), daemon=True).start()

    def run(self, seconds: float) -> None:
        """Does the work, or waits for who does it, but no longer."""
        if not (self._lock.acquire(timeout=seconds) if seconds > 0 else self._lock.acquire(blocking=False)):
            return
        try:
            self._work()
        finally:
            self._lock.release()
