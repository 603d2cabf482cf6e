import { FakeFeed } from "./events.ts";
import { Table, type Row } from "./store.ts";
import { textOf, type JsonObject } from "./validate.ts";

/** What the fake keeps. */
export class FakeState {
  readonly customers: Table;
  readonly users: Table;
  readonly policies: Table;
  readonly sessions: Table;
  readonly webhooks: Table;
  readonly apiKeys: Table;
  readonly feed: FakeFeed;
  /** By customer, the policies and when each was assigned. */
  readonly assigned = new Map<string, Map<string, string>>();

  constructor(clock: () => number) {
    this.customers = new Table("INVALID_CUSTOMER", clock);
    this.users = new Table("USER_NOT_FOUND", clock);
    this.policies = new Table("POLICY_NOT_FOUND", clock);
    this.sessions = new Table("SESSION_NOT_FOUND", clock);
    this.webhooks = new Table("WEBHOOK_NOT_FOUND", clock);
    this.apiKeys = new Table("API_KEY_NOT_FOUND", clock);
    this.feed = new FakeFeed(clock);
  }

  endSessions(matches: (data: JsonObject) => boolean, reason: string): void {
    for (const row of this.sessions.rows.values())
      if (row.data["status"] === "active" && matches(row.data)) this.endSession(row, reason);
  }

  /** They stay, without what is known of the person. */
  eraseSessions(matches: (data: JsonObject) => boolean): void {
    for (const { data } of this.sessions.rows.values())
      if (matches(data)) Object.assign(data, { ip_address: "", user_agent: "", acr: null });
  }

  endSession(row: Row, reason: string): void {
    if (row.data["status"] !== "active") return;
    this.sessions.change(row, { status: "ended", end_reason: reason, ended_at: this.sessions.now() });
    const [id, customerId, userId] = ["id", "customer_id", "user_id"].map((name) => textOf(row.data[name]));
    const isErased = reason === "user_deleted" || reason === "customer_deleted";
    const email = isErased ? null : (this.users.rows.get(userId ?? "")?.data["email"] ?? null);
    const { ip_address = "", user_agent = "" } = row.data;
    const data: JsonObject = {
      user: { id: userId ?? "", ...(email !== null && { email }), customer_id: customerId ?? "" },
      session: {
        id: id ?? "",
        ...(isErased ? { ip_address: "", user_agent: "" } : { ip_address, user_agent }),
      },
      reason,
    };
    this.feed.add("session.revoked", data, { customerId: customerId ?? "", userId: userId ?? "" });
  }
}
