import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SUB_REQUEST_DOORS } from "../../src/authorizers/doors.ts";
import { startAuthorizers } from "../../src/authorizers/server.ts";
import { useServedDoors } from "../decision/point/support/served-doors.ts";
import { silentLog, snapshotOf, useIssuer } from "../decision/support.ts";
import { isInstalled } from "../support/programs.ts";
import { rawGet, sendRaw } from "../support/raw-http.ts";
import { startNginx } from "./support/proxies.ts";

const DESCRIPTION = "X-Original-Request $request;";

interface Changed {
  readonly what: string;
  /** Texts of the configuration that differ. */
  readonly changed: Readonly<Record<string, string>>;
  /** Of each target: the record, and what the application gets. */
  readonly expected: readonly { readonly record: string; readonly url?: string }[];
}

const REFUSED = { record: "DENY AMBIGUOUS_PATH" };
const UNMATCHED = { record: "DENY NO_MATCHING_RULE" };
const allowed = (url: string) => ({ record: "ALLOW CONDITION_TRUE", url });
const TARGETS = ["//public", "/a/%2e%2e/public", "/public"];

const CASES: readonly Changed[] = [
  {
    what: "`$request`, as the guide has it: what is ambiguous is refused",
    changed: {},
    expected: [REFUSED, REFUSED, allowed("/public")],
  },
  {
    what: "`$uri` is that of the question, for which there is no rule",
    changed: { [DESCRIPTION]: 'X-Original-Request "$request_method $uri $server_protocol";' },
    expected: [UNMATCHED, UNMATCHED, UNMATCHED],
  },
  {
    what: "a copy of `$uri` hides from the decision what the application gets",
    changed: {
      "auth_request /_authz;": "set $decoded $uri; auth_request /_authz;",
      [DESCRIPTION]: 'X-Original-Request "$request_method $decoded $server_protocol";',
    },
    expected: TARGETS.map(allowed),
  },
];

if (isInstalled("nginx", "authorizers: nginx with another variable for the request line"))
  describe("authorizers: nginx with another variable for the request line", () => {
    const serve = useServedDoors(useIssuer());

    for (const { what, changed, expected } of CASES)
      it(what, async () => {
        const policies = snapshotOf(`policies: [{ resource: "GET /public", condition: "true" }]`);
        const { answerTo, recorded } = serve(SUB_REQUEST_DOORS.nginx.door, { policies });
        const forwarded: (string | undefined)[] = [];
        const app = createServer(({ url }, response) => {
          forwarded.push(url);
          response.end();
        });
        await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
        const worker = await startAuthorizers({
          listen: { host: "127.0.0.1", port: 0 },
          callers: ["127.0.0.1"],
          doors: new Map([[SUB_REQUEST_DOORS.nginx.path, answerTo]]),
          decisionTimeout: 10_000,
          log: { ...silentLog, info: () => undefined, warn: () => undefined },
        });
        const ports = {
          authz: [worker.port, worker.port] as const,
          app: (app.address() as AddressInfo).port,
        };
        const proxy = await startNginx(ports, changed);
        try {
          for (const target of TARGETS) await sendRaw(proxy.port, rawGet(target));
          assert.deepEqual(
            await recorded(),
            expected.map(({ record }) => record),
          );
          assert.deepEqual(
            forwarded,
            expected.flatMap(({ url }) => (url === undefined ? [] : [url])),
          );
        } finally {
          await proxy.stop();
          await worker.close(0);
          app.close();
        }
      });
  });
