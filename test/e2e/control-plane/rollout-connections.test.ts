import assert from "node:assert/strict";
import { WebSocketServer } from "ws";
import { overHttp1, overHttp2 } from "../../support/asker.ts";
import { eventually } from "../../support/eventually.ts";
import { connectHttp2Socket } from "../../support/http2-socket.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { getsCandidate, type Arm } from "../../support/rollout.ts";
import {
  startFolderCourse,
  startPublishedCourse,
  usersOfSteps,
  type RolloutCourse,
} from "../../support/rollout-course.ts";
import { connectSocket, type Conversation } from "../../support/socket-client.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";

/**
 * Each arm permits what the other one denies, and masks what the other one shows, so that every answer and every message tells
 * which arm it was evaluated by. Neither permits `ancient`.
 */
const setOf = (arm: Arm) => (version: string) => {
  const isStable = arm === "stable";
  const masked = isStable ? "ssn" : "name";
  return {
    "default.yaml": `
version: ${version}
policies:
  - { resource: GET /people/old, condition: ${isStable} }
  - { resource: GET /people/new, condition: ${!isStable} }
response_masks:
  - { api_pattern: /people/*, fields: [{ name: ${masked}, condition: true, mask_type: full }] }
  - { api_pattern: /feed, fields: [{ name: ${masked}, condition: true, mask_type: full }] }
websocket_policies:
  - connection: { path: /feed, condition: exists(user.id) }
    message_types:
      - { type: old, condition: ${isStable} }
      - { type: new, condition: ${!isStable} }
      - { type: ancient, condition: false }
      - { type: fence, condition: true }
  - connection: { path: /leave, condition: ${isStable ? "exists(user.id)" : 'user.role == "admin"'} }
  - connection: { path: /join, condition: ${isStable ? 'user.role == "admin"' : "exists(user.id)"} }
`,
  };
};
const SETS = { stable: setOf("stable"), candidate: setOf("candidate") };
const PERSON = { name: "Iris", ssn: "123-45-6789" };
const USERS = usersOfSteps(2);
const VERSIONS = ["HTTP/1.1", "HTTP/2"] as const;
type Version = (typeof VERSIONS)[number];

/** @returns the arm by whose rules this was masked */
function armOfMask({ name, ssn }: Partial<typeof PERSON>): Arm | "neither" {
  if (name === PERSON.name && ssn !== undefined && ssn !== PERSON.ssn) return "stable";
  return ssn === PERSON.ssn && name !== undefined && name !== PERSON.name ? "candidate" : "neither";
}

/** The arms that somebody has met, one after the other. */
class History {
  readonly arms: Arm[] = [];
  count = 0;

  add(arm: Arm): void {
    this.count += 1;
    if (this.arms.at(-1) !== arm) this.arms.push(arm);
  }
}

