from __future__ import annotations

import math

from .errors import ConfigurationError

#: What timers take: 24 days.
_MOST = 2_147_483.0


def check_number(name: str, value: object, least: float = 0.0) -> float:
    """A length of time, or a count. NaN would make each comparison with it false, so it stops here."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= _MOST:
        raise ConfigurationError(f"`{name}` must be a number from {least:g} to {_MOST:g}")
    return value


def check_text(name: str, value: object) -> str:
    """What a token must name: nothing would be anybody."""
    if not isinstance(value, str) or value == "":
        raise ConfigurationError(f"`{name}` must be a text that is not empty")
    return value


def is_time(value: object) -> bool:
    """Whether it is a number of seconds: Python reads infinity and NaN from JSON, and integers of any length."""
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False
