import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { loadGatewayConfig } from "../../../src/config/index.ts";
import { guardedFetch } from "../../../src/control/platform/outbound/guarded-fetch.ts";
import type { ControlContext } from "../../../src/control/platform/context.ts";
import { testProvider } from "../../../src/control/sign-in/test-provider.ts";
import type { IdpRow } from "../../../src/control/tenancy/idp.ts";
import { startControlPlane } from "../../../src/processes/control-plane/start.ts";
import { silentLog } from "../../decision/support.ts";
import { createAuthority } from "../../support/certificates.ts";
import { temporaryDirectory, testDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { makeKey } from "../../support/guarded-control.ts";
import { startConnectProxy, type ConnectProxy } from "../support/connect-proxy.ts";

/** Stand for the public internet. */
const [PUBLIC, OTHER] = ["93.184.216.34", "93.184.216.35"];

describe("control: requests to others through a proxy", () => {
  let server: Server;
  let port: number;
  let proxy: ConnectProxy;
  let names: (string | false | undefined)[];
  const authorities = getCACertificates("default");

  before(async () => {
    const authority = await createAuthority("receivers");
    const { certificate, privateKey } = await authority.issue("receiver.example");
    setDefaultCACertificates([...authorities, authority.certificate]);
    names = [];
    server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
      names.push((request.socket as { servername?: string | false }).servername);
      const to = new URL(request.url ?? "", "https://receiver.example").searchParams.get("redirect");
      if (to !== null) response.writeHead(307, { location: to });
      response.end(`${request.method} ${request.url} ${request.headers.host}`);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
    proxy = await startConnectProxy(() => port);
  });
  after(async () => {
    setDefaultCACertificates(authorities);
    await proxy.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    proxy.asked.length = 0;
    proxy.answer = 200;
    names.length = 0;
  });

  const open = (parts: Partial<Parameters<typeof guardedFetch>[0]> = {}) =>
    guardedFetch({
      ...{ allowPrivate: false, timeoutMs: 5_000, proxy: proxy.url },
      resolve: () => Promise.resolve([PUBLIC]),
      ...parts,
    });
  const destinations = () => proxy.asked.map(({ authority }) => authority);

  it("asks for the address that was checked, and verifies the certificate for the name", async () => {
    const response = await open()("https://receiver.example/in?a=b");
    assert.equal(await response.text(), "GET /in?a=b receiver.example");
    assert.deepEqual(destinations(), [`${PUBLIC}:443`]);
    assert.deepEqual(names, ["receiver.example"]);
    await assert.rejects(open()("https://other.example/"), ({ cause }: Error) => {
      assert.equal((cause as { code?: string }).code, "ERR_TLS_CERT_ALTNAME_INVALID");
      return true;
    });
    assert.deepEqual(proxy.others, []);
  });

  it("uses the URL's port, IPv6, and credentials of the proxy", async () => {
    const withPassword = proxy.url.replace("//", "//ad%20a:p%40ss@");
    await open({ proxy: withPassword })("https://receiver.example:8443/");
    const six = "2606:4700:4700::1111";
    await open({ resolve: () => Promise.resolve([six]) })("https://receiver.example/");
    assert.deepEqual(proxy.asked, [
      {
        authority: `${PUBLIC}:8443`,
        credentials: `Basic ${Buffer.from("ad a:p@ss").toString("base64")}`,
      },
      { authority: `[${six}]:443`, credentials: undefined },
    ]);
  });

  it("asks for nothing that is not public, whatever it is called", async () => {
    for (const [url, addresses] of [
      ["https://127.0.0.1/", []],
      ["https://169.254.169.254/", []],
      ["https://0x7f.1/", []],
      ["https://[::ffff:127.0.0.1]/", []],
      ["https://internal.example/", ["10.0.0.1"]],
      ["https://metadata.example/", ["169.254.169.254", "::1"]],
      ["https://localhost/", ["127.0.0.1"]],
      ["http://receiver.example/", [PUBLIC]],
    ] as const)
      await assert.rejects(open({ resolve: () => Promise.resolve(addresses) })(url), (error: Error) => {
        const refusal = error.cause instanceof Error ? error.cause : error;
        assert.equal(refusal.name, "TargetNotAllowed", url);
        return true;
      });
    assert.deepEqual([proxy.asked, proxy.others], [[], []]);
  });

  it("looks at the address again at each connection", async () => {
    const answers = [[PUBLIC], ["127.0.0.1"]];
    const send = open({ resolve: () => Promise.resolve(answers.shift() ?? []) });
    await (await send("https://receiver.example/")).text();
    await assert.rejects(send("https://receiver.example/"));
    assert.deepEqual(destinations(), [`${PUBLIC}:443`]);
  });

  it("follows no redirect, wherever it leads and whatever the caller says", async () => {
    for (const to of ["https://169.254.169.254/", "http://127.0.0.1/", `https://${OTHER}/`, "/other"])
      for (const redirect of ["follow", "manual"] as const) {
        const path = `/?redirect=${encodeURIComponent(to)}`;
        const response = await open()(`https://receiver.example${path}`, { redirect });
        assert.equal(response.status, 307);
        await response.text();
      }
    assert.deepEqual(new Set(destinations()), new Set([`${PUBLIC}:443`]));
    assert.equal(destinations().length, 8);
  });

  it("leaves out addresses that are not public, and tries the next one if a connection fails", async () => {
    proxy.answer = 502;
    const resolve = () => Promise.resolve(["10.0.0.1", PUBLIC, "127.0.0.1", OTHER]);
    await assert.rejects(open({ resolve })("https://receiver.example/"), ({ cause }: Error) => {
      assert.equal((cause as { code?: string }).code, "EGRESS_PROXY");
      assert.match(String(cause), /answered 502/);
      return true;
    });
    assert.deepEqual(destinations(), [`${PUBLIC}:443`, `${OTHER}:443`]);
  });

  it("connects to private addresses directly, where they are permitted", async () => {
    const response = await open({ allowPrivate: true, resolve: () => Promise.resolve(["127.0.0.1"]) })(
      `https://receiver.example:${port}/x`,
    );
    assert.equal(await response.text(), `GET /x receiver.example:${port}`);
    assert.deepEqual(proxy.asked, []);
  });

  it("tunnels http, too, where it is permitted", async () => {
    await assert.rejects(
      open({ allowPrivate: true })("http://receiver.example/").then((answer) => answer.text()),
    );
    assert.deepEqual([destinations(), proxy.others], [[`${PUBLIC}:80`], []]);
  });

  it("fails if the proxy is gone, and does not go around it", async () => {
    await assert.rejects(
      open({ proxy: "http://127.0.0.1:9" })("https://receiver.example/"),
      ({ cause }: Error) => {
        assert.equal((cause as { code?: string }).code, "EGRESS_PROXY");
        return true;
      },
    );
    assert.deepEqual(names, []);
  });

  it("is the way of the test of an identity provider, which does not go around it", async () => {
    proxy.answer = 502;
    const issuer = `https://${PUBLIC}`;
    const settings = {
      allowInsecureIssuers: false,
      egressProxy: proxy.url,
      publicUrl: "https://gatehouse.example",
    };
    const unused = { clientOf: () => Promise.reject(new Error("discovery comes first")) };
    const idp = { domain: PUBLIC, issuer, tenant: null, realm: null };
    const steps = await testProvider(
      { settings: settings as ControlContext["settings"] },
      unused,
      idp as unknown as IdpRow,
    );
    assert.deepEqual(steps[0], { step: "discovery", status: "failed", reason: "unreachable" });
    assert.deepEqual(destinations(), [`${PUBLIC}:443`]);
  });

  it("`api.egress_proxy`: webhooks and providers are reached by it, and by nothing else", async () => {
    const database = await testDatabase();
    proxy.answer = 403;
    const loaded = loadGatewayConfig({
      overrides: {
        "api.port": 0,
        "api.environments": ["production"],
        "api.data_directory": await temporaryDirectory(),
        "api.encryption_key": Buffer.alloc(32, 1).toString("base64"),
        "api.egress_proxy": proxy.url,
        "database.url": database.url,
        "sign_in.allow_insecure_issuers": true,
      },
      env: {},
    });
    assert.ok(loaded.ok, loaded.ok ? "" : loaded.errors);
    const plane = await startControlPlane(loaded.config, { log: silentLog });
    try {
      const [served] = plane.environments;
      assert.ok(served);
      const { secret } = await makeKey(served);
      const post = async (path: string, body: object) => {
        const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
        const answer = await fetch(`${served.url}/v1${path}`, {
          method: "POST",
          headers,
          body: JSON.stringify(body),
        });
        return { status: answer.status, body: (await answer.json()) as { data: { id: string } } };
      };
      const hook = await post("/webhooks", { url: `https://${PUBLIC}/hook`, events: ["*"] });
      assert.equal(hook.status, 201);
      const customer = await post("/customers", { name: "Acme" });
      await eventually("the delivery", () => destinations().includes(`${PUBLIC}:443`));
      const attempted = await eventually("its result", async () => {
        const row = await served.context
          .db("webhook_deliveries")
          .whereNotNull("error")
          .first<{ error: string } | undefined>("error");
        return row?.error;
      });
      assert.equal(attempted, "the proxy for outgoing requests made no connection");
      const idp = await post(`/customers/${customer.body.data.id}/idp`, {
        ...{ type: "oidc", domain: OTHER, client_id: "c", client_secret: "s" },
      });
      assert.notEqual(idp.status, 201);
      assert.ok(destinations().includes(`${OTHER}:443`));
    } finally {
      await plane.close();
      await database.close();
    }
  });
});
