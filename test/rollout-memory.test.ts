import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RolloutSettings } from "../src/decision/rollout/rollout-controller.ts";
import { createRolloutMemory, type RememberedTerms } from "../src/processes/gateway/rollout-memory.ts";

const GUARD = { windowMs: 60_000, minRequests: 100, denialIncrease: 0.05, errorIncrease: 0.01 };
const SETTINGS: RolloutSettings = {
  ...{ mode: "enforce", percentage: 0, stickyBy: "user", steps: [1, 10, 100], stepPauseMs: 60_000 },
  guard: { ...GUARD, slowdown: 5, ignoredCallers: 5 },
};
const LOCAL: RememberedTerms = { key: "folder /candidate", settings: SETTINGS, retry: true };
const PUBLISHED: RememberedTerms = { key: "rol_1", settings: SETTINGS, retry: false };
const takenBack = { digest: "d", cause: "denials", detail: "denials: 90 %" } as const;

describe("what a gateway remembers of a rollout", () => {
  let directory: string;
  let file: string;
  const errors: string[] = [];
  const open = () => createRolloutMemory(file, { error: (_fields, message) => errors.push(message) });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "gatehouse-memory-"));
    file = join(directory, "rollout.json");
    errors.length = 0;
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it("is the step and what was taken back, of this rollout and this candidate", () => {
    assert.equal(open().recall(LOCAL, "d"), undefined);
    open().keep(LOCAL, { digest: "d", step: 2 });
    assert.deepEqual(open().recall(LOCAL, "d"), { step: 2 });
    assert.equal(open().recall(LOCAL, "other"), undefined);
    assert.equal(open().recall({ ...LOCAL, key: "folder /other" }, "d"), undefined);
    open().keep(LOCAL, { digest: "d", step: 0, takenBack });
    assert.deepEqual(open().recall(LOCAL, "d"), { step: 0, takenBack });
    open().keep(undefined, undefined);
    assert.equal(open().recall(LOCAL, "d"), undefined);
  });

  it("is not what other settings were for", () => {
    open().keep(LOCAL, { digest: "d", step: 2, takenBack });
    const longer = { ...LOCAL, settings: { ...SETTINGS, stepPauseMs: 1 } };
    assert.deepEqual(open().recall(longer, "d"), { step: 2 }, "another try, at the same step");
    const others = { ...LOCAL, settings: { ...SETTINGS, steps: [5, 100] } };
    assert.deepEqual(open().recall(others, "d"), { step: 0 });
    open().keep(PUBLISHED, { digest: "d", step: 0, takenBack });
    const changed = { ...PUBLISHED, settings: { ...SETTINGS, percentage: 50, steps: [] } };
    assert.deepEqual(open().recall(changed, "d"), { step: 0, takenBack }, "never tried again");
  });

  it("is readable by its owner alone, and never taken from a file that is not one", async () => {
    open().keep(LOCAL, { digest: "d", step: 1 });
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    for (const text of ["", "{", "[]", '{"key":"k"}', '{"key":"k","settings":{},"state":{}}']) {
      await writeFile(file, text);
      assert.throws(open, /^Error: rollout\.state_file: .* is not the state of a rollout: delete it/);
    }
    await rm(file);
    const memory = open();
    await rm(directory, { recursive: true });
    memory.keep(LOCAL, { digest: "d", step: 1 });
    assert.match(errors.join(), /cannot write `rollout\.state_file`/);
  });
});
