# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..pages import Pager
from ..transport import Transport

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


class PolicySets:
    """Published versions of policy sets."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListPolicySetsQuery] = None, **options: Unpack[CallOptions]) -> Pager[PolicySet]:
        """List policy sets."""
        return Pager(self._transport, path("/policy-sets"), query, options)

    def validate(self, body: PolicySetToValidate, **options: Unpack[CallOptions]) -> PolicySetValidation:
        """Validate a policy set."""
        answer: PolicySetValidation = self._transport.data("POST", path("/policy-sets/validate"), body=body, options=options)
        return answer

    def publish(self, body: NewPolicySetVersion, **options: Unpack[CallOptions]) -> PolicySetVersion:
        """Publish a version of a policy set."""
        answer: PolicySetVersion = self._transport.data("POST", path("/policy-sets"), body=body, options=options)
        return answer

    def get(self, name: str, **options: Unpack[CallOptions]) -> PolicySet:
        """Read a policy set."""
        answer: PolicySet = self._transport.data("GET", path("/policy-sets/{}", name), options=options)
        return answer

    def list_versions(self, name: str, query: Optional[ListPolicySetVersionsQuery] = None, **options: Unpack[CallOptions]) -> Pager[PolicySetVersion]:
        """List the versions of a policy set."""
        return Pager(self._transport, path("/policy-sets/{}/versions", name), query, options)

    def get_version(self, name: str, version: str, **options: Unpack[CallOptions]) -> PolicySetVersionWithFiles:
        """Read a version of a policy set, with its files."""
        answer: PolicySetVersionWithFiles = self._transport.data("GET", path("/policy-sets/{}/versions/{}", name, version), options=options)
        return answer

    def activate(self, name: str, body: PolicySetActivation, **options: Unpack[CallOptions]) -> PolicySet:
        """Activate a version of a policy set."""
        answer: PolicySet = self._transport.data("POST", path("/policy-sets/{}/activate", name), body=body, options=options)
        return answer

    def roll_back(self, name: str, **options: Unpack[CallOptions]) -> PolicySet:
        """Roll back to the previous version."""
        answer: PolicySet = self._transport.data("POST", path("/policy-sets/{}/rollback", name), options=options)
        return answer
