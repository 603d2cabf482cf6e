import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { folderSource, type PolicySource } from "../../../src/decision/policies/policy-source.ts";
import { PolicySets } from "../../../src/decision/policies/policy-sets.ts";
import { PolicyStore } from "../../../src/decision/policies/policy-store.ts";
import { ControlPlaneClient, controlPlaneSource, StateFeed } from "../../../src/sync/index.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeControlPlane } from "../../support/fake-control-plane.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { ruleOf, silentLog } from "../support.ts";

/** What a source holds at a moment. */
type Content = "nothing" | "v1" | "v2" | "broken" | "unreadable";

const BROKEN = "policies:\n  - { resource: GET /x, condition: user.role = 1 }\n";
const textOf = (content: Content) => (content === "broken" ? BROKEN : ruleOf("true", `version: ${content}`));

/** A source of either kind, and how to change what is in it. */
interface Origin {
  readonly source: PolicySource;
  put(content: Content): Promise<void>;
  close(): Promise<void>;
}

async function folder(): Promise<Origin> {
  const directory = await temporaryDirectory();
  const inner = folderSource(directory);
  let unreadable = false;
  return {
    // a folder that cannot be read is a finding; that reading itself fails happens where the disk does
    source: {
      ...inner,
      read: (name, seen) =>
        unreadable ? Promise.reject(new Error("the disk fails")) : inner.read(name, seen),
    },
    async put(content) {
      unreadable = content === "unreadable";
      if (content === "nothing") await rm(join(directory, "main.yaml"), { force: true });
      else if (content !== "unreadable") await writeFile(join(directory, "main.yaml"), textOf(content));
    },
    close: () => rm(directory, { recursive: true }),
  };
}

async function controlPlane(): Promise<Origin> {
  const plane = await FakeControlPlane.start();
  const client = new ControlPlaneClient(plane.options);
  // never started: a set is asked for each time
  const feed = new StateFeed({ maxStaleMs: 60_000 }, { client, metrics: createMetrics(), log: silentLog });
  return {
    source: controlPlaneSource(client, feed),
    put(content) {
      plane.fault = ({ path }) =>
        content === "unreadable" && path.startsWith("policy-sets") ? { status: 503 } : undefined;
      if (content !== "nothing" && content !== "unreadable")
        plane.activate("main", {
          version: content,
          digest: content,
          files: [{ name: "main.yaml", text: textOf(content) }],
        });
      return Promise.resolve();
    },
    async close() {
      feed.close();
      client.close();
      await plane.close();
    },
  };
}

/** What is said in one state: by the log since the state before, by the metric, and by `/readyz`. */
interface Said {
  readonly log: readonly RegExp[];
  readonly failed: 0 | 1;
  readonly ok: boolean;
  readonly detail: RegExp;
}
type State = readonly [put: Content, said: Said];

const inForce = (version: string): Said => ({
  log: [/^policy set in force$/],
  failed: 0,
  ok: true,
  detail: new RegExp(`^main@${version} is in force$`),
});
const REFUSED = "no policy set is in force, so every request is denied";
const notThere: Readonly<Record<PolicySource["kind"], string>> = {
  folder: "policy set `main` not found",
  control_plane: "policy set `main` has no active version in the control plane",
};
const unread: Readonly<Record<PolicySource["kind"], string>> = {
  folder: "the disk fails",
  control_plane: "it says INTERNAL_ERROR",
};
const FINDING = String.raw`main\.yaml:2:\d+: .+`;

const withoutAny = (what: string, why: string): Said => ({
  log: [new RegExp(`^${what}; ${REFUSED}$`)],
  failed: 1,
  ok: false,
  detail: new RegExp(`^no policy set is in force: .*${why}`),
});
const withLast = (version: string, what: string, why: string): Said => ({
  log: [new RegExp(`^${what}; main@${version} stays in force$`)],
  failed: 1,
  ok: true,
  detail: new RegExp(`^main@${version} is in force; its newest version is not in force: .*${why}`),
});
const again = (said: Said): Said => ({ ...said, log: [] });

