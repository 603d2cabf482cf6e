import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import { startDemoApplication, type DemoApplication } from "../../../src/demo/application.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";

const file = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");

/** The block of YAML in docs/first-rule.md that holds a text: lines of a section of a policy file. */
function exampleWith(text: string): string {
  const blocks = [...file("docs/first-rule.md").matchAll(/^```yaml\n([^]*?)^```$/gm)].map(
    ([, block = ""]) => block,
  );
  const found = blocks.find((block) => block.includes(text));
  assert.ok(found, `docs/first-rule.md has an example with ${text}`);
  return found;
}

const POLICIES = `
policies:
  - { resource: "GET /api/**", condition: exists(user.id) }
${exampleWith("resource: ")}
response_filters:
${exampleWith("filter_rules:")}
`;

/** What the client of any protocol gets; redirects are not followed. */
interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

describe("end to end: the response rule of docs/first-rule.md", () => {
  let application: DemoApplication;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  before(async () => {
    [application, issuer] = await Promise.all([startDemoApplication({ port: 0 }), startIssuer()]);
    gateway = await startGateway({
      backend: application.url,
      issuer,
      policies: { "default.yaml": POLICIES },
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), application.close()]);
  });

  const overHttp1 = async (url: string, authorization: string): Promise<Got> => {
    const answer = await fetch(url, { redirect: "manual", headers: { authorization } });
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: await answer.text(),
    };
  };
  const overHttp2 = async (url: string, authorization: string): Promise<Got> => {
    const session = connect(url);
    const stream = session.request({ ":path": new URL(url).pathname, authorization });
    let headers: Record<string, string> = {};
    stream.on("response", (received) => (headers = received as Record<string, string>));
    let body = "";
    for await (const chunk of stream.setEncoding("utf8")) body += chunk as string;
    session.close();
    return { status: Number(headers[":status"]), headers, body };
  };

  for (const [protocol, get] of [
    ["HTTP/1.1", overHttp1],
    ["HTTP/2", overHttp2],
  ] as const) {
    const ask = async (path: string, role: string, base = gateway.url) =>
      get(
        `${base}${path}`,
        `Bearer ${await issuer.token({ sub: "u-5", role, department: "finance", customer_id: "c-1", assigned_customers: ["c-1"] })}`,
      );

    it(`masks JSON, over ${protocol}`, async () => {
      const { body } = await ask("/api/customers/c-1", "manager");
      assert.equal((JSON.parse(body) as { tax_id: string }).tax_id, "***");
      assert.ok((await ask("/api/customers/c-1", "admin")).body.includes("NL-8204-7731"));
    });

    it(`delivers the CSV as it is, over ${protocol}`, async () => {
      const direct = await overHttp1(`${application.url}/api/exports/2025`, "");
      const { status, headers, body } = await ask("/api/exports/2025", "manager");
      assert.equal(status, 200);
      assert.match(headers["content-type"] ?? "", /^text\/csv/);
      assert.match(headers["content-disposition"] ?? "", /orders-2025\.csv/);
      assert.equal(headers["content-length"], String(Buffer.byteLength(body)));
      assert.match(body, /^order,customer,item,cents\r\n/);
      assert.equal(body, direct.body);
    });

    it(`leads on where the application redirects, over ${protocol}`, async () => {
      const { status, headers, body } = await ask("/api/exports/latest", "manager");
      assert.deepEqual([status, headers["location"]], [302, "/api/exports/2025"]);
      assert.match(body, /RESPONSE_NOT_DELIVERED/);
    });

    it(`says 404 where the application does, over ${protocol}`, async () => {
      const page = await ask("/api/exports/1999", "manager");
      assert.equal(page.status, 404);
      assert.equal(
        (JSON.parse(page.body) as { error: { code: string } }).error.code,
        "RESPONSE_NOT_DELIVERED",
      );
      assert.ok(!page.body.includes("Nothing in"));
      const json = await ask("/api/nothing", "manager");
      assert.deepEqual([json.status, JSON.parse(json.body)], [404, { error: "no such page" }]);
      // to whom the rule does not apply
      assert.match((await ask("/api/exports/1999", "admin")).body, /<h1>Nothing in 1999<\/h1>/);
    });
  }
});
