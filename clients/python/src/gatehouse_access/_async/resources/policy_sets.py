from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import AsyncPager
from ..transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        ListPolicySetVersionsQuery,
        ListPolicySetsQuery,
        NewPolicySetVersion,
        PolicySet,
        PolicySetActivation,
        PolicySetToValidate,
        PolicySetValidation,
        PolicySetVersion,
        PolicySetVersionWithFiles,
    )


class AsyncPolicySets:
    """Published versions of policy sets."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListPolicySetsQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[PolicySet]:
        """List policy sets."""
        return AsyncPager(self._transport, path("/policy-sets"), query, options)

    async def validate(self, body: PolicySetToValidate, **options: Unpack[CallOptions]) -> PolicySetValidation:
        """Validate a policy set."""
        answer: PolicySetValidation = await self._transport.data("POST", path("/policy-sets/validate"), body=body, options=options)
        return answer

    async def publish(self, body: NewPolicySetVersion, **options: Unpack[CallOptions]) -> PolicySetVersion:
        """Publish a version of a policy set."""
        answer: PolicySetVersion = await self._transport.data("POST", path("/policy-sets"), body=body, options=options)
        return answer

    async def get(self, name: str, **options: Unpack[CallOptions]) -> PolicySet:
        """Read a policy set."""
        answer: PolicySet = await self._transport.data("GET", path("/policy-sets/{}", name), options=options)
        return answer

    def list_versions(self, name: str, query: Optional[ListPolicySetVersionsQuery] = None, **options: Unpack[CallOptions]) -> AsyncPager[PolicySetVersion]:
        """List the versions of a policy set."""
        return AsyncPager(self._transport, path("/policy-sets/{}/versions", name), query, options)

    async def get_version(self, name: str, version: str, **options: Unpack[CallOptions]) -> PolicySetVersionWithFiles:
        """Read a version of a policy set, with its files."""
        answer: PolicySetVersionWithFiles = await self._transport.data("GET", path("/policy-sets/{}/versions/{}", name, version), options=options)
        return answer

    async def activate(self, name: str, body: PolicySetActivation, **options: Unpack[CallOptions]) -> PolicySet:
        """Activate a version of a policy set."""
        answer: PolicySet = await self._transport.data("POST", path("/policy-sets/{}/activate", name), body=body, options=options)
        return answer

    async def roll_back(self, name: str, **options: Unpack[CallOptions]) -> PolicySet:
        """Roll back to the previous version."""
        answer: PolicySet = await self._transport.data("POST", path("/policy-sets/{}/rollback", name), options=options)
        return answer
