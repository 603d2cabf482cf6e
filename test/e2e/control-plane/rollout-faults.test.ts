import assert from "node:assert/strict";
import { eventually } from "../../support/eventually.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "../../support/control-plane.ts";
import { networkTo, type Network } from "../../support/partition.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { getsCandidate, type Arm } from "../../support/rollout.ts";
import {
  PLANE_CONFIG,
  startPublishedCourse,
  usersOfSteps,
  type PublishedCourse,
} from "../../support/rollout-course.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";

/** Every set masks a member of its own, so that each answer tells which set it is from. */
const MEMBERS = ["stable", "candidate", "later"] as const;
type Member = (typeof MEMBERS)[number];
const setOf = (masked: Member) => (version: string) => ({
  "default.yaml": `
version: ${version}
policies:
  - { resource: GET /who, condition: exists(user.id) }
response_masks:
  - { api_pattern: /who, fields: [{ name: ${masked}, condition: true, mask_type: full }] }
`,
});
const SHOWN = JSON.stringify(Object.fromEntries(MEMBERS.map((name) => [name, "shown"])));
const USERS = usersOfSteps(2);

describe("end to end: a rollout of a published set while something fails", function () {
  this.timeout(600_000);
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let network: Network;
  let course: PublishedCourse;
  let plane: ControlPlaneProcess;
  let tokens: Map<string, string>;
  let running: boolean;
  let histories: Map<string, Member[]>;
  /** Neither an answer nor the failure of a process that was killed. */
  let wrong: string[];
  let answered: number;
  let load: Promise<void>[];

  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    upstream.answer = (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(SHOWN);
    };
    tokens = new Map(
      await Promise.all(USERS.map(async (sub) => [sub, await issuer.token({ sub })] as const)),
    );
    course = await startPublishedCourse({
      ...{ backend: upstream.url, issuer },
      sets: { stable: setOf("stable"), candidate: setOf("candidate") },
      way: async (url) => (network = await networkTo(url)).url,
    });
    plane = course.plane;
  });
  beforeEach(async () => {
    await course.begin();
    [running, wrong, answered] = [true, [], 0];
    histories = new Map(USERS.map((user) => [user, []]));
    load = USERS.map(async (user) => {
      while (running) await note(user);
    });
    await eventually("everybody has an answer", () =>
      [...histories.values()].every(({ length }) => length > 0),
    );
  });
  afterEach(async () => {
    running = false;
    await Promise.all(load);
  });
  after(async () => {
    await course.gateway.stop();
    await network.close();
    await plane.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  async function note(user: string): Promise<void> {
    const headers = { authorization: `Bearer ${tokens.get(user)}` };
    const response = await fetch(`${course.gateway.url}/who`, { headers });
    const body = await response.text();
    // a worker that is killed takes what it was deciding with it
    if (response.status === 503) return;
    const masked =
      response.status === 200 ? MEMBERS.filter((name) => !body.includes(`"${name}":"shown"`)) : [];
    const [only] = masked;
    if (masked.length !== 1 || only === undefined) {
      wrong.push(`${user}: ${response.status} ${body}`);
      return;
    }
    answered += 1;
    const history = histories.get(user);
    if (history !== undefined && history.at(-1) !== only) history.push(only);
  }
  const settled = (what: string, memberFor: (user: string) => Member) =>
    eventually(what, () => [...histories].every(([user, history]) => history.at(-1) === memberFor(user)));
  const armAt =
    (percentage: number) =>
    (user: string): Arm =>
      getsCandidate(user, percentage) ? "candidate" : "stable";
  async function assertHistories(expected: (user: string) => readonly Member[]): Promise<void> {
    running = false;
    await Promise.all(load);
    assert.deepEqual(wrong, []);
    for (const [user, history] of histories) assert.deepEqual(history, expected(user), user);
  }
  const post = async (path: string) =>
    (await course.api("POST", `/policy-sets/default/rollout${path}`)).status;

  it("is promoted although a worker is killed meanwhile: nobody goes back", async () => {
    await course.enforce(50);
    await settled("half of them", armAt(50));
    const { workers } = await course.gateway.children();
    const [victim] = workers;
    assert.ok(victim !== undefined);
    const promoted = course.promote();
    process.kill(victim, "SIGKILL");
    await promoted;
    await eventually("another worker", async () => {
      const now = (await course.gateway.children()).workers;
      return now.length === workers.length && !now.includes(victim);
    });
    await settled("everybody has it", () => "candidate");
    const before = answered;
    await eventually("more answers", () => answered > before + 10 * USERS.length);
    await assertHistories(() => ["stable", "candidate"]);
  });

  it("goes on where it was when the control plane is killed and starts again", async () => {
    await course.enforce(10);
    await settled("a tenth of them", armAt(10));
    await plane.kill();
    const before = answered;
    await eventually("answers without it", () => answered > before + 10 * USERS.length);
    plane = await startControlPlaneProcess({
      config: PLANE_CONFIG,
      directory: plane.directory,
      ports: [plane.url.production, plane.url.sandbox],
    });
    await course.enforce(50);
    await settled("half of them", armAt(50));
    await course.promote();
    await settled("everybody has it", () => "candidate");
    await assertHistories(() => ["stable", "candidate"]);
  });

  it("ends in one way if it is promoted and aborted at once", async () => {
    const ends = new Set<string>();
    for (let round = 0; round < 4; round += 1) {
      if (round > 0) await course.begin();
      await course.enforce(50);
      await settled("half of them", armAt(50));
      for (const history of histories.values()) history.splice(0, history.length - 1);
      const paths = round % 2 === 0 ? ["/promote", "/abort"] : ["/abort", "/promote"];
      const statuses = await Promise.all([...paths, ...paths].map(post));
      assert.deepEqual(
        statuses.toSorted((a, b) => a - b),
        [200, 409, 409, 409],
      );
      const { state } = (await course.api("GET", "/policy-sets/default/rollout")).body.data as {
        state: string;
      };
      const [won] = [...paths, ...paths].filter((_, index) => statuses[index] === 200);
      assert.equal(state, won === "/promote" ? "promoted" : "aborted");
      ends.add(state);
      const last: Arm = state === "promoted" ? "candidate" : "stable";
      await settled(`everybody has the set that is in force after it was ${state}`, () => last);
      for (const [user, history] of histories)
        assert.deepEqual(history, [...new Set<Member>([armAt(50)(user), last])], `${user}, ${state}`);
    }
    assert.ok(ends.size > 0);
    assert.deepEqual(wrong, []);
  });

  it("is promoted while the gateway is away: nobody goes back, neither then nor afterwards", async () => {
    await course.enforce(50);
    await settled("half of them", armAt(50));
    network.cut("refused");
    assert.equal(await post("/promote"), 200);
    const before = answered;
    await eventually("answers meanwhile", () => answered > before + 10 * USERS.length);
    for (const [user, history] of histories) assert.equal(history.at(-1), armAt(50)(user), user);
    network.mend();
    await settled("everybody has it", () => "candidate");
    await assertHistories(() => ["stable", "candidate"]);
  });

  it("is promoted and replaced while the gateway is away: its callers never get the version before", async () => {
    await course.enforce(50);
    await settled("half of them", armAt(50));
    network.cut("refused");
    assert.equal(await post("/promote"), 200);
    const files = Object.entries(setOf("later")("later")).map(([name, text]) => ({ name, text }));
    assert.equal((await course.api("POST", "/policy-sets", { name: "default", files })).status, 201);
    network.mend();
    await settled("everybody has the later version", () => "later");
    await assertHistories((user) =>
      getsCandidate(user, 50) ? ["stable", "candidate", "later"] : ["stable", "later"],
    );
  });
});
