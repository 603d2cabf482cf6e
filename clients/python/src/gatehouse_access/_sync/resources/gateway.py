# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import Optional, TYPE_CHECKING

from ..._path import path
from ..transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        FollowStateQuery,
        GatewayCaller,
        GatewayPolicySet,
        GatewayRecords,
        GatewayRegistration,
        GatewayState,
        GatewayStatistics,
        GatewayUser,
        RolloutReport,
        TakenRecords,
        TakenRegistration,
        TakenRolloutReport,
        TakenStatistics,
    )


class GatewaySync:
    """What gateways ask and report, for keys of scope `gateway`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def state(self, query: Optional[FollowStateQuery] = None, **options: Unpack[CallOptions]) -> GatewayState:
        """Sync the state that gateways decide by."""
        answer: GatewayState = self._transport.data("GET", path("/gateway/state"), query=query, options=options, server_wait=float((query or {}).get("wait", 0)))
        return answer

    def policy_set(self, name: str, **options: Unpack[CallOptions]) -> GatewayPolicySet:
        """Read the active version of a policy set."""
        answer: GatewayPolicySet = self._transport.data("GET", path("/gateway/policy-sets/{}", name), options=options)
        return answer

    def policy_set_version(self, name: str, version: str, **options: Unpack[CallOptions]) -> GatewayPolicySet:
        """Read a version of a policy set, such as the candidate of a rollout."""
        answer: GatewayPolicySet = self._transport.data("GET", path("/gateway/policy-sets/{}/versions/{}", name, version), options=options)
        return answer

    def user(self, key: str, **options: Unpack[CallOptions]) -> GatewayUser:
        """Look up the attributes of a user."""
        answer: GatewayUser = self._transport.data("GET", path("/gateway/users/{}", key), options=options)
        return answer

    def caller(self, hash: str, **options: Unpack[CallOptions]) -> GatewayCaller:
        """Look up the caller whom an API key names."""
        answer: GatewayCaller = self._transport.data("GET", path("/gateway/callers/{}", hash), options=options)
        return answer

    def register(self, body: GatewayRegistration, **options: Unpack[CallOptions]) -> TakenRegistration:
        """Report what a gateway is and enforces."""
        answer: TakenRegistration = self._transport.data("POST", path("/gateway/registration"), body=body, options=options)
        return answer

    def records(self, body: GatewayRecords, **options: Unpack[CallOptions]) -> TakenRecords:
        """Ingest audit records of a gateway."""
        answer: TakenRecords = self._transport.data("POST", path("/gateway/records"), body=body, options=options)
        return answer

    def statistics(self, body: GatewayStatistics, **options: Unpack[CallOptions]) -> TakenStatistics:
        """Ingest statistics of a gateway."""
        answer: TakenStatistics = self._transport.data("POST", path("/gateway/statistics"), body=body, options=options)
        return answer

    def report_rollout(self, body: RolloutReport, **options: Unpack[CallOptions]) -> TakenRolloutReport:
        """Report what a gateway has seen of a rollout."""
        answer: TakenRolloutReport = self._transport.data("POST", path("/gateway/rollout-reports"), body=body, options=options)
        return answer
