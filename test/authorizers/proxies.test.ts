import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { parse } from "yaml";
import { nginx } from "../../src/authorizers/nginx.ts";
import { startAuthorizers, type Authorizers } from "../../src/authorizers/server.ts";
import { snapshotOf, bearer, silentLog, useIssuer } from "../decision/support.ts";
import { useServedDoors } from "../decision/point/support/served-doors.ts";
import { rawGet, sendRaw } from "../support/raw-http.ts";
import { isInstalled, startNginx, type Proxy } from "./support/proxies.ts";

interface Case {
  readonly line: string;
  readonly token?: string;
  readonly headers?: readonly string[];
  readonly reason: string;
}

const TABLE = parse(readFileSync(new URL("../cases/doors/requests.yaml", import.meta.url), "utf8")) as {
  readonly policies: string;
  readonly requests: readonly Case[];
};

for (const [name, door, start] of [["nginx", nginx, startNginx]] as const)
  (isInstalled(name) ? describe : describe.skip)(`authorizers: behind a real ${name}`, () => {
    const idp = useIssuer();
    const serve = useServedDoors(idp);
    let forwarded: { readonly user: unknown; readonly url: unknown }[] = [];
    let app: Server;
    let authz: Authorizers;
    let proxy: Proxy;
    let served: ReturnType<typeof serveNow>;
    const serveNow = () => serve(door, { policies: snapshotOf(TABLE.policies) });

    before(async () => {
      app = createServer((request, response) => {
        forwarded.push({ user: request.headers["x-user-id"], url: request.url });
        response.end("from the application");
      });
      await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
      authz = await startAuthorizers({
        listen: { host: "127.0.0.1", port: 0 },
        callers: ["127.0.0.1"],
        doors: new Map([[`/${name}`, (message, call) => served.answerTo(message, call)]]),
        decisionTimeout: 10_000,
        log: { ...silentLog, info: () => undefined, warn: () => undefined },
      });
      proxy = await start({ authz: authz.port, app: (app.address() as AddressInfo).port });
    });
    after(async () => {
      await proxy.stop();
      await authz.close(0);
      app.close();
    });
    beforeEach(() => {
      forwarded = [];
      served = serveNow();
    });

    for (const { line, token, headers = [], reason } of TABLE.requests)
      it([line, ...(token === undefined ? [] : [`as ${token}`]), ...headers].join(", "), async () => {
        const [method, target] = line.split(" ") as [string, string];
        const own = token === undefined ? [] : [bearer(await idp.token({ sub: token })).join(": ")];
        // one `Connection` header: nginx before 1.23 shows only the first
        const replaces = headers.some((header) => header.startsWith("connection:"));
        const request = rawGet(target, [...own, ...headers], method);
        const answer = await sendRaw(
          proxy.port,
          replaces ? request.replace("Connection: close\r\n", "") : request,
        );
        const permitted = reason === "CONDITION_TRUE";
        const recorded = await served.recorded();
        assert.deepEqual(recorded, [`${permitted ? "ALLOW" : "DENY"} ${reason}`]);
        assert.equal(answer.status < 300, permitted, String(answer.status));
        assert.deepEqual(forwarded, permitted ? [{ user: token, url: target }] : []);
      });
  });
