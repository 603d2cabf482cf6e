import assert from "node:assert/strict";
import fc from "fast-check";
import {
  createSuiteSubject,
  replayChange,
  type ReplayedWitness,
} from "../../../src/decision/explain/index.ts";
import { diffPolicySets } from "../../../src/policy/analyze/index.ts";
import {
  compilePolicySet,
  UNAVAILABLE,
  type Attributes,
  type PolicySetIR,
} from "../../../src/policy/index.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

/** Rules that are compared, and examples that are sent. */
const RULES = 260;
const EXAMPLES = 200;

const text = fc.constantFrom("a", "ab", "abc", "b", "admin");
const name = fc.constantFrom(
  "user.role",
  "user.department",
  "user.plan",
  "path.id",
  "request.query.q",
  'request.headers["x-kind"]',
);
const test = fc.oneof(
  fc
    .tuple(name, fc.constantFrom("==", "!=", "<", ">="), text)
    .map(([read, op, value]) => `${read} ${op} "${value}"`),
  fc
    .tuple(fc.constantFrom("user.level", "user.age"), fc.constantFrom("<", ">", "<=", "=="), fc.nat(9))
    .map((words) => words.join(" ")),
  fc
    .tuple(name, fc.constantFrom("startsWith", "endsWith"), text)
    .map(([read, method, value]) => `${read}.${method}("${value}")`),
  fc
    .tuple(name, fc.uniqueArray(text, { minLength: 1, maxLength: 3 }))
    .map(([read, all]) => `${read} in ${JSON.stringify(all)}`),
  fc
    .tuple(fc.constantFrom("user.permissions", "user.groups"), text)
    .map(([read, value]) => `${read}.includes("${value}")`),
  fc.constantFrom(
    "user.id == path.id",
    "customer.id == path.id",
    "user.role != user.department",
    "user.active",
    "not exists(user.plan)",
    "exists(request.query.q)",
    "user.plan == null",
  ),
);

/** A condition, and the same with a part less, another part, or without a restriction. */
const changed = fc
  .tuple(test, test, test, fc.nat(4))
  .map(([one, other, third, kind]): readonly [before: string, after: string] => {
    const before = `${one} and (${other})`;
    if (kind === 0) return [before, one];
    if (kind === 1) return [before, `${one} or (${other})`];
    if (kind === 2) return [before, `(${before}) or (${third})`];
    if (kind === 3) return [before, `${one} and not (${other})`];
    return [`${before} and not (${third})`, before];
  });

/** Members of `user` that no token has without a mapping. */
const CLAIMS = ["department", "plan", "level", "age", "active", "permissions", "groups"];

const PAIRS = fc.sample(changed, { numRuns: RULES, seed: 15 });

function textOf(version: string, side: 0 | 1): string {
  const rules = PAIRS.map(
    (pair, index) => `  - resource: "GET /rule${index}/{id}"\n    condition: ${JSON.stringify(pair[side])}\n`,
  );
  return `version: ${version}\npolicies:\n  - resource: GET /version\n    condition: ${String(side === 1)}\n${rules.join("")}`;
}

function compiled(set: string): PolicySetIR {
  const { ir, diagnostics } = compilePolicySet([{ name: "default.yaml", text: set }]);
  assert.ok(ir, JSON.stringify(diagnostics.filter(({ severity }) => severity === "error")));
  return ir;
}

/** Claims that a token refers to without containing them are unavailable (OpenID Connect Core 1.0, section 5.6.2). */
function claimsOf({ id, ...claims }: Attributes, customer: Attributes = {}): Record<string, unknown> {
  const [omitted, contained] = [true, false].map((isOmitted) =>
    Object.entries(claims).filter(([, value]) => (value === UNAVAILABLE) === isOmitted),
  );
  return {
    ...Object.fromEntries(contained ?? []),
    sub: id,
    ...(customer["id"] !== undefined && { customer_id: customer["id"] }),
    ...(omitted?.length !== 0 && {
      _claim_names: Object.fromEntries((omitted ?? []).map(([claim]) => [claim, "elsewhere"])),
      _claim_sources: { elsewhere: { endpoint: "https://claims.example" } },
    }),
  };
}

describe("end to end: examples of what a change permits", function () {
  this.timeout(240_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  const texts = [textOf("v1", 0), textOf("v2", 1)] as const;

  before(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": texts[0] },
      config: {
        identity: {
          issuer: issuer.url,
          audience: issuer.audience,
          claims: Object.fromEntries(CLAIMS.map((claim) => [`user.${claim}`, claim])),
        },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  it("are denied before it and permitted after it by the gateway", async () => {
    const [before, after] = [compiled(texts[0]), compiled(texts[1])];
    const [old, now] = [createSuiteSubject(before), createSuiteSubject(after)];
    const examples: ReplayedWitness[] = [];
    for (const change of diffPolicySets(before, after)) {
      const { gained, resource } = await replayChange(change, old, now);
      if (gained !== undefined && "input" in gained && resource !== "GET /version") examples.push(gained);
    }
    assert.ok(examples.length >= EXAMPLES, String(examples.length));
    const sent = examples.slice(0, EXAMPLES);
    const wrong = async (expected: readonly number[]) => {
      const found: string[] = [];
      for (const example of sent) {
        const status = await send(example);
        if (!expected.includes(status)) found.push(`${status}: ${JSON.stringify(example.input)}`);
      }
      return found;
    };
    assert.deepEqual(await wrong([401, 403]), []);
    await gateway.writePolicies({ "default.yaml": texts[1] });
    await eventually("the changed set", async () => (await fetch(`${gateway.url}/version`)).status === 200);
    assert.deepEqual(await wrong([200]), []);
  });

  async function send({ input }: ReplayedWitness): Promise<number> {
    const { request, user, customer } = input;
    const headers = new Headers(request.headers.map(([header, value]) => [header, value]));
    if (user !== undefined)
      headers.set("authorization", `Bearer ${await issuer.token(claimsOf(user, customer))}`);
    const { path = "/" } = request;
    const response = await fetch(gateway.url + path, { method: request.method, headers });
    await response.arrayBuffer();
    return response.status;
  }
});
