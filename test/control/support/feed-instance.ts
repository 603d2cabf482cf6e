import assert from "node:assert/strict";
import { appendGatewayChanges } from "../../../src/control/gateway/append.ts";
import type { GatewayChange } from "../../../src/control/platform/gateway-change.ts";
import { customerRoutes } from "../../../src/control/resources/customers/routes.ts";
import {
  createGatewayFeed,
  type GatewayFeed,
  type GatewayFeedOptions,
} from "../../../src/control/gateway/feed.ts";
import { gatewayRoutes } from "../../../src/control/gateway/routes.ts";
import { newId } from "../../../src/control/platform/ids.ts";
import { policyRoutes } from "../../../src/control/resources/policies/routes.ts";
import { createPolicySetCompiler } from "../../../src/control/resources/policy-sets/compiler.ts";
import { policySetRoutes } from "../../../src/control/resources/policy-sets/routes.ts";
import { rolloutRoutes } from "../../../src/control/resources/policy-sets/rollout-routes.ts";
import { userRoutes } from "../../../src/control/resources/users/routes.ts";
import {
  startControl,
  type Answered,
  type ControlOptions,
  type RunningControl,
} from "../../support/control.ts";
import type { TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import type { State } from "./gateway-follower.ts";

const compile = createPolicySetCompiler();

/** One instance of the control plane with a feed of its own. */
export class FeedInstance {
  readonly control: RunningControl;
  readonly feed: GatewayFeed;
  /** Requests whose answer is waited for. */
  readonly reading: () => number;

  constructor(control: RunningControl, feed: GatewayFeed, reading: () => number) {
    this.control = control;
    this.feed = feed;
    this.reading = reading;
  }

  static async start(
    database: TestDatabase,
    clock: () => number = Date.now,
    authenticator?: ControlOptions["authenticator"],
    options: GatewayFeedOptions = {},
  ): Promise<FeedInstance> {
    let feed: GatewayFeed | undefined;
    let reading = 0;
    const control = await startControl({
      database,
      clock,
      ...(authenticator && { authenticator }),
      routes(context) {
        const real = (feed = createGatewayFeed(context, options));
        const counted: GatewayFeed = {
          ...real,
          async read(...call) {
            reading += 1;
            return real.read(...call).finally(() => (reading -= 1));
          },
        };
        return [
          ...customerRoutes(context),
          ...policyRoutes(context),
          ...userRoutes(context),
          ...policySetRoutes(context, compile),
          ...rolloutRoutes(context),
          ...gatewayRoutes(context, counted),
        ];
      },
    });
    return new FeedInstance(control, feed!, () => reading);
  }

  async post(path: string, body?: object): Promise<Record<string, unknown>> {
    const answer = await this.control.request("POST", path, body === undefined ? {} : { body });
    assert.ok(answer.status < 300, answer.text);
    return answer.body.data as Record<string, unknown>;
  }
  async put(path: string, body: object): Promise<void> {
    const answer = await this.control.request("PUT", path, { body });
    assert.ok(answer.status < 300, answer.text);
  }
  state(query = ""): Promise<Answered> {
    return this.control.request("GET", `/gateway/state${query}`);
  }
  async read(query = ""): Promise<State> {
    const answer = await this.state(query);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data as State;
  }
  /** Appends changes of nothing that is there. */
  append(...changes: GatewayChange[]): Promise<void> {
    return this.control.database.db.transaction((trx) => appendGatewayChanges(trx, changes));
  }
  async makeCustomer(): Promise<string> {
    return (await this.post("/customers", { name: "customer" }))["id"] as string;
  }
  async makeUser(customer: string): Promise<string> {
    return (await this.post(`/customers/${customer}/users`, { subject: newId("user") }))["id"] as string;
  }
  publish(name: string, version: string): Promise<Record<string, unknown>> {
    const text = `version: ${version}\npolicies: [{resource: "GET /", condition: "true"}]`;
    return this.post("/policy-sets", { name, files: [{ name: "a.yaml", text }] });
  }
  /** Waits until a poll does. */
  async waits(): Promise<void> {
    await eventually("a waiting poll", () => this.reading() > 0);
  }
  async close(): Promise<void> {
    await this.feed.close();
    await this.control.close();
  }
}

/** The end of a session whose tokens are valid for so long. */
export function endOf(sessionId: string, ms = 60_000): GatewayChange {
  return { type: "session_ended", session_id: sessionId, until: new Date(Date.now() + ms).toISOString() };
}

export function sessionsOf({ sessions_ended }: State): string[] {
  return sessions_ended.map(({ session_id }) => session_id);
}
