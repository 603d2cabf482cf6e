from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, Mapping, Optional
from urllib.parse import urlsplit

from ._version import VERSION
from .errors import ConfigurationError

Environment = Literal["production", "sandbox"]

_BASE_URLS: Mapping[Environment, str] = {
    "production": "http://127.0.0.1:8080",
    "sandbox": "http://127.0.0.1:8081",
}
_KEY_PREFIXES: Mapping[Environment, str] = {"production": "gh_live_", "sandbox": "gh_test_"}


@dataclass(frozen=True)
class DashboardSession:
    """A person who is signed in to the dashboard."""

    #: ``name=value``, as ``POST /dashboard/login`` sets it.
    cookie: str = field(repr=False)
    #: ``csrf_token`` of the same response.
    csrf_token: str = field(repr=False)


def base_url_of(environment: Environment, base_urls: Optional[Mapping[Environment, str]]) -> str:
    if environment not in _BASE_URLS:
        raise ConfigurationError("`environment` must be `production` or `sandbox`")
    text = (base_urls or {}).get(environment, _BASE_URLS[environment])
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.netloc or "@" in url.netloc or url.query or url.fragment:
        raise ConfigurationError(f"`{text}` is not a base URL")
    return text.rstrip("/")


def credentials_of(
    environment: Environment, api_key: Optional[str], session: Optional[DashboardSession]
) -> dict[str, str]:
    agent = {"user-agent": f"gatehouse-access-python/{VERSION}"}
    if api_key is not None and session is None:
        prefix = _KEY_PREFIXES[environment]
        if not api_key.startswith(prefix) or re.fullmatch(r"[\x21-\x7e]+", api_key) is None:
            raise ConfigurationError(f"`api_key` is not a key of the {environment}: they begin with {prefix}")
        return {"authorization": f"Bearer {api_key}", **agent}
    if api_key is None and session is not None:
        return {"cookie": session.cookie, "x-csrf-token": session.csrf_token, **agent}
    raise ConfigurationError("give either `api_key` or `dashboard_session`")
