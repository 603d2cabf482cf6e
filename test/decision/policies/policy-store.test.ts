import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, open, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { folderSource } from "../../../src/decision/policies/policy-source.ts";
import { PolicyStore } from "../../../src/decision/policies/policy-store.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";
import { eventually } from "../../support/eventually.ts";
import { ruleOf, silent } from "../support.ts";

const versioned = (version: string) => ruleOf("true", `version: ${version}`);
const BROKEN = "policies:\n  - { resource: GET /x, condition: user.role = 1 }\n";

const labelOf = (store: PolicyStore) => store.current?.label;
const digestOf = (store: PolicyStore) => store.current?.digest;
const rulesOf = (store: PolicyStore) => store.current?.ir.rules;

describe("decision: policy store", () => {
  let directory: string;
  let metrics: Metrics;
  let errors: [Record<string, unknown>, string][];
  const stores: PolicyStore[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-store-"));
    metrics = createMetrics();
    errors = [];
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) store.close();
    await rm(directory, { recursive: true, force: true });
  });

  const write = async (name: string, text: string | Buffer) => {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  /** Not started: it looks only when a test says so. */
  const storeOf = (refreshIntervalMs = 3_600_000, source = folderSource(directory)) => {
    const store = new PolicyStore(
      { source, policySet: "main", refreshIntervalMs, caseSensitive: false },
      {
        metrics,
        log: {
          info: silent,
          warn: silent,
          error: (context, message) => errors.push([context as Record<string, unknown>, message]),
        },
      },
    );
    stores.push(store);
    return store;
  };
  const loaded = async (text = versioned("v1")) => {
    await write("main.yaml", text);
    const store = storeOf();
    await store.refresh();
    assert.ok(store.current);
    return store;
  };
  const reloads = async (result: string) =>
    (await metrics.policyReloads.get()).values.find(({ labels }) => labels.result === result)?.value ?? 0;
  const failing = async () => (await metrics.policyReloadFailed.get()).values[0]?.value ?? 0;

  it("loads the set, and says which", async () => {
    const store = await loaded();
    assert.equal(labelOf(store), "main@v1");
    assert.equal(await reloads("loaded"), 1);
    assert.equal(await failing(), 0);
    const { values } = await metrics.policySetInfo.get();
    assert.deepEqual(
      values.map(({ labels }) => labels),
      [{ policy_set: "main@v1", digest: digestOf(store) }],
    );
    assert.ok(((await metrics.policyReloadTime.get()).values[0]?.value ?? 0) > 0);
  });

  it("keeps the very same snapshot while nothing changes", async () => {
    const store = await loaded();
    const before = store.current;
    await store.refresh();
    await write("main.yaml", versioned("v1"));
    await store.refresh();
    assert.equal(store.current, before);
    assert.deepEqual([await reloads("loaded"), await reloads("unchanged")], [1, 2]);
  });

  it("puts a change in force, and forgets the former set's metric", async () => {
    const store = await loaded();
    await write("main.yaml", versioned("v2"));
    await store.refresh();
    assert.equal(labelOf(store), "main@v2");
    assert.equal((await metrics.policySetInfo.get()).values.length, 1);
  });

  it("keeps the last good set while a broken one is there, and comes back to it or to a better one", async () => {
    const store = await loaded();
    const good = store.current;
    await write("main.yaml", BROKEN);
    await store.refresh();
    assert.equal(store.current, good);
    assert.deepEqual([await reloads("failed"), await failing()], [1, 1]);
    assert.match(String(errors[0]?.[0]["report"]), /main\.yaml:2:/);
    await store.refresh();
    assert.equal(store.current, good);
    assert.equal(await failing(), 1, "still broken");

    await write("main.yaml", versioned("v1"));
    await store.refresh();
    assert.equal(digestOf(store), good?.digest);
    assert.equal(await failing(), 0);
    await write("main.yaml", versioned("v2"));
    await store.refresh();
    assert.equal(labelOf(store), "main@v2");
  });

  it("has no set while there was never a good one", async () => {
    await write("main.yaml", BROKEN);
    const store = storeOf();
    await store.refresh();
    assert.equal(store.current, undefined);
    await write("main.yaml", versioned("v1"));
    await store.refresh();
    assert.equal(labelOf(store), "main@v1");
  });

  it("keeps the set when its file is deleted, and loads what comes in its place", async () => {
    const store = await loaded();
    const good = store.current;
    await rm(join(directory, "main.yaml"));
    await store.refresh();
    assert.equal(store.current, good);
    assert.equal(await failing(), 1);
    await write("main/a.yaml", versioned("v3"));
    await store.refresh();
    assert.equal(labelOf(store), "main@v3");
    assert.equal(await failing(), 0);
  });

  it("refuses a set that is both a file and a folder", async () => {
    const store = await loaded();
    await write("main/a.yaml", versioned("v2"));
    await store.refresh();
    assert.equal(labelOf(store), "main@v1");
    assert.equal(await failing(), 1);
  });

  it("merges the files of a folder in the order of their names, and reads nothing else there", async () => {
    const rule = (path: string) => `  - { resource: "GET ${path}", condition: "true" }\n`;
    await write("main/b.yaml", `policies:\n${rule("/b")}`);
    await write("main/a.yaml", `version: v5\npolicies:\n${rule("/a")}`);
    await write("main/B.yaml", `policies:\n${rule("/capital")}`);
    for (const other of ["main/a.test.yaml", "main/.hidden.yaml", "main/notes.md", "main/deep/c.yaml"])
      await write(other, "nonsense: [");
    const store = storeOf();
    await store.refresh();
    assert.equal(labelOf(store), "main@v5");
    assert.deepEqual(
      rulesOf(store)?.map(({ pattern, at }) => [pattern, at.file]),
      [
        ["/capital", "main/B.yaml"],
        ["/a", "main/a.yaml"],
        ["/b", "main/b.yaml"],
      ],
    );
  });

  it("refuses an empty folder", async () => {
    await mkdir(join(directory, "main"));
    const store = storeOf();
    await store.refresh();
    assert.equal(store.current, undefined);
  });

  it("refuses a file that is not UTF-8, also when it stands beside good ones", async () => {
    const store = await loaded();
    await write("main.yaml", Buffer.concat([Buffer.from(versioned("v2")), Buffer.from([0x23, 0xff])]));
    await store.refresh();
    assert.equal(labelOf(store), "main@v1");
    await rm(join(directory, "main.yaml"));
    await write("main/a.yaml", versioned("v2"));
    await write("main/b.yaml", Buffer.from([0x23, 0xc0, 0xaf]));
    await store.refresh();
    assert.equal(labelOf(store), "main@v1");
    await rm(join(directory, "main/b.yaml"));
    await store.refresh();
    assert.equal(labelOf(store), "main@v2");
  });

  it("refuses a set of which one file cannot be read, and loads the rest once that file is gone", async () => {
    await write("main/a.yaml", versioned("v1"));
    const store = storeOf();
    await store.refresh();
    await write("main/a.yaml", versioned("v2"));
    await mkdir(join(directory, "main/b.yaml")); // cannot be read as a file, whoever runs the test
    await store.refresh();
    assert.equal(labelOf(store), "main@v1");
    assert.equal(await failing(), 1);
    await rm(join(directory, "main/b.yaml"), { recursive: true });
    await store.refresh();
    assert.equal(labelOf(store), "main@v2");
    assert.equal(await failing(), 0);
  });

  it("tells its listeners before a set is in force, and waits for them", async () => {
    const store = await loaded();
    const heard: string[] = [];
    store.beforeChange(async (next) => {
      await delay(1);
      heard.push(`${labelOf(store) ?? "-"} -> ${next.label}`);
    });
    await write("main.yaml", versioned("v2"));
    await store.refresh();
    await store.refresh();
    await write("main.yaml", BROKEN);
    await store.refresh();
    assert.deepEqual(heard, ["main@v1 -> main@v2"]);
  });

  it("leaves the old set in force when a listener throws, and asks it again at the next look", async () => {
    const store = await loaded();
    let broken = true;
    store.beforeChange(() => {
      if (broken) throw new Error("routes cannot be written");
    });
    await write("main.yaml", versioned("v2"));
    await store.refresh();
    await store.refresh();
    assert.equal(labelOf(store), "main@v1");
    assert.equal(await failing(), 1);
    assert.equal(await reloads("failed"), 2);
    broken = false;
    await store.refresh();
    assert.equal(labelOf(store), "main@v2");
    assert.equal(await failing(), 0);
  });

  it("puts no half of a file in force while it is being written, piece by piece", async () => {
    const head = (version: number) => `version: v${version}\npolicies:\n`;
    const rules = (version: number) =>
      Array.from(
        { length: 20 },
        (_, rule) => `  - { resource: "GET /${version}/${rule}", condition: "true" }\n`,
      );
    await write("main.yaml", head(0) + rules(0).join(""));
    // between any two looks one more piece is written: how fast this machine is decides nothing
    let writeNext = async () => Promise.resolve();
    const waited: number[] = [];
    const source = folderSource(directory, (ms) => {
      waited.push(ms);
      return writeNext();
    });
    const store = storeOf(undefined, source);
    await store.refresh();
    const seen: [string, number][] = [];
    store.beforeChange(({ label, ir }) => void seen.push([label, ir.rules.length]));
    for (let version = 1; version <= 3; version += 1) {
      const file = await open(join(directory, "main.yaml"), "w");
      await file.write(head(version) + rules(version).slice(0, 5).join(""));
      const left = rules(version).slice(5);
      writeNext = async () => {
        const rule = left.shift();
        if (rule !== undefined) await file.write(rule);
      };
      await store.refresh();
      await file.close();
      assert.deepEqual(left, []);
    }
    assert.ok(waited.length > 3 * 15 && waited.every((ms) => ms >= 50), String(waited));
    assert.deepEqual(seen, [
      ["main@v1", 20],
      ["main@v2", 20],
      ["main@v3", 20],
    ]);
  });

  it("answers looks that come while one is under way with what is there after it", async () => {
    const store = await loaded();
    const first = store.refresh();
    await write("main.yaml", versioned("v2"));
    await Promise.all([first, store.refresh(), store.refresh()]);
    assert.equal(labelOf(store), "main@v2");
  });

  it("loads ten thousand rules without holding up the event loop all the while", async () => {
    const rules = Array.from(
      { length: 10_000 },
      (_, rule) => `  - { resource: "GET /api/r${rule}/{id}", condition: user.role == "r${rule}" }\n`,
    );
    await write("main.yaml", `policies:\n${rules.join("")}`);
    const store = storeOf();
    let turns = 0;
    let done = false;
    const turn = async () => {
      while (!done) {
        await new Promise((resolve) => setImmediate(resolve));
        turns += 1;
      }
    };
    const turning = turn();
    await store.refresh();
    done = true;
    await turning;
    assert.equal(rulesOf(store)?.length, 10_000);
    const match = store.current?.matcher.match("GET", ["api", "r9999", "7"]);
    assert.ok(match?.kind === "rule" && match.rule.id === "policies[9999]");
    assert.ok(turns > 10, `${turns} turns of the event loop`);
  });

  it("notices a change by itself, and none after it was closed", async () => {
    await write("main.yaml", versioned("v1"));
    const store = storeOf(100);
    await store.start();
    assert.equal(labelOf(store), "main@v1");
    await write("main.yaml", versioned("v2"));
    await eventually("the second set", () => labelOf(store) === "main@v2");
    store.close();
    await write("main.yaml", versioned("v3"));
    await delay(300);
    assert.equal(labelOf(store), "main@v2");
  });

  it("follows a folder that is not there yet", async () => {
    await chmod(directory, 0o700);
    const store = storeOf(100);
    await store.start();
    assert.equal(store.current, undefined);
    await write("main/a.yaml", versioned("v1"));
    await eventually("the first set", () => labelOf(store) === "main@v1");
  });
});
