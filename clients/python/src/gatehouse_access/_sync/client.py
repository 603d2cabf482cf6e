# Made from _async: see clients/README.md.
from __future__ import annotations

from types import TracebackType
from typing import Mapping, Optional

import httpx

from .._checks import check_number
from .._request import Settings
from .._response import ApiResponse
from .._settings import DashboardSession, Environment, base_url_of, credentials_of
from .resources.analytics import AnalyticsReports
from .resources.api_keys import ApiKeys
from .resources.audit import Audit
from .resources.auth import Auth
from .resources.bulk_assignments import BulkAssignments
from .resources.clients import Clients
from .resources.customers import Customers
from .resources.erasures import Erasures
from .resources.events import Events
from .resources.gateway import GatewaySync
from .resources.gateways import Gateways
from .resources.identity_providers import IdentityProviders
from .resources.policies import Policies
from .resources.policy_sets import PolicySets
from .resources.rollouts import Rollouts
from .resources.sandbox import Sandbox
from .resources.sessions import Sessions
from .resources.users import Users
from .resources.webhooks import Webhooks
from .transport import Transport


class Gatehouse:
    """The API of a Gatehouse control plane.

    ``base_urls`` says where each environment is served, without ``/v1``; by default, at ports 8080 and 8081 of 127.0.0.1.
    ``timeout`` is the longest that a call may take, all attempts and pauses included, ``attempt_timeout`` the longest
    that one attempt may take, both in seconds. ``dashboard_session`` takes the place of a key for what only people may
    do: API keys and machine clients. An ``http_client`` of your own is not closed with this one.
    """

    def __init__(
        self,
        *,
        environment: Environment,
        api_key: Optional[str] = None,
        dashboard_session: Optional[DashboardSession] = None,
        base_urls: Optional[Mapping[Environment, str]] = None,
        timeout: float = 60.0,
        attempt_timeout: float = 20.0,
        max_retries: int = 2,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        self.environment: Environment = environment
        #: Where the environment is served; the issuer of its tokens, unless the control plane has another ``public_url``.
        self.base_url = base_url_of(environment, base_urls)
        headers = credentials_of(environment, api_key, dashboard_session)
        settings = Settings(
            self.base_url,
            headers,
            check_number("timeout", timeout),
            check_number("attempt_timeout", attempt_timeout),
            check_number("max_retries", max_retries),
        )
        self._owns_client = http_client is None
        transport = Transport(settings, http_client or httpx.Client())
        self._transport = transport
        self.analytics = AnalyticsReports(transport)
        self.api_keys = ApiKeys(transport)
        self.audit = Audit(transport)
        self.auth = Auth(transport)
        self.bulk_assignments = BulkAssignments(transport)
        self.clients = Clients(transport)
        self.customers = Customers(transport)
        self.erasures = Erasures(transport)
        self.events = Events(transport)
        self.gateway = GatewaySync(transport)
        self.gateways = Gateways(transport)
        self.identity_providers = IdentityProviders(transport)
        self.policies = Policies(transport)
        self.policy_sets = PolicySets(transport)
        self.rollouts = Rollouts(transport)
        self.sandbox = Sandbox(transport)
        self.sessions = Sessions(transport)
        self.users = Users(transport)
        self.webhooks = Webhooks(transport)

    @property
    def last_response(self) -> Optional[ApiResponse]:
        """The last response that arrived, with the state of its rate limit. With calls at the same time, use ``on_response``."""
        return self._transport.last_response

    def close(self) -> None:
        """Closes its connections."""
        if self._owns_client:
            self._transport.close()

    def __enter__(self) -> Gatehouse:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()
