import assert from "node:assert/strict";
import { DEFAULT_IDENTITY_HEADERS } from "../../../src/config/index.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { sendHttp2 } from "../../support/http2-request.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { rawGet, sendRaw } from "../../support/raw-http.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const DEFAULT_NAMES = Object.keys(DEFAULT_IDENTITY_HEADERS);

const POLICIES = `
policies:
  - { resource: "* /public/**", condition: "true" }
  - { resource: "GET /me", condition: exists(user.id) }
  - { resource: "GET /masked", condition: "true" }
  - { resource: "POST /read", condition: request.body.a == 1 }
${DEFAULT_NAMES.map((name) => `  - { resource: "GET /read/${name}", condition: 'exists(request.headers["${name}"])' }`).join("\n")}
response_masks:
  - api_pattern: /masked
    fields: [{ name: ssn, condition: "true", mask_type: full }]
`;

type Headers = readonly (readonly [name: string, value: string])[];

/** What applications are told, whatever names it is told under: nobody else may use the customary ones. */
const CONFIGURATIONS: Readonly<
  Record<string, { readonly identity: Readonly<Record<string, unknown>>; readonly told: object }>
> = {
  "the default": { identity: {}, told: { "x-user-id": "u-7", "x-user-role": "viewer" } },
  "one name of one's own": { identity: { headers: { "x-me": "user.id" } }, told: { "x-me": "u-7" } },
  "one default name alone": {
    identity: { headers: { "x-user-role": "user.role" } },
    told: { "x-user-role": "viewer" },
  },
  "no names": { identity: { headers: {} }, told: {} },
  "names of one's own and no prefixes": {
    identity: { headers: { "x-me": "user.id" }, header_prefixes: [] },
    told: { "x-me": "u-7" },
  },
  "a default name for something else": {
    identity: {
      headers: { "x-user-id": "user.role" },
      header_prefixes: ["x-acme-"],
      client_headers: ["x-acme-a"],
    },
    told: { "x-user-id": "viewer" },
  },
};

/** Spellings that one application or another reads as the name. */
const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
  (name) => name.replaceAll("-", "."),
  (name) => name.replaceAll("-", ""),
  (name) => name.replace("-", "~"),
];

describe("end to end: names of identity headers", function () {
  this.timeout(180_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let token: string;
  before(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    token = await issuer.token({ sub: "u-7", role: "viewer" });
  });
  after(() => Promise.all([upstream.close(), issuer.close()]));
  beforeEach(() => {
    upstream.seen.length = 0;
  });

  for (const [name, { identity, told }] of Object.entries(CONFIGURATIONS)) {
    describe(name, () => {
      let gateway: RunningGateway;
      before(async () => {
        gateway = await startGateway({
          backend: upstream.url,
          issuer,
          policies: { "default.yaml": POLICIES },
          config: {
            identity: { issuer: issuer.url, audience: issuer.audience, ...identity },
          },
        });
      });
      after(() => gateway.stop());

      type Send = (method: string, path: string, headers: Headers, body?: string) => Promise<number>;
      const ways: Readonly<Record<string, Send>> = {
        "HTTP/1.1": async (method, path, headers, body = "") => {
          const lines = [...headers, ["Content-Length", body.length] as const].map((header) =>
            header.join(": "),
          );
          return (await sendRaw(gateway.port, rawGet(path, lines, method) + body)).status;
        },
        "HTTP/2": async (method, path, headers, body) => {
          const lower = headers.map(([header, value]) => [header.toLowerCase(), value] as const);
          const all = {
            ":method": method,
            ":path": path,
            ":authority": "app.test",
            ...Object.fromEntries(lower),
          };
          return (await sendHttp2(gateway.url, all, { ...(body !== undefined && { body }) })).status;
        },
      };

      for (const [way, send] of Object.entries(ways)) {
        it(`takes none of the customary names from a client, however spelled, over ${way}`, async () => {
          for (const spell of SPELLINGS) {
            const forged = DEFAULT_NAMES.map((header) => [spell(header), "forged"] as const);
            const json = ["Content-Type", "application/json"] as const;
            assert.equal(await send("GET", "/public/a", forged), 200);
            assert.equal(await send("GET", "/masked", forged), 200);
            assert.equal(await send("POST", "/read", [...forged, json], '{"a":1}'), 200);
            assert.equal(await send("GET", "/me", [...forged, ["Authorization", `Bearer ${token}`]]), 200);
          }
          assert.equal(upstream.seen.length, 4 * SPELLINGS.length);
          for (const { rawHeaders, url, headers } of upstream.seen) {
            assert.ok(!rawHeaders.includes("forged"), rawHeaders.join("\n"));
            const named = [...DEFAULT_NAMES, "x-me"].filter((header) => headers[header] !== undefined);
            assert.deepEqual(
              Object.fromEntries(named.map((header) => [header, headers[header]])),
              url === "/me" ? told : {},
            );
          }
        });

        it(`lets no rule read one, over ${way}`, async () => {
          for (const header of DEFAULT_NAMES)
            assert.equal(await send("GET", `/read/${header}`, [[header, "forged"]]), 403, header);
        });
      }

      it("refuses them with underscores", async () => {
        for (const header of DEFAULT_NAMES) {
          const forged = [[header.replaceAll("-", "_"), "forged"]] as const;
          for (const send of Object.values(ways)) assert.equal(await send("GET", "/public/a", forged), 400);
        }
        assert.deepEqual(upstream.seen, []);
      });
    });
  }
});
