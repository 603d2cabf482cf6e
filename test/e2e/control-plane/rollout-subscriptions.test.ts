import assert from "node:assert/strict";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:http";
import { eventually } from "../../support/eventually.ts";
import { connectHttp2Socket } from "../../support/http2-socket.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { getsCandidate, type Arm } from "../../support/rollout.ts";
import { startFolderCourse, usersOfSteps, type RolloutCourse } from "../../support/rollout-course.ts";
import { connectSocket, type Conversation } from "../../support/socket-client.ts";
import {
  SDL,
  startGraphqlApplication,
  type GraphqlApplication,
} from "../../support/upstreams/graphql-application.ts";

/** Events of one customer are delivered by one arm, and those of another one by the other. */
const CUSTOMER: Readonly<Record<Arm, string>> = { stable: "c-1", candidate: "c-2" };
const setOf = (arm: Arm) => (version: string) => ({
  "default.yaml": `
version: ${version}
graphql: { schema: api.graphql, paths: [/graphql] }
graphql_policies:
  - { subscription: orderUpdated, condition: order.customer_id == "${CUSTOMER[arm]}" }
websocket_policies:
  - connection: { path: /graphql, condition: exists(user.id) }
  - connection: { path: /live, condition: ${arm === "stable" ? "exists(user.id)" : 'user.role == "admin"'} }
`,
  "api.graphql": SDL,
});
const SETS = { stable: setOf("stable"), candidate: setOf("candidate") };
const QUERY = "subscription { orderUpdated { id customer_id } }";
const USERS = usersOfSteps(1);
const VERSIONS = ["HTTP/1.1", "HTTP/2"] as const;
type Version = (typeof VERSIONS)[number];

interface Order {
  readonly id: string;
  readonly customer_id: string;
}

