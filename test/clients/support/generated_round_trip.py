"""Uses a client that openapi-python-client has made of the API's document. Arguments: address and key of a sandbox."""

import sys

from gatehouse_client import AuthenticatedClient
from gatehouse_client.api.audit import list_audit_logs
from gatehouse_client.api.customers import create_customer, get_customer, list_customers, patch_customer
from gatehouse_client.api.policies import assign_policies, create_policy
from gatehouse_client.api.rollouts import start_rollout
from gatehouse_client.models import (
    AssignedPolicyListWithWarnings,
    AuditRecordPage,
    AuthenticationConditions,
    CustomerPage,
    CustomerPatch,
    CustomerResponse,
    CustomerResponseWithWarnings,
    Error,
    NewAuthenticationPolicy,
    NewCustomer,
    NewRollout,
    PolicyAssignment,
    PolicyResponse,
)

url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=f"{url}/v1", token=key)

created = create_customer.sync(client=client, body=NewCustomer(name="Generated", external_id="py-1"))
assert isinstance(created, CustomerResponseWithWarnings), created
id = created.data.id

read = get_customer.sync_detailed(id, client=client)
assert isinstance(read.parsed, CustomerResponse) and read.parsed.data.name == "Generated"
again = get_customer.sync_detailed(id, client=client, if_none_match=read.headers["etag"])
assert again.status_code == 304, again.status_code

patched = patch_customer.sync(id, client=client, body=CustomerPatch(name="Patched"), if_match=read.headers["etag"])
assert isinstance(patched, CustomerResponse) and patched.data.name == "Patched"
stale = patch_customer.sync(id, client=client, body=CustomerPatch(name="Stale"), if_match=read.headers["etag"])
assert isinstance(stale, Error) and stale.error.code == "PRECONDITION_FAILED", stale

page = list_customers.sync(client=client, external_id="py-1")
assert isinstance(page, CustomerPage) and [customer.id for customer in page.data] == [id]

body = NewAuthenticationPolicy(name="MFA", type_="authentication", conditions=AuthenticationConditions(mfa_required=True))
policy = create_policy.sync(client=client, body=body)
assert isinstance(policy, PolicyResponse)
assigned = assign_policies.sync(id, client=client, body=PolicyAssignment(policy_ids=[policy.data.id]))
assert isinstance(assigned, AssignedPolicyListWithWarnings) and assigned.data[0].id == policy.data.id

log = list_audit_logs.sync(client=client, kind="change", customer_id=id)
assert isinstance(log, AuditRecordPage), log
assert log.data[0].action == "policy.assigned", log.data[0]

missing = start_rollout.sync("none", client=client, body=NewRollout(version="v1"))
assert isinstance(missing, Error) and missing.error.code == "POLICY_SET_NOT_FOUND", missing
print("done")