for (const [kind, originOf] of [
  ["folder", folder],
  ["control_plane", controlPlane],
] as const) {
  const absent = withoutAny("the policy set has errors", notThere[kind]);
  const broken = withoutAny("the policy set has errors", FINDING);
  const unreadable = withoutAny("cannot read the policy set", unread[kind]);
  const lastAndBroken = withLast("v1", "the policy set has errors", FINDING);
  const lastAndUnreadable: Said = {
    ...withLast("v1", "cannot read the policy set", unread[kind]),
    detail: new RegExp(
      `^main@v1 is in force; it is not known whether it is the newest version: ${unread[kind]}`,
    ),
  };
  const isNewestAgain: Said = { ...inForce("v1"), log: [/^main@v1 is the newest version again$/] };

  const walks: Readonly<Record<string, readonly State[]>> = {
    "none yet, then a good one": [
      ["nothing", absent],
      ["nothing", again(absent)],
      ["v1", inForce("v1")],
      ["v1", again(inForce("v1"))],
    ],
    "the first one is broken": [
      ["broken", broken],
      ["broken", again(broken)],
      ["v1", inForce("v1")],
    ],
    "the source cannot be read, and then has a broken one": [
      ["unreadable", unreadable],
      ["broken", broken],
      ["v2", inForce("v2")],
    ],
    "a good one, and then a broken one": [
      ["v1", inForce("v1")],
      ["broken", lastAndBroken],
      ["broken", again(lastAndBroken)],
      ["v1", inForce("v1")],
      ["broken", lastAndBroken],
      ["v2", inForce("v2")],
    ],
    "a good one, and then a source that cannot be read for a while": [
      ["v1", inForce("v1")],
      ["unreadable", lastAndUnreadable],
      ["unreadable", again(lastAndUnreadable)],
      ["v1", isNewestAgain],
    ],
    "a broken one behind a good one stays broken over a source that cannot be read": [
      ["v1", inForce("v1")],
      ["broken", lastAndBroken],
      ["unreadable", lastAndUnreadable],
      ["broken", lastAndBroken],
    ],
    ...(kind === "folder" && {
      "a good one that is gone": [
        ["v1", inForce("v1")],
        ["nothing", withLast("v1", "the policy set has errors", notThere.folder)],
        ["v1", inForce("v1")],
      ] as readonly State[],
    }),
  };

  describe(`decision: what is said about the policy set, from the ${kind.replace("_", " ")}`, () => {
    let origin: Origin;
    let metrics: Metrics;
    let said: string[];
    const log = {
      info: (_fields: object, message: string) => void said.push(message),
      warn: (_fields: object, message: string) => void said.push(message),
      error: (_fields: object, message: string) => void said.push(message),
    };
    beforeEach(async () => {
      origin = await originOf();
      metrics = createMetrics();
      said = [];
    });
    afterEach(() => origin.close());

    const check = async (status: { readonly ok: boolean; readonly detail: string }, expected: Said) => {
      assert.equal(said.length, expected.log.length, said.join("\n"));
      for (const [n, pattern] of expected.log.entries()) assert.match(said[n] ?? "", pattern);
      assert.equal(status.ok, expected.ok);
      assert.match(status.detail, expected.detail);
      const { values } = await metrics.policyReloadFailed.get();
      assert.deepEqual(
        values.map(({ labels, value }) => [labels.source, value]),
        [[kind, expected.failed]],
      );
      said = [];
    };

    for (const [what, states] of Object.entries(walks)) {
      it(what, async () => {
        const store = new PolicyStore(
          { source: origin.source, policySet: "main", refreshIntervalMs: 3_600_000, caseSensitive: false },
          { metrics, log },
        );
        assert.deepEqual(store.status(), {
          ok: false,
          detail: "no policy set is in force: `main` has not been read yet",
        });
        for (const [content, expected] of states) {
          await origin.put(content);
          await store.refresh();
          await check(store.status(), expected);
        }
        store.close();
      });
    }

    it("a good one that workers cannot load", async () => {
      let works = true;
      const store = new PolicyStore(
        { source: origin.source, policySet: "main", refreshIntervalMs: 3_600_000, caseSensitive: false },
        { metrics, log },
      );
      store.beforeChange(() => {
        if (!works) throw new Error("worker 1: no memory is left");
      });
      works = false;
      await origin.put("v1");
      await store.refresh();
      await check(
        store.status(),
        withoutAny("main@v1 cannot be put in force", "worker 1: no memory is left"),
      );
      works = true;
      await store.refresh();
      await check(store.status(), inForce("v1"));
      works = false;
      await origin.put("v2");
      await store.refresh();
      await check(
        store.status(),
        withLast("v1", "main@v2 cannot be put in force", "worker 1: no memory is left"),
      );
      await origin.put("v1");
      await store.refresh();
      await check(store.status(), isNewestAgain);
      store.close();
    });
  });
}

