import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { bearer, snapshotOf, useIssuer } from "../../decision/support.ts";
import { useServedDoors } from "../../decision/point/support/served-doors.ts";
import { expectedAt, lineOf, TABLE, titleOf, type Case } from "../support/case-table.ts";
import { statusFor } from "./support/api-gateway.ts";
import { arnOf, askedArn, eventOf, FORMS, tokenEvent, type Form } from "./support/events.ts";
import { serveAws } from "./support/served-aws.ts";

const AWS = parse(readFileSync(new URL("../../cases/doors/aws.yaml", import.meta.url), "utf8")) as Readonly<
  Record<"http_apis" | "decoded_queries" | "token", readonly Case[]>
>;

const pairOf = (header: string) => {
  const [name = "", ...value] = header.split(":");
  return [name, value.join(":").trim()] as const;
};

/** Format 2.0 has joined what may have been several headers: more is denied than elsewhere, and nothing else permitted. */
const mayBeJoined = (form: Form, { headers = [] }: Case) => {
  const names = headers.map((header) => pairOf(header)[0].toLowerCase());
  return form === "http-2.0" && (new Set(names).size < names.length || headers.join("").includes(","));
};

/** @returns `undefined` if the event hides how the request was sent, and nobody has said what that means for this one */
function expected(form: Form, row: Case): string | undefined {
  const [method, target] = lineOf(row.line);
  const [path = "", query = ""] = target.split("?");
  const said = (rows: readonly Case[]) => rows.find(({ line }) => line === row.line)?.reason;
  // no event can say these
  if (!/^[A-Z]+$/.test(method) || !/^\/[\x21-\x7e]*$/.test(target)) return undefined;
  // API Gateway writes these itself
  if (row.headers?.some((header) => /^(?:host|x-forwarded-port|cloudfront-forwarded-proto):/i.test(header)))
    return undefined;
  if (form !== "rest" && path.includes("%")) return said(AWS.http_apis);
  if (form !== "http-2.0" && /[%+;]/.test(query)) return said(AWS.decoded_queries);
  return expectedAt("aws", row);
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
          if (reason === undefined || (mayBeJoined(form, row) && record.startsWith("DENY"))) return;
          assert.equal(record, `${reason === "CONDITION_TRUE" ? "ALLOW" : "DENY"} ${reason}`);
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
