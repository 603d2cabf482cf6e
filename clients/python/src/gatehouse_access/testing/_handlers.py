"""What each operation does: methods are named for the ids of the operations."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from ._events import FakeFeed
from ._store import MAPS, Members, Refused, Row, Table, in_utc, merged, new_id
from ._validate import DATA, problems_of

_TRANSITIONS: Mapping[str, Sequence[str]] = {
    "active": ["active", "suspended", "archived"],
    "suspended": ["active", "suspended", "archived"],
    "archived": ["active", "archived"],
}


@dataclass(frozen=True)
class Request:
    """A request that was read and found valid."""

    #: In the order of the path.
    ids: Sequence[str]
    body: Members
    if_match: Optional[str]
    query: Mapping[str, str]

    def matched(self, row: Row) -> Row:
        """Refuses the request, unless the row is the one that the caller has seen."""
        if self.if_match not in (None, "*", row.etag):
            raise Refused("PRECONDITION_FAILED")
        return row


@dataclass(frozen=True)
class One:
    row: Row
    status: int = 200
    #: Members that only this response has.
    shown_once: Optional[Members] = None


@dataclass(frozen=True)
class Plain:
    data: Any


Result = Union[One, Plain, "list[Row]"]


class Handlers:
    def __init__(self, clock: Callable[[], float]) -> None:
        self.customers = Table("INVALID_CUSTOMER", clock)
        self.users = Table("USER_NOT_FOUND", clock)
        self.policies = Table("POLICY_NOT_FOUND", clock)
        self.sessions = Table("SESSION_NOT_FOUND", clock)
        self.webhooks = Table("WEBHOOK_NOT_FOUND", clock)
        self.api_keys = Table("API_KEY_NOT_FOUND", clock)
        self.feed = FakeFeed(clock)
        #: By customer, the policies and when each was assigned.
        self.assigned: dict[str, dict[str, str]] = {}

    def operations(self) -> Mapping[str, Callable[[Request], Result]]:
        found: dict[str, Callable[[Request], Result]] = {
            "createCustomer": self._create_customer,
            "updateCustomer": lambda request: self._change_customer(request, False),
            "patchCustomer": lambda request: self._change_customer(request, True),
            "deleteCustomer": self._delete_customer,
            "listUsersOfCustomer": self._list_users_of_customer,
            "createUser": self._create_user,
            "updateUser": lambda request: self._change_user(request, False),
            "patchUser": lambda request: self._change_user(request, True),
            "deleteUser": self._delete_user,
            "createPolicy": lambda request: One(self.policies.insert({"id": new_id("pol"), **request.body}), 201),
            "updatePolicy": lambda request: self._change_policy(request, False),
            "patchPolicy": lambda request: self._change_policy(request, True),
            "deletePolicy": self._delete_policy,
            "listCustomerPolicies": lambda request: self._assigned_to(self.customers.get(request.ids[0])["id"]),
            "assignPolicies": self._assign_policies,
            "unassignPolicy": self._unassign_policy,
            "listPolicyCustomers": self._list_policy_customers,
            "revokeSession": self._revoke_session,
            "createWebhook": self._create_webhook,
            "updateWebhook": lambda request: self._change_webhook(request, False),
            "patchWebhook": lambda request: self._change_webhook(request, True),
            "deleteWebhook": lambda request: self._delete(self.webhooks, request),
            "rotateWebhookSecret": self._rotate_webhook_secret,
            "enableWebhook": self._enable_webhook,
            "createApiKey": lambda request: self._make_key({**request.body, **self._end_of(request.body)}),
            "updateApiKey": lambda request: self._change_key(request, False),
            "patchApiKey": lambda request: self._change_key(request, True),
            "rollApiKey": self._roll_api_key,
            "revokeApiKey": self._revoke_api_key,
            "getEventFeed": lambda request: Plain(self.feed.read(request.query)),
        }
        tables = {
            "Customer": self.customers,
            "User": self.users,
            "Policy": self.policies,
            "Session": self.sessions,
            "Webhook": self.webhooks,
            "ApiKey": self.api_keys,
        }
        for name, table in tables.items():
            plural = "Policies" if name == "Policy" else f"{name}s"
            found[f"list{plural}"] = _lister(table)
            found[f"get{name}"] = _getter(table)
        return found

    def end_sessions(self, member: str, value: str, reason: str) -> None:
        for row in self.sessions.rows.values():
            if row[member] == value and row["status"] == "active":
                ended: Members = {"status": "ended", "end_reason": reason, "ended_at": self.sessions.now()}
                self.sessions.change(row, ended)
                self._announce_end(row, reason)

    def _erase_sessions(self, member: str, value: str) -> None:
        """They stay, without what is known of the person."""
        for row in self.sessions.rows.values():
            if row[member] == value:
                row.data.update(ip_address="", user_agent="", acr=None)

    def _announce_end(self, row: Row, reason: str) -> None:
        is_erased = reason in ("user_deleted", "customer_deleted")
        user = self.users.rows.get(row["user_id"])
        email = None if is_erased or user is None else user["email"]
        about = {"id": row["user_id"], "customer_id": row["customer_id"]}
        where = {name: "" if is_erased else row[name] for name in ("ip_address", "user_agent")}
        data: Members = {
            "user": about if email is None else {**about, "email": email},
            "session": {"id": row["id"], **where},
            "reason": reason,
        }
        self.feed.add("session.revoked", data, row["customer_id"], row["user_id"])

    def _change(
        self,
        table: Table,
        request: Request,
        is_patch: bool,
        check: Callable[[Row, Members], None] = lambda row, members: None,
        after: Callable[[Row, Sequence[str]], None] = lambda row, changed: None,
    ) -> One:
        """PUT and PATCH: they differ in the members with free names."""
        row = request.matched(table.get(request.ids[0]))
        members = {
            name: merged(row[name], value) if is_patch and name in MAPS else value
            for name, value in request.body.items()
        }
        check(row, members)
        changed = table.change(row, members)
        if changed:
            after(row, changed)
        return One(row)

    def _delete(
        self, table: Table, request: Request, before: Callable[[Row], None] = lambda row: None
    ) -> Plain:
        (identifier,) = request.ids
        before(request.matched(table.get(identifier)))
        del table.rows[identifier]
        return Plain({"id": identifier, "deleted": True})

    def _create_customer(self, request: Request) -> One:
        fields = dict(request.body)
        wanted: list[str] = fields.pop("policy_ids", [])
        if fields.get("external_id") is not None:
            self.customers.require_free({"external_id": fields["external_id"]})
        self._require_policies(wanted)
        wanted = wanted + [row["id"] for row in self.policies.rows.values() if row["assign_to_new_customers"]]
        row = self.customers.insert({"id": new_id("cus"), "metadata": {}, "role_mapping": {}, **fields})
        self.assigned[row["id"]] = {policy: self.customers.now() for policy in wanted}
        self.feed.add("customer.created", {"customer": _shown(row, "id", "name", "status")}, row["id"])
        return One(row, 201)

    def _change_customer(self, request: Request, is_patch: bool) -> One:
        return self._change(self.customers, request, is_patch, self._check_customer, self._customer_changed)

    def _check_customer(self, row: Row, members: Members) -> None:
        before, after = row["status"], members.get("status", row["status"])
        if after not in _TRANSITIONS[before]:
            raise Refused("INVALID_TRANSITION", {"from": before, "to": after})
        if members.get("external_id") is not None:
            self.customers.require_free({"external_id": members["external_id"]}, row)

    def _customer_changed(self, row: Row, changed: Sequence[str]) -> None:
        customer = _shown(row, "id", "name", "status")
        self.feed.add("customer.updated", {"customer": customer, "detail": ", ".join(changed)}, row["id"])
        if "status" not in changed:
            return
        if row["status"] == "suspended":
            self.feed.add("customer.suspended", {"customer": customer}, row["id"])
        if row["status"] != "active":
            self.end_sessions("customer_id", row["id"], f"customer_{row['status']}")

    def _delete_customer(self, request: Request) -> Plain:
        def announce(row: Row) -> None:
            for key in self.api_keys.rows.values():
                if key["customer_id"] == row["id"]:
                    self._revoke(key)
            customer = {**_shown(row, "id", "name"), "status": "deleted"}
            self.feed.add("customer.updated", {"customer": customer, "detail": "deleted"}, row["id"])
            self.end_sessions("customer_id", row["id"], "customer_deleted")

        deleted = self._delete(self.customers, request, announce)
        self._erase_sessions("customer_id", request.ids[0])
        for table in (self.users, self.webhooks, self.api_keys):
            table.remove("customer_id", request.ids[0])
        self.assigned.pop(request.ids[0], None)
        return deleted

    def _list_users_of_customer(self, request: Request) -> list[Row]:
        customer = self.customers.get(request.ids[0])
        return [row for row in self.users.rows.values() if row["customer_id"] == customer["id"]]

    def _create_user(self, request: Request) -> One:
        customer_id = self.customers.get(request.ids[0])["id"]
        self.users.require_free({"subject": request.body["subject"], "customer_id": customer_id})
        attributes = request.body.get("attributes", {})
        row = self.users.insert(
            {
                "id": new_id("usr"),
                "customer_id": customer_id,
                "issuer": None,
                "email": None,
                "name": None,
                "status": "active",
                "profile": {},
                "dropped_claims": [],
                "attributes": attributes,
                "effective_attributes": attributes,
                "last_sign_in_at": None,
                **request.body,
            }
        )
        return One(row, 201)

    def _change_user(self, request: Request, is_patch: bool) -> One:
        return self._change(self.users, request, is_patch, self._check_user, self._user_changed)

    def _user_changed(self, row: Row, changed: Sequence[str]) -> None:
        if row["status"] == "suspended":
            self.end_sessions("user_id", row["id"], "user_suspended")

    def _check_user(self, row: Row, members: Members) -> None:
        if "attributes" in members:
            row.data["effective_attributes"] = members["attributes"]

    def _delete_user(self, request: Request) -> Plain:
        def announce(row: Row) -> None:
            self.end_sessions("user_id", row["id"], "user_deleted")
            user = {"id": row["id"], "customer_id": row["customer_id"]}
            self.feed.add("user.deleted", {"user": user}, row["customer_id"], row["id"])

        deleted = self._delete(self.users, request, announce)
        self._erase_sessions("user_id", request.ids[0])
        return deleted

    def _change_policy(self, request: Request, is_patch: bool) -> One:
        return self._change(self.policies, request, is_patch, self._check_policy, self._policy_changed)

    def _policy_changed(self, row: Row, changed: Sequence[str]) -> None:
        data = {"policy": _shown(row, "id", "name", "type"), "detail": ", ".join(changed)}
        self.feed.add("policy.updated", data)

    def _check_policy(self, row: Row, members: Members) -> None:
        if members.get("type", row["type"]) != row["type"]:
            raise Refused("VALIDATION_FAILED", {"fields": [{"path": "type", "message": "cannot change"}]})
        kind = "AuthenticationConditions" if row["type"] == "authentication" else "AuthorizationConditions"
        if "conditions" in members:
            problems = problems_of(members["conditions"], DATA["schemas"][kind], "conditions")
            if problems:
                raise Refused("VALIDATION_FAILED", {"fields": problems})

    def _delete_policy(self, request: Request) -> Plain:
        def check(row: Row) -> None:
            customers = sum(row["id"] in found for found in self.assigned.values())
            if customers > 0:
                raise Refused("CONFLICT", {"policy_id": row["id"], "customers": customers})
            self._policy_changed(row, ["deleted"])

        return self._delete(self.policies, request, check)

    def _require_policies(self, ids: Sequence[str]) -> None:
        """In a body, what is not there is a field that is not valid."""
        fields = [
            {"path": f"policy_ids.{index}", "message": "the policy does not exist"}
            for index, policy in enumerate(ids)
            if policy not in self.policies.rows
        ]
        if fields:
            raise Refused("VALIDATION_FAILED", {"fields": fields})

    def _assigned_to(self, customer_id: str) -> list[Row]:
        rows: list[Row] = []
        for policy, assigned_at in self.assigned.get(customer_id, {}).items():
            row = self.policies.get(policy)
            rows.append(Row({**row.data, "assigned_at": assigned_at}, row.order))
        return rows

    def _assign_policies(self, request: Request) -> Plain:
        customer_id = self.customers.get(request.ids[0])["id"]
        self._require_policies(request.body["policy_ids"])
        found = self.assigned.setdefault(customer_id, {})
        for policy in request.body["policy_ids"]:
            found.setdefault(policy, self.policies.now())
        return Plain([row.data for row in self._assigned_to(customer_id)])

    def _unassign_policy(self, request: Request) -> Plain:
        customer_id, policy_id = request.ids
        self.customers.get(customer_id)
        if self.assigned.get(customer_id, {}).pop(policy_id, None) is None:
            raise Refused("POLICY_NOT_FOUND")
        return Plain({"customer_id": customer_id, "policy_id": policy_id, "assigned": False})

    def _list_policy_customers(self, request: Request) -> list[Row]:
        policy_id = self.policies.get(request.ids[0])["id"]
        rows: list[Row] = []
        for row in self.customers.rows.values():
            assigned_at = self.assigned.get(row["id"], {}).get(policy_id)
            if assigned_at is not None:
                about = {name: row[name] for name in ("id", "name", "status")}
                rows.append(Row({**about, "assigned_at": assigned_at}, row.order))
        return rows

    def _revoke_session(self, request: Request) -> One:
        row = self.sessions.get(request.ids[0])
        self.end_sessions("id", row["id"], "revoked")
        return One(row)

    def _create_webhook(self, request: Request) -> One:
        fields = dict(request.body)
        secret = fields.pop("secret", None) or _new_secret()
        if fields.get("customer_id") is not None:
            self.customers.get(fields["customer_id"])
        disabled = fields["enabled"] is False
        row = self.webhooks.insert(
            {
                "id": new_id("whk"),
                **fields,
                **_events_of(fields),
                "disabled_reason": "requested" if disabled else None,
                "disabled_at": self.webhooks.now() if disabled else None,
                "previous_secret_expires_at": None,
                "paused_until": None,
            }
        )
        return One(row, 201, {"secret": secret})

    def _change_webhook(self, request: Request, is_patch: bool) -> One:
        body = {**request.body, **_events_of(request.body)}
        row = self.webhooks.get(request.ids[0])
        if "enabled" in body and body["enabled"] != row["enabled"]:
            disabled = body["enabled"] is False
            body["disabled_reason"] = "requested" if disabled else None
            body["disabled_at"] = self.webhooks.now() if disabled else None
        return self._change(self.webhooks, replace(request, body=body), is_patch)

    def _rotate_webhook_secret(self, request: Request) -> One:
        row = self.webhooks.get(request.ids[0])
        overlap = request.body["overlap_seconds"]
        end = self.webhooks.now(overlap) if overlap > 0 else None
        self.webhooks.change(row, {"previous_secret_expires_at": end})
        return One(row, 200, {"secret": request.body.get("secret") or _new_secret()})

    def _enable_webhook(self, request: Request) -> One:
        row = self.webhooks.get(request.ids[0])
        self.webhooks.change(row, {"enabled": True, "disabled_reason": None, "disabled_at": None})
        return One(row)

    def _make_key(self, fields: Members, source: Optional[Row] = None) -> One:
        identifier, key = new_id("key"), f"gh_test_{new_id('')[2:]}"
        row = self.api_keys.insert(
            {
                "id": identifier,
                "customer_id": None,
                "permissions": [],
                "allowed_addresses": [],
                "expires_at": None,
                **fields,
                "environment": "sandbox",
                "hint": key[-4:],
                "status": "active",
                "last_used_at": None,
                "revoked_at": None,
                "created_by": {"kind": "dashboard_user", "id": "adm_fake", "name": "fake"},
                "family_id": identifier if source is None else source["family_id"],
                "rolled_from": None if source is None else source["id"],
                "rolled_to": None,
            }
        )
        self._announce_key("api_key.created", row)
        return One(row, 201, {"key": key})

    def _end_of(self, body: Members) -> Members:
        """The end of a key, as it is answered."""
        if "expires_at" not in body or body["expires_at"] is None:
            return {}
        end = in_utc(body["expires_at"])
        if end <= self.api_keys.now():
            problem = {"path": "expires_at", "message": "must be in the future"}
            raise Refused("VALIDATION_FAILED", {"fields": [problem]})
        return {"expires_at": end}

    def _change_key(self, request: Request, is_patch: bool) -> One:
        body = {**request.body, **self._end_of(request.body)}
        return self._change(self.api_keys, replace(request, body=body), is_patch, self._check_key)

    def _check_key(self, row: Row, members: Members) -> None:
        if row["status"] == "revoked":
            raise Refused("CONFLICT")
        end, asked = row["expires_at"], members.get("expires_at")
        is_sooner = asked is not None and end is not None and asked <= end
        if row["rolled_to"] is not None and "expires_at" in members and not is_sooner:
            raise Refused("CONFLICT", {"rolled_to": row["rolled_to"], "expires_at": end})

    def _announce_key(self, kind: str, row: Row) -> None:
        self.feed.add(kind, {"api_key": _shown(row, "id", "name", "scope")}, row["customer_id"])

    def _roll_api_key(self, request: Request) -> One:
        row = request.matched(self.api_keys.get(request.ids[0]))
        if row["status"] != "active" or row["rolled_to"] is not None:
            raise Refused("CONFLICT")
        kept = ("name", "scope", "customer_id", "permissions", "allowed_addresses")
        made = self._make_key({name: row[name] for name in kept}, row)
        overlap = request.body["overlap"]
        end = min(self.api_keys.now(overlap), row["expires_at"] or "9")
        self.api_keys.change(row, {"rolled_to": made.row["id"], "expires_at": end})
        if overlap == 0:
            self._revoke(row)
        return replace(made, shown_once={**(made.shown_once or {}), "previous": row.data})

    def _revoke_api_key(self, request: Request) -> One:
        row = request.matched(self.api_keys.get(request.ids[0]))
        self._revoke(row)
        return One(row)

    def _revoke(self, row: Row) -> None:
        if row["status"] == "active":
            self.api_keys.change(row, {"status": "revoked", "revoked_at": self.api_keys.now()})
            self._announce_key("api_key.revoked", row)


def _shown(row: Row, *names: str) -> Members:
    """The members of a resource that its events have."""
    return {name: row[name] for name in names}


def _lister(table: Table) -> Callable[[Request], Result]:
    return lambda request: list(table.rows.values())


def _getter(table: Table) -> Callable[[Request], Result]:
    return lambda request: One(table.get(request.ids[0]))


def _events_of(body: Members) -> Members:
    if "events" not in body:
        return {}
    return {"events": ["*"] if body["events"] == "*" else body["events"]}


def _new_secret() -> str:
    return f"whsec_{base64.b64encode(new_id('x').encode()).decode()}"