for (const [kind, start] of [
  ["in a folder", startFolderCourse],
  ["that is published", startPublishedCourse],
] as const)
  describe(`end to end: open connections and a candidate ${kind}`, function () {
    this.timeout(600_000);
    let upstream: AnsweringUpstream;
    let server: WebSocketServer;
    let issuer: TestIssuer;
    let course: RolloutCourse;
    let tokens: Map<string, string>;
    /** What must not happen. */
    let wrong: string[];
    let running: boolean;
    let work: Promise<void>[];
    const opened: Conversation[] = [];

    before(async () => {
      [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
      upstream.answer = (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(PERSON));
      };
      server = new WebSocketServer({ server: upstream.server });
      server.on("connection", (socket) => {
        socket.on("error", () => undefined);
        socket.on("message", (data: Buffer) => {
          socket.send(JSON.stringify({ ...(JSON.parse(data.toString()) as object), ...PERSON }));
        });
      });
      tokens = new Map(
        await Promise.all(USERS.map(async (sub) => [sub, await issuer.token({ sub })] as const)),
      );
      course = await start({ backend: upstream.url, issuer, sets: SETS });
    });
    beforeEach(async () => {
      [wrong, running, work] = [[], true, []];
      await course.begin();
    });
    afterEach(async () => {
      running = false;
      for (const conversation of opened.splice(0)) conversation.close();
      await Promise.all(work);
    });
    after(async () => {
      await course.stop();
      server.close();
      await Promise.all([issuer.close(), upstream.close()]);
    });

    const headers = (user: string) => ({ authorization: `Bearer ${tokens.get(user)}` });

    async function open(user: string, version: Version, path: string): Promise<Conversation> {
      const { url } = course.gateway;
      const options = { headers: headers(user) };
      const conversation =
        version === "HTTP/2"
          ? await connectHttp2Socket(`${url}${path}`, options)
          : await connectSocket(`${url.replace("http", "ws")}${path}`, options);
      opened.push(conversation);
      return conversation;
    }

    /** Says one message of each type, again and again. */
    class Talk {
      readonly who: string;
      readonly user: string;
      readonly conversation: Conversation;
      readonly sent = new History();
      readonly received = new History();
      readonly #delivered = new Map<number, Set<string>>();
      #serial = 0;

      constructor(who: string, user: string, conversation: Conversation) {
        [this.who, this.user, this.conversation] = [who, user, conversation];
        conversation.listen((text) => {
          const message = JSON.parse(text) as { type: string; id?: number } & Partial<typeof PERSON>;
          // a notice about a denied message
          if (message.type === "error" || message.id === undefined) return;
          const arm = armOfMask(message);
          if (arm === "neither") wrong.push(`${who}: ${text}`);
          else this.received.add(arm);
          this.#delivered.get(message.id)?.add(message.type);
        });
      }

      async round(): Promise<void> {
        const id = (this.#serial += 1);
        const delivered = new Set<string>();
        this.#delivered.set(id, delivered);
        for (const type of ["old", "ancient", "new", "fence"])
          this.conversation.send(JSON.stringify({ type, id }));
        await eventually(
          `the fence of ${this.who}`,
          () => delivered.has("fence") || this.conversation.closed() !== undefined,
        );
        this.#delivered.delete(id);
        if (!delivered.has("fence")) return;
        if (delivered.has("ancient")) wrong.push(`${this.who}: ancient`);
        this.sent.add(delivered.has("old") ? "stable" : "candidate");
        this.sent.add(delivered.has("new") ? "candidate" : "stable");
      }

      async goOn(): Promise<void> {
        while (running && this.conversation.closed() === undefined) await this.round();
      }
    }

    async function talk(user: string, version: Version): Promise<Talk> {
      const conversation = await open(user, version, "/feed");
      assert.equal(conversation.refusal(), undefined);
      return new Talk(`${user} over ${version}`, user, conversation);
    }

    /** Asks for what one arm permits, then for what the other one does, again and again. */
    async function ask(user: string, version: Version, history: History): Promise<void> {
      const asker = (version === "HTTP/2" ? overHttp2 : overHttp1)(course.gateway.url);
      while (running)
        for (const path of ["/people/old", "/people/new"] as const) {
          const { status, body } = await asker.get(path, headers(user));
          const permitting = path === "/people/old" ? "stable" : "candidate";
          const arm = (status === 200) === (permitting === "stable") ? "stable" : "candidate";
          if (status !== 200 && status !== 403) wrong.push(`${user} over ${version}: ${status} ${path}`);
          else history.add(arm);
          if (status !== 200) continue;
          // the request by one set, and its response by another one
          const masked = armOfMask(JSON.parse(body) as Partial<typeof PERSON>);
          if (masked !== arm) wrong.push(`${user} over ${version}: ${path} is masked by ${masked}`);
        }
      asker.close();
    }

    /** Connections and requests of all users, all the time. */
    async function everybody() {
      const talks: Talk[] = [];
      const asking = new Map<string, { readonly user: string; readonly history: History }>();
      for (const user of USERS)
        for (const version of VERSIONS) {
          const one = await talk(user, version);
          talks.push(one);
          const history = new History();
          asking.set(one.who, { user, history });
          work.push(one.goOn(), ask(user, version, history));
        }
      const settled = (what: string, armFor: (user: string) => Arm) =>
        eventually(what, () => {
          const histories = [
            ...talks.map(({ user, sent }) => ({ user, history: sent })),
            ...talks.map(({ user, received }) => ({ user, history: received })),
            ...asking.values(),
          ];
          return histories.every(({ user, history }) => history.arms.at(-1) === armFor(user));
        });
      await settled("the stable set decides", () => "stable");
      return { talks, asking, settled };
    }

    const armAt = (percentage: number) => (user: string) =>
      getsCandidate(user, percentage) ? ("candidate" as const) : ("stable" as const);

    /** What was decided is explained by the set that the record names. */
    async function assertRecords(): Promise<void> {
      const { digest } = course;
      const expected = new Map([
        ["/people/old ALLOW", digest.stable],
        ["/people/old DENY", digest.candidate],
        ["/people/new ALLOW", digest.candidate],
        ["/people/new DENY", digest.stable],
      ]);
      const seen = new Set<string>();
      for (const { event, timestamp, resource, decision, policy_digest: named } of await records()) {
        const what = `${resource} ${decision}`;
        if (event !== undefined || !expected.has(what)) continue;
        seen.add(what);
        assert.equal(named, expected.get(what), `${String(timestamp)} ${what}`);
      }
      assert.deepEqual(seen, new Set(expected.keys()));
    }
    /** Those since the course began: earlier ones are of other versions. */
    const records = async () => {
      const known = new Set<unknown>([course.digest.stable, course.digest.candidate]);
      return (await course.gateway.audit()).filter(
        ({ event, policy_digest: named }) => event !== undefined || known.has(named),
      );
    };

    /** Each denied message of these is explained by the set that the record of its connection names for it. */
    async function assertConnectionRecords(talks: readonly Talk[]): Promise<void> {
      for (const { conversation } of talks) conversation.close();
      const handshakes = (await records()).filter(
        ({ event, resource }) => event === undefined && resource === "/feed",
      );
      const ended = await eventually("the records of all connections", async () => {
        const ids = new Set(handshakes.map(({ decision_id: id }) => id));
        const found = (await records()).filter(
          ({ event, decision_id: id }) => event === "connection" && ids.has(id),
        );
        return found.length === talks.length && found;
      });
      const { digest } = course;
      for (const { decision_id: id, policy_digests: sets = [], denied_messages: denied } of ended) {
        const handshake = handshakes.find(({ decision_id: one }) => one === id);
        assert.equal(handshake?.["policy_digest"], digest.stable);
        const isMoved = getsCandidate(String(handshake["user_id"]), 50);
        assert.deepEqual(sets, isMoved ? [digest.candidate, digest.stable] : []);
        const seen = new Set<string>();
        for (const { type, policy_digest: set = digest.stable } of denied as Record<string, string>[]) {
          seen.add(`${String(type)} ${set}`);
          if (type === "old") assert.equal(set, digest.candidate);
          if (type === "new") assert.equal(set, digest.stable);
        }
        assert.ok(seen.has(`new ${digest.stable}`) && seen.has(`ancient ${digest.stable}`));
        assert.equal(seen.has(`old ${digest.candidate}`), isMoved);
      }
    }

    it("change with it, each message by one arm, through every step and a promotion", async () => {
      const { talks, asking, settled } = await everybody();
      for (const percentage of [1, 10, 50, 100]) {
        await course.enforce(percentage);
        const armFor = armAt(percentage);
        await settled(`everybody has what ${percentage} % means`, armFor);
        for (const user of USERS.filter((_, index) => index % 2 === 0))
          for (const version of VERSIONS) {
            const fresh = await talk(user, version);
            await fresh.round();
            assert.deepEqual(fresh.sent.arms, [armFor(user)], `${fresh.who} at ${percentage} %`);
            fresh.conversation.close();
          }
      }
      await course.promote();
      const before = talks.map(({ sent }) => sent.count);
      await eventually("all connections go on", () =>
        talks.every(({ sent }, index) => sent.count > (before[index] ?? 0) + 4),
      );
      running = false;
      await Promise.all(work);
      assert.deepEqual(wrong, []);
      for (const { who, sent, received, conversation } of talks) {
        assert.deepEqual([sent.arms, received.arms], Array(2).fill(["stable", "candidate"]), who);
        assert.equal(conversation.closed(), undefined, who);
      }
      for (const [who, { history }] of asking) assert.deepEqual(history.arms, ["stable", "candidate"], who);
      await assertRecords();
    });

    it("go back when it is aborted, and only those that it decided for", async () => {
      const { talks, asking, settled } = await everybody();
      await course.enforce(50);
      await settled("half of them", armAt(50));
      await course.abort();
      await settled("all are back", () => "stable");
      running = false;
      await Promise.all(work);
      assert.deepEqual(wrong, []);
      const expected = (user: string) =>
        getsCandidate(user, 50) ? ["stable", "candidate", "stable"] : ["stable"];
      for (const { who, user, sent, received, conversation } of talks) {
        assert.deepEqual([sent.arms, received.arms], [expected(user), expected(user)], who);
        assert.equal(conversation.closed(), undefined, who);
      }
      for (const [who, { user, history }] of asking) assert.deepEqual(history.arms, expected(user), who);
      await assertRecords();
      await assertConnectionRecords(talks);
    });

    it("close with 1008 where the set that they change to does not permit them", async () => {
      /** A CLOSE goes in place of what passes. */
      const closings = async (conversations: ReadonlyMap<string, Conversation>, closes: Set<string>) => {
        await eventually("those that are no longer permitted are closed", () => {
          for (const conversation of conversations.values()) conversation.send("{}");
          return [...conversations].every(
            ([who, conversation]) => (conversation.closed() !== undefined) === closes.has(who),
          );
        });
        for (const who of closes)
          assert.deepEqual(conversations.get(who)?.closed(), { code: 1008, reason: "POLICY_CHANGED" }, who);
      };
      const openAll = async (users: readonly string[], path: string) => {
        const conversations = new Map<string, Conversation>();
        for (const user of users)
          for (const version of VERSIONS) {
            const conversation = await open(user, version, path);
            assert.equal(conversation.refusal(), undefined, `${user} over ${version}`);
            conversations.set(`${user} over ${version}`, conversation);
          }
        return conversations;
      };
      const whoOf = (users: readonly string[]) =>
        new Set(users.flatMap((user) => VERSIONS.map((version) => `${user} over ${version}`)));
      const moved = USERS.filter((user) => getsCandidate(user, 50));
      const others = USERS.filter((user) => !getsCandidate(user, 50));

      const leaving = await openAll(USERS, "/leave");
      await course.enforce(50);
      await closings(leaving, whoOf(moved));
      for (const version of VERSIONS) {
        for (const user of moved) assert.equal((await open(user, version, "/leave")).refusal(), 403);
        for (const user of others) assert.equal((await open(user, version, "/join")).refusal(), 403);
      }
      const joining = await openAll(moved, "/join");
      await course.abort();
      await closings(joining, whoOf(moved));
      // nothing has changed for them
      for (const who of whoOf(others)) {
        const conversation = leaving.get(who);
        conversation?.send('{"still":"here"}');
        await conversation?.message(`an echo for ${who}`, (text) => text.includes("still"));
      }
    });
  });
