import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { bearer, snapshotOf, useIssuer } from "../../decision/support.ts";
import { useServedDoors } from "../../decision/point/support/served-doors.ts";
import { expectedAt, lineOf, TABLE, titleOf, type Case } from "../support/case-table.ts";
import { statusFor } from "./support/api-gateway.ts";
import { arnOf, askedArn, eventOf, FORMS, tokenEvent, type Form } from "./support/events.ts";
import { serveAws } from "./support/served-aws.ts";

const AWS = parse(readFileSync(new URL("../../cases/doors/aws.yaml", import.meta.url), "utf8")) as Readonly<
  Record<"http_apis" | "decoded_queries" | "never_written" | "token", readonly Case[]>
>;

const pairOf = (header: string) => {
  const [name = "", ...value] = header.split(":");
  return [name, value.join(":").trim()] as const;
};

/** Of the first of these tables that has the row; each row whose event hides something has a line of its own. */
function expected(form: Form, row: Case): string {
  const [, target] = lineOf(row.line);
  const [path = "", query = ""] = target.split("?");
  const said = (rows: readonly Case[]) =>
    rows.find(
      ({ line, headers = row.headers }) => line === row.line && isDeepStrictEqual(headers, row.headers),
    )?.reason;
  const unwritten = said(AWS.never_written);
  if (unwritten !== undefined) return unwritten;
  const isHidden = form === "http-2.0" ? false : /[%+;[]/.test(query);
  const isDecoded = form !== "rest" && /[^\x21-\x24\x26-\x7e]/.test(path);
  if (!isHidden && !isDecoded) return expectedAt("aws", row);
  const reason = said(isDecoded ? AWS.http_apis : AWS.decoded_queries);
  assert.ok(reason !== undefined, `test/cases/doors/aws.yaml does not say what ${row.line} is`);
  return reason;
}

describe("authorizers: the case table through API Gateway", () => {
  const idp = useIssuer();
  const serve = useServedDoors(idp);
  const world = { policies: snapshotOf(TABLE.policies) };
  const own = async (token: string | undefined) =>
    token === undefined ? [] : [bearer(await idp.token({ sub: token }))];

  for (const form of FORMS)
    describe(form, () => {
      for (const row of TABLE.requests)
        it(titleOf(row), async () => {
          const [method, target] = lineOf(row.line);
          const headers = [...(await own(row.token)), ...(row.headers ?? []).map(pairOf)];
          const event = eventOf(form, { method, target, headers });
          const { ask, recorded } = serveAws(serve, {}, world);
          const status = statusFor(await ask(event), askedArn(event));
          const [record = "", ...more] = await recorded();
          assert.deepEqual(more, []);
          assert.equal(status === 200, record.startsWith("ALLOW"), `${record} ${status}`);
          const reason = expected(form, row);
          assert.equal(record, `${reason === "CONDITION_TRUE" ? "ALLOW" : "DENY"} ${reason}`);
        });
    });

  // by default, nobody has stated that integrations read the decoded path
  for (const form of FORMS.filter((one) => one !== "rest"))
    describe(`${form}, without the operator's statement`, () => {
      for (const row of TABLE.requests)
        it(titleOf(row), async () => {
          const [method, target] = lineOf(row.line);
          const headers = [...(await own(row.token)), ...(row.headers ?? []).map(pairOf)];
          const event = eventOf(form, { method, target, headers });
          const { ask, recorded } = serveAws(serve, { decodedPaths: false }, world);
          assert.notEqual(statusFor(await ask(event), askedArn(event)), 200);
          const reason = expected(form, row);
          assert.deepEqual(await recorded(), [
            `DENY ${reason === "CONDITION_TRUE" ? "PLAN_NOT_ENFORCEABLE" : reason}`,
          ]);
        });
    });

  for (const row of AWS.token)
    it(`TOKEN: ${titleOf(row)}`, async () => {
      const [method, target] = lineOf(row.line);
      const [path = ""] = target.split("?");
      const token = (await own(row.token))[0]?.[1] ?? "";
      const { ask, recorded } = serveAws(serve, {}, world);
      const status = statusFor(await ask(tokenEvent(method, path, token)), arnOf(method, path));
      const permitted = row.reason === "CONDITION_TRUE";
      assert.deepEqual(await recorded(), [`${permitted ? "ALLOW" : "DENY"} ${row.reason}`]);
      assert.equal(status === 200, permitted);
    });
});
