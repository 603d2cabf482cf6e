import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { startControlPlaneProcess, type ControlPlaneProcess } from "../../support/control-plane.ts";
import { createAuthority, type Authority, type KeyPair } from "../../support/certificates.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

interface Answer {
  readonly status: number;
  readonly body: string;
}

describe("end to end: a control plane that serves TLS itself", function () {
  this.timeout(240_000);
  let plane: ControlPlaneProcess;
  let authority: Authority;
  let client: KeyPair;

  before(async () => {
    const folder = await temporaryDirectory();
    authority = await createAuthority("ours");
    const pair = await authority.issue("127.0.0.1");
    client = await authority.issue("client.test");
    const [certificate, key, ca] = ["certificate.pem", "key.pem", "ca.pem"].map((name) => join(folder, name));
    await writeFile(certificate ?? "", pair.certificate);
    await writeFile(key ?? "", pair.privateKey);
    await writeFile(ca ?? "", authority.certificate);
    plane = await startControlPlaneProcess({
      config: { api: { tls: { certificate, private_key: key, client_ca: ca } } },
    });
  });
  after(() => plane.stop());

  const ask = (
    url: string,
    { key, body }: { key?: string; body?: object } = {},
    pair: KeyPair | null = client,
  ) =>
    new Promise<Answer>((resolve, reject) => {
      const call = request(
        url,
        {
          ...{ method: body === undefined ? "GET" : "POST", agent: false, ca: authority.certificate },
          ...(pair && { key: pair.privateKey, cert: pair.certificate }),
          headers: {
            ...(key !== undefined && { authorization: `Bearer ${key}` }),
            ...(body !== undefined && { "content-type": "application/json" }),
          },
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => (text += chunk));
          response.on("end", () => {
            resolve({ status: response.statusCode ?? 0, body: text });
          });
        },
      );
      call.on("error", reject);
      call.end(body && JSON.stringify(body));
    });

  it("answers clients with a certificate, and nobody in clear text", async () => {
    const { production, sandbox } = plane.url;
    for (const url of [production, sandbox]) {
      assert.match(url, /^https:\/\//);
      assert.equal((await ask(`${url}/readyz`)).status, 200);
      await assert.rejects(ask(`${url}/readyz`, {}, null), /certificate|ECONNRESET|EPIPE/i);
      await assert.rejects(fetch(`${url.replace("https:", "http:")}/readyz`));
    }
  });

  it("asks the sandbox's own provider, though that request has no client certificate", async () => {
    const url = plane.url.sandbox;
    const key = await plane.createKey("sandbox", "full_access");
    const customers = JSON.parse((await ask(`${url}/v1/customers`, { key })).body) as {
      data: { id: string; status: string; allowed_return_urls: string[] }[];
    };
    const [customer] = customers.data.filter(
      ({ status, allowed_return_urls: urls }) => status === "active" && urls.length > 0,
    );
    assert.ok(customer);
    const { status, body } = await ask(`${url}/v1/auth/authorize`, {
      key,
      body: { customer_id: customer.id, return_url: customer.allowed_return_urls[0] },
    });
    assert.equal(status, 200, body);
    assert.match(body, new RegExp(`${url}/idp/`));
  });
});
