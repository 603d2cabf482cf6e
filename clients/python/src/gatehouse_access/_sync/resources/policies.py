# Made from _async: see clients/README.md.
from __future__ import annotations

from typing import Optional, Sequence, TYPE_CHECKING

from ..._path import path
from ..pages import Pager
from ..transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..._options import CallOptions
    from ...api import (
        BulkAssignment,
        NewBulkAssignment,
        AssignedPolicy,
        DeletedPolicy,
        ListCustomerPoliciesQuery,
        ListPoliciesQuery,
        ListPolicyCustomersQuery,
        NewPolicy,
        Policy,
        PolicyAssignee,
        PolicyAssignment,
        PolicyImpact,
        PolicyPatch,
        PolicyUnassignment,
        PolicyUpdate,
    )


class Policies:
    """Policies, and which customers they are assigned to."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, query: Optional[ListPoliciesQuery] = None, **options: Unpack[CallOptions]) -> Pager[Policy]:
        """List policies."""
        return Pager(self._transport, path("/policies"), query, options)

    def create(self, body: NewPolicy, **options: Unpack[CallOptions]) -> Policy:
        """Create a policy."""
        answer: Policy = self._transport.data("POST", path("/policies"), body=body, options=options)
        return answer

    def get(self, policy_id: str, **options: Unpack[CallOptions]) -> Policy:
        """Read a policy."""
        answer: Policy = self._transport.data("GET", path("/policies/{}", policy_id), options=options)
        return answer

    def get_if_changed(self, policy_id: str, etag: str, **options: Unpack[CallOptions]) -> Optional[Policy]:
        """The same, or nothing where the resource still has this ETag."""
        answer: Optional[Policy] = self._transport.data("GET", path("/policies/{}", policy_id), if_none_match=etag, options=options)
        return answer

    def update(self, policy_id: str, body: PolicyPatch, **options: Unpack[CallOptions]) -> Policy:
        """Change parts of a policy. Maps such as metadata are merged: `None` removes a name."""
        answer: Policy = self._transport.data("PATCH", path("/policies/{}", policy_id), body=body, options=options)
        return answer

    def put(self, policy_id: str, body: PolicyUpdate, **options: Unpack[CallOptions]) -> Policy:
        """Update a policy: maps such as metadata are replaced, not merged."""
        answer: Policy = self._transport.data("PUT", path("/policies/{}", policy_id), body=body, options=options)
        return answer

    def delete(self, policy_id: str, **options: Unpack[CallOptions]) -> DeletedPolicy:
        """Delete a policy."""
        answer: DeletedPolicy = self._transport.data("DELETE", path("/policies/{}", policy_id), options=options)
        return answer

    def list_of_customer(self, customer_id: str, query: Optional[ListCustomerPoliciesQuery] = None, **options: Unpack[CallOptions]) -> Pager[AssignedPolicy]:
        """List a customer's policies."""
        return Pager(self._transport, path("/customers/{}/policies", customer_id), query, options)

    def assign(self, customer_id: str, body: PolicyAssignment, **options: Unpack[CallOptions]) -> Sequence[AssignedPolicy]:
        """Assign policies to a customer."""
        answer: Sequence[AssignedPolicy] = self._transport.data("POST", path("/customers/{}/policies", customer_id), body=body, options=options)
        return answer

    def assign_in_bulk(
        self, policy_id: str, body: NewBulkAssignment, **options: Unpack[CallOptions]
    ) -> BulkAssignment:
        """Assign a policy to many customers. Its progress is in `bulk_assignments`."""
        answer: BulkAssignment = self._transport.data(
            "POST", path("/policies/{}/assignments", policy_id), body=body, options=options
        )
        return answer

    def unassign(self, customer_id: str, policy_id: str, **options: Unpack[CallOptions]) -> PolicyUnassignment:
        """Remove a policy from a customer."""
        answer: PolicyUnassignment = self._transport.data("DELETE", path("/customers/{}/policies/{}", customer_id, policy_id), options=options)
        return answer

    def impact(self, customer_id: str, policy_id: str, **options: Unpack[CallOptions]) -> PolicyImpact:
        """Count the open sessions of a customer that a policy would refuse."""
        answer: PolicyImpact = self._transport.data("GET", path("/customers/{}/policies/{}/impact", customer_id, policy_id), options=options)
        return answer

    def list_customers(self, policy_id: str, query: Optional[ListPolicyCustomersQuery] = None, **options: Unpack[CallOptions]) -> Pager[PolicyAssignee]:
        """List the customers that a policy is assigned to."""
        return Pager(self._transport, path("/policies/{}/customers", policy_id), query, options)
