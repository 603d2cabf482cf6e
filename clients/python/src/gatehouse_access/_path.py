from __future__ import annotations

from urllib.parse import quote

from .errors import ConfigurationError


def path(template: str, *values: str) -> str:
    """A path with its parameters encoded. Refuses those that would lead to another path: empty, ``.`` or ``..``."""
    for value in values:
        # callers may not check types
        if not isinstance(value, str) or value in ("", ".", ".."):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigurationError(f"`{value}` cannot be part of a path")
    return template.format(*(quote(value, safe="") for value in values))
