import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { acceptedBy } from "../../../src/processes/gateway/accepted-ambiguities.ts";
import { REFUSAL_REASONS } from "../../../src/refusal-reasons.ts";
import type { ReadOptions } from "../../../src/request/index.ts";
import { compatibilityReference } from "../../support/compatibility-reference.ts";
import { urlCases, urlFiles, type AcceptEntry, type UrlCase } from "../../support/url-cases.ts";
import { accessOf, deciderOf, outcome, snapshotOf, UNUSED_VERIFIER } from "../support.ts";

const page = fileURLToPath(new URL("../../../docs/compatibility.md", import.meta.url));

function accepting(...entries: readonly AcceptEntry[]): ReadOptions {
  const loaded = loadGatewayConfig({ env: {}, overrides: { "gateway.accept_ambiguous": entries } });
  assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
  return acceptedBy(loaded.config.gateway);
}

async function decide({ method, target, headers, rule }: UrlCase, accept: ReadOptions) {
  const snapshot = snapshotOf(`policies:\n  - { resource: "${rule ?? "* /**"}", condition: "true" }\n`);
  return deciderOf(snapshot, { verifier: UNUSED_VERIFIER, accept })(
    accessOf({ method, path: target, headers }),
  );
}

describe("decision: URLs of real frameworks", () => {
  for (const { groups } of urlFiles) {
    for (const { framework, urls } of groups) {
      for (const one of urls) {
        const { method, target, refused, reason, accept } = one;
        it(`${framework}: ${method} ${target}`, async () => {
          const strict = await decide(one, {});
          if (refused === undefined || accept === undefined) {
            assert.equal(outcome(strict), "ALLOW CONDITION_TRUE", strict.detail);
            assert.deepEqual(strict.accepted, []);
            return;
          }
          assert.equal(outcome(strict), `DENY ${reason ?? REFUSAL_REASONS[refused]}`);
          assert.ok(strict.detail?.startsWith(`${refused}: `), strict.detail);
          const lenient = await decide(one, accepting(accept));
          assert.equal(outcome(lenient), "ALLOW CONDITION_TRUE", lenient.detail);
          assert.deepEqual(lenient.accepted.toSorted(), accept.checks.toSorted());
          // the entry has no check that is not needed, and works nowhere else
          for (const check of accept.checks.length === 1 ? [] : accept.checks) {
            const fewer: AcceptEntry["checks"] = accept.checks.filter((other) => other !== check);
            assert.equal((await decide(one, accepting({ ...accept, checks: fewer }))).verdict, "DENY", check);
          }
          const elsewhere = accepting({ ...accept, path: "/elsewhere/**" });
          assert.equal((await decide(one, elsewhere)).verdict, "DENY");
        });
      }
    }
  }

  it("are many, each written once", () => {
    const written = urlCases.map(({ method, target }) => `${method} ${target}`);
    assert.equal(new Set(written).size, written.length);
    assert.ok(written.length >= 175, String(written.length));
  });

  it("are documented (GATEHOUSE_UPDATE=1 writes it)", () => {
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(page, compatibilityReference());
    assert.equal(readFileSync(page, "utf8"), compatibilityReference());
  });
});
