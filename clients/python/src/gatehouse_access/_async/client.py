from __future__ import annotations

from types import TracebackType
from typing import Mapping, Optional

import httpx

from .._checks import check_number
from .._request import Settings
from .._response import ApiResponse
from .._settings import DashboardSession, Environment, base_url_of, credentials_of
from .resources.analytics import AsyncAnalyticsReports
from .resources.api_keys import AsyncApiKeys
from .resources.audit import AsyncAudit
from .resources.auth import AsyncAuth
from .resources.bulk_assignments import AsyncBulkAssignments
from .resources.clients import AsyncClients
from .resources.customers import AsyncCustomers
from .resources.erasures import AsyncErasures
from .resources.events import AsyncEvents
from .resources.gateway import AsyncGatewaySync
from .resources.gateways import AsyncGateways
from .resources.identity_providers import AsyncIdentityProviders
from .resources.policies import AsyncPolicies
from .resources.policy_sets import AsyncPolicySets
from .resources.rollouts import AsyncRollouts
from .resources.sandbox import AsyncSandbox
from .resources.sessions import AsyncSessions
from .resources.users import AsyncUsers
from .resources.webhooks import AsyncWebhooks
from .transport import AsyncTransport


class AsyncGatehouse:
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
        http_client: Optional[httpx.AsyncClient] = None,
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
        transport = AsyncTransport(settings, http_client or httpx.AsyncClient())
        self._transport = transport
        self.analytics = AsyncAnalyticsReports(transport)
        self.api_keys = AsyncApiKeys(transport)
        self.audit = AsyncAudit(transport)
        self.auth = AsyncAuth(transport)
        self.bulk_assignments = AsyncBulkAssignments(transport)
        self.clients = AsyncClients(transport)
        self.customers = AsyncCustomers(transport)
        self.erasures = AsyncErasures(transport)
        self.events = AsyncEvents(transport)
        self.gateway = AsyncGatewaySync(transport)
        self.gateways = AsyncGateways(transport)
        self.identity_providers = AsyncIdentityProviders(transport)
        self.policies = AsyncPolicies(transport)
        self.policy_sets = AsyncPolicySets(transport)
        self.rollouts = AsyncRollouts(transport)
        self.sandbox = AsyncSandbox(transport)
        self.sessions = AsyncSessions(transport)
        self.users = AsyncUsers(transport)
        self.webhooks = AsyncWebhooks(transport)

    @property
    def last_response(self) -> Optional[ApiResponse]:
        """The last response that arrived, with the state of its rate limit. With calls at the same time, use ``on_response``."""
        return self._transport.last_response

    async def aclose(self) -> None:
        """Closes its connections."""
        if self._owns_client:
            await self._transport.aclose()

    async def __aenter__(self) -> AsyncGatehouse:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.aclose()