for (const [kind, start] of [["in a folder", startFolderCourse]] as const)
  describe(`end to end: GraphQL subscriptions and a candidate ${kind}`, function () {
    this.timeout(600_000);
    let application: GraphqlApplication;
    let issuer: TestIssuer;
    let course: RolloutCourse;
    let tokens: Map<string, string>;
    let serial = 0;
    const ends: (() => void)[] = [];

    before(async () => {
      [application, issuer] = await Promise.all([startGraphqlApplication(), startIssuer()]);
      tokens = new Map(
        await Promise.all(USERS.map(async (sub) => [sub, await issuer.token({ sub })] as const)),
      );
      course = await start({ backend: application.url, issuer, sets: SETS });
    });
    beforeEach(() => course.begin());
    afterEach(async () => {
      for (const end of ends.splice(0)) end();
      await eventually("the subscriptions' end", () => {
        // the application notices that a stream has ended when it writes
        publish();
        return application.subscribers() === 0;
      });
    });
    after(async () => {
      await course.stop();
      await Promise.all([issuer.close(), application.close()]);
    });

    const headers = (user: string) => ({ authorization: `Bearer ${tokens.get(user)}` });
    /** An event for each arm. */
    function publish(): void {
      serial += 1;
      for (const customer_id of Object.values(CUSTOMER))
        application.publish({ id: String(serial), customer_id });
    }

    /** What one operation has been told, in order. */
    class Subscription {
      readonly who: string;
      readonly orders: Order[] = [];
      readonly closed: () => { readonly code: number; readonly reason: string } | undefined;

      constructor(who: string, closed: Subscription["closed"]) {
        [this.who, this.closed] = [who, closed];
      }

      take(payload: { readonly data?: { readonly orderUpdated?: Order | null } }): void {
        const order = payload.data?.orderUpdated;
        assert.ok(order, `${this.who}: ${JSON.stringify(payload)}`);
        this.orders.push(order);
      }

      get arms(): readonly Arm[] {
        const arms = this.orders.map(({ customer_id }) =>
          customer_id === CUSTOMER.stable ? ("stable" as const) : ("candidate" as const),
        );
        return arms.filter((arm, index) => arm !== arms[index - 1]);
      }

      /** Every event from the first one to the last one. */
      assertWhole(): void {
        const ids = this.orders.map(({ id }) => Number(id));
        const [first = 0] = ids;
        assert.deepEqual(
          ids,
          ids.map((_, index) => first + index),
          this.who,
        );
      }
    }

    async function overSocket(user: string, version: Version, path = "/graphql"): Promise<Subscription> {
      const { url } = course.gateway;
      const protocol = "graphql-transport-ws";
      const conversation: Conversation =
        version === "HTTP/2"
          ? await connectHttp2Socket(`${url}${path}`, { headers: headers(user), protocol })
          : await connectSocket(`${url.replace("http", "ws")}${path}`, {
              headers: headers(user),
              protocols: [protocol],
            });
      ends.push(() => {
        conversation.close();
      });
      assert.equal(conversation.refusal(), undefined, `${user} over ${version}`);
      const subscription = new Subscription(`${user} over ${version}`, () => conversation.closed());
      conversation.send('{"type":"connection_init"}');
      await conversation.message("the acknowledgement", (text) => text.includes("connection_ack"));
      conversation.listen((text) => {
        const { type, payload } = JSON.parse(text) as { type: string; payload: object };
        assert.equal(type, "next", text);
        subscription.take(payload);
      });
      conversation.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query: QUERY } }));
      return subscription;
    }

    /** The distinct connections mode of GraphQL over Server-Sent Events. */
    function overEvents(user: string, version: Version): Subscription {
      const { url, port } = course.gateway;
      let over = false;
      const subscription = new Subscription(`${user}, events over ${version}`, () =>
        over ? { code: 0, reason: "the stream has ended" } : undefined,
      );
      const sent = {
        ...headers(user),
        ...{ "content-type": "application/json", accept: "text/event-stream" },
      };
      let text = "";
      const take = (chunk: string) => {
        text += chunk;
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const event = text.slice(0, end);
          text = text.slice(end + 2);
          const data = /^data:(.+)$/m.exec(event)?.[1];
          if (data !== undefined && data.trim() !== "") subscription.take(JSON.parse(data) as object);
        }
      };
      const ended = () => (over = true);
      const body = JSON.stringify({ query: QUERY });
      if (version === "HTTP/2") {
        const session = connectHttp2(url);
        session.on("error", ended);
        const stream = session.request({ ":method": "POST", ":path": "/graphql", ...sent });
        stream.setEncoding("utf8").on("data", take).on("error", ended).on("close", ended);
        stream.end(body);
        ends.push(() => {
          session.destroy();
        });
      } else {
        const stream = request(
          { host: "127.0.0.1", port, path: "/graphql", method: "POST", headers: sent, agent: false },
          (response) => response.setEncoding("utf8").on("data", take).on("close", ended),
        );
        stream.on("error", ended).end(body);
        ends.push(() => stream.destroy());
      }
      return subscription;
    }

    async function everybody(open: (user: string, version: Version) => Promise<Subscription> | Subscription) {
      const subscriptions: { readonly user: string; readonly subscription: Subscription }[] = [];
      for (const user of USERS)
        for (const version of VERSIONS) subscriptions.push({ user, subscription: await open(user, version) });
      return subscriptions;
    }
    /** Publishes until each of these has been told something new, or has ended. */
    async function allHear(subscriptions: readonly Subscription[]): Promise<void> {
      const before = subscriptions.map(({ orders }) => orders.length);
      await eventually("events for everybody", () => {
        publish();
        return subscriptions.every(
          ({ orders, closed }, index) => closed() !== undefined || orders.length > (before[index] ?? 0),
        );
      });
    }

    it("are evaluated by one arm as long as a connection lasts, which closes with 1012 when the arm changes", async () => {
      const open = new Map(
        (await everybody(overSocket)).map(({ user, subscription }) => [
          subscription.who,
          { user, subscription },
        ]),
      );
      const all = () => [...open.values()].map(({ subscription }) => subscription);
      await allHear(all());
      for (const [before, percentage] of [
        [0, 1],
        [1, 10],
        [10, 50],
        [50, 100],
      ] as const) {
        await course.enforce(percentage);
        const moved = USERS.filter((user) => getsCandidate(user, percentage) && !getsCandidate(user, before));
        assert.equal(moved.length, 1);
        await eventually("the connections of those who get the candidate now are closed", () => {
          publish();
          return [...open.values()].every(
            ({ user, subscription }) => (subscription.closed() !== undefined) === moved.includes(user),
          );
        });
        for (const [who, { user, subscription }] of open) {
          if (!moved.includes(user)) continue;
          assert.deepEqual(subscription.closed(), { code: 1012, reason: "POLICY_CHANGED" }, who);
          assert.deepEqual(subscription.arms, ["stable"], who);
          subscription.assertWhole();
          const version = who.endsWith("HTTP/2") ? "HTTP/2" : "HTTP/1.1";
          open.set(who, { user, subscription: await overSocket(user, version) });
        }
        await allHear(all());
      }
      await course.promote();
      await allHear(all());
      await allHear(all());
      for (const subscription of all()) {
        assert.equal(subscription.closed(), undefined, subscription.who);
        assert.deepEqual(subscription.arms, ["candidate"], subscription.who);
        subscription.assertWhole();
      }
    });

    it("close with 4403 where the set that they change to does not permit the connection, and go on for everybody else", async () => {
      const subscriptions = await everybody((user, version) => overSocket(user, version, "/live"));
      await allHear(subscriptions.map(({ subscription }) => subscription));
      await course.enforce(50);
      await eventually("the connections of those who get the candidate are closed", () => {
        publish();
        return subscriptions.every(
          ({ user, subscription }) => (subscription.closed() !== undefined) === getsCandidate(user, 50),
        );
      });
      await course.abort();
      await allHear(subscriptions.map(({ subscription }) => subscription));
      for (const { user, subscription } of subscriptions) {
        const { who } = subscription;
        const expected = getsCandidate(user, 50) ? { code: 4403, reason: "POLICY_CHANGED" } : undefined;
        assert.deepEqual(subscription.closed(), expected, who);
        assert.deepEqual(subscription.arms, ["stable"], who);
        subscription.assertWhole();
      }
    });

    it("over Server-Sent Events keep the arm of their request until they end", async () => {
      const before = await everybody(overEvents);
      await allHear(before.map(({ subscription }) => subscription));
      await course.enforce(50);
      const during = await everybody(overEvents);
      const all = [...before, ...during].map(({ subscription }) => subscription);
      await allHear(all);
      await course.abort();
      await allHear(all);
      const after = await everybody(overEvents);
      all.push(...after.map(({ subscription }) => subscription));
      await allHear(all);
      for (const [subscriptions, percentage] of [
        [before, 0],
        [during, 50],
        [after, 0],
      ] as const)
        for (const { user, subscription } of subscriptions) {
          const arm: Arm = getsCandidate(user, percentage) ? "candidate" : "stable";
          assert.deepEqual(subscription.arms, [arm], `${subscription.who}, begun at ${percentage} %`);
          assert.equal(subscription.closed(), undefined, subscription.who);
          subscription.assertWhole();
        }
    });
  });