describe("decision: what is said about customers' policy sets", () => {
  it("in each state", async () => {
    const plane = await FakeControlPlane.start();
    const client = new ControlPlaneClient(plane.options);
    const metrics = createMetrics();
    const feed = new StateFeed({ maxStaleMs: 60_000 }, { client, metrics, log: silentLog });
    await feed.start();
    let said: string[] = [];
    const say = (_fields: object, message: string) => void said.push(message);
    const sets = new PolicySets(
      {
        source: controlPlaneSource(client, feed),
        refreshIntervalMs: 3_600_000,
        caseSensitive: false,
        publish: () => Promise.resolve(),
      },
      { metrics, log: { info: say, warn: say, error: say } },
    );
    const gauges = async () =>
      Object.fromEntries(
        (await metrics.customerPolicySets.get()).values.map(({ labels, value }) => [
          String(labels.state),
          value,
        ]),
      );
    const activate = (version: Content) => {
      plane.activate("own", {
        version,
        digest: version,
        files: [{ name: "own.yaml", text: textOf(version) }],
      });
    };
    const settled = async (message: RegExp) => {
      await eventually(`${String(message)} is said`, () => said.some((one) => message.test(one)));
      await sets.settled();
      said = [];
    };
    try {
      assert.equal(sets.status(), undefined);
      sets.want(["own"]);
      await settled(
        /^the policy set has errors; it is not in force, so requests of customers whose policies name it are denied$/,
      );
      assert.deepEqual(await gauges(), { loaded: 0, missing: 1, outdated: 0 });
      assert.deepEqual(sets.status(), {
        ok: false,
        detail:
          "`own`: no policy set is in force: own:1:1: policy set `own` has no active version in the control plane",
      });
      activate("broken");
      await settled(/^the policy set has errors; it is not in force/);
      assert.deepEqual(await gauges(), { loaded: 0, missing: 1, outdated: 0 });
      activate("v1");
      await settled(/^policy set in force$/);
      assert.deepEqual(await gauges(), { loaded: 1, missing: 0, outdated: 0 });
      assert.deepEqual(sets.status(), { ok: true, detail: "1 are in force" });
      activate("broken");
      await settled(/^the policy set has errors; own@v1 stays in force$/);
      assert.deepEqual(await gauges(), { loaded: 1, missing: 0, outdated: 1 });
      assert.match(
        sets.status()?.detail ?? "",
        /^`own`: own@v1 is in force; its newest version is not in force: own\.yaml:2:/,
      );
      activate("v2");
      await settled(/^policy set in force$/);
      assert.deepEqual(await gauges(), { loaded: 1, missing: 0, outdated: 0 });
      // the gateway's own set is not meant
      assert.deepEqual((await metrics.policyReloadFailed.get()).values, []);
    } finally {
      sets.close();
      feed.close();
      client.close();
      await plane.close();
    }
  });
});
