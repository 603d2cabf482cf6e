import assert from "node:assert/strict";
import type { Denial } from "../../src/decision/types.ts";
import { encodeMetadata } from "../../src/extauthz/encode.ts";
import { allowed, denied, envoys, openCheckWorld, type Answer } from "./support/check-world.ts";
import { CHECK_RESPONSE, decodeWith } from "./support/protos.ts";

describe("extauthz: check says which record a decision has", () => {
  let world: Awaited<ReturnType<typeof openCheckWorld>>;
  before(async () => {
    world = await openCheckWorld();
  });
  afterEach(() => world.flush());
  after(() => world.close());

  const said = ({ dynamic_metadata: metadata }: Answer, key: string) => metadata?.fields?.[key]?.stringValue;
  const CASES: readonly (readonly [
    path: string,
    claims: Record<string, unknown> | undefined,
    ok: boolean,
  ])[] = [
    ["/public?key=hidden", undefined, true],
    ["/public?key=hidden", undefined, true],
    ["/me", { sub: "u-1" }, true],
    ["/masked", { role: "viewer" }, true],
    ["/kept", undefined, true],
    ["/admin?a=b", { role: "viewer" }, false],
    ["/nowhere;x=hidden", undefined, false],
  ];

  it("by its id, also where answers are the same for many, and what they say otherwise stays", async () => {
    const [plain, told] = [world.checkOf(), world.checkOf({ records: { path: false } })];
    const ids: (string | undefined)[] = [];
    for (const [path, claims, ok] of CASES) {
      const request = await world.get(path, claims);
      const without = await plain.ask(request);
      const bytes = (await told.check(request, { deadline: Number.POSITIVE_INFINITY })) as Buffer;
      const answer = decodeWith(envoys, CHECK_RESPONSE, bytes) as Answer;
      if (ok) assert.deepEqual(allowed(answer), allowed(without), path);
      else assert.equal(denied(answer).status, denied(without).status, path);
      const id = said(answer, "record_id") ?? "";
      ids.push(id);
      // this reader takes the last of two messages where Envoy merges them, as protobuf wants it (e2e/outcomes)
      const appended = encodeMetadata({ record_id: id });
      assert.deepEqual(bytes.subarray(-appended.length), appended);
      const rest = decodeWith(envoys, CHECK_RESPONSE, bytes.subarray(0, -appended.length)) as Answer;
      const members = (one: Answer) => Object.keys(one.dynamic_metadata?.fields ?? {}).sort();
      assert.deepEqual(members(rest), members(without));
      assert.ok(members(rest).includes("final"));
      if (said(rest, "plan") !== undefined) assert.equal(said(rest, "decision_id"), id);
      assert.equal(said(without, "record_id"), undefined);
    }
    assert.deepEqual((await told.records()).map(({ decision_id }) => decision_id).sort(), ids.sort());
    assert.equal(new Set(ids).size, CASES.length);
  });

  it("with the path as the record has it, where that is asked for", async () => {
    const { ask, records } = world.checkOf({ records: { path: true } });
    const paths = new Map<string | undefined, string | undefined>();
    for (const [path, claims] of CASES) {
      const answer = await ask(await world.get(path, claims));
      paths.set(said(answer, "record_id"), said(answer, "record_path"));
    }
    for (const { decision_id, raw_path } of await records()) assert.equal(paths.get(decision_id), raw_path);
    assert.ok(![...paths.values()].some((path) => path?.includes("hidden")));
  });

  it("also of what is denied before it is evaluated, and nothing of what is no request", async () => {
    const shed = (): Denial => ({
      ...{ verdict: "DENY", reason: "OVERLOADED", clientIp: "", trustedPeer: false, accepted: [] },
    });
    const { ask, records } = world.checkOf({ records: { path: true }, shed });
    const answer = await ask(await world.get("/public"));
    assert.equal(said(await ask(Buffer.from("nonsense")), "record_id"), undefined);
    const [first] = await records();
    assert.equal(said(answer, "record_id"), first?.decision_id);
  });

  it("denies where that cannot be said", async () => {
    let calls = 0;
    const nextDecisionId = () => {
      calls += 1;
      if (calls === 1) throw new Error("on purpose");
      return `dec_${calls}`;
    };
    const { ask } = world.checkOf({ records: { path: true }, nextDecisionId });
    assert.equal(denied(await ask(await world.get("/public"))).status, 500);
    assert.equal(said(await ask(await world.get("/public")), "record_id"), "dec_2");
  });
});
