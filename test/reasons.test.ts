import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CLOSE } from "../src/envoy-contract.ts";
import { REASONS } from "../src/reasons.ts";
import { reasonsReference } from "./support/reasons-reference.ts";

/** Words of this form that no client, record or metric of ours shows; each new one is either one of these or documented. */
const NO_CODES = [
  // errors of the system, of Node.js and of packages
  /^E(?:AI_|RR_)|^HPE_|^UND_ERR_/,
  // variables of the environment, and files
  /^(?:DYLD_LIBRARY_PATH|LD_LIBRARY_PATH|LC_ALL|ENVOY_BIN|SSL_CERT_FILE|PG_VERSION)$/,
  // words of Envoy's configuration, and of the gRPC health protocol
  /^(?:HTTP_DOWNSTREAM_\w+_IDLE|TRANSPORT_SOCKET_CONNECT|IP_ADDRESS|LEAST_REQUEST|STRICT_DNS|V4_PREFERRED)$/,
  /^(?:OVERWRITE_IF_EXISTS_OR_ADD|ADD_IF_ABSENT|PASS_THROUGH|KEEP_UNCHANGED|NOT_SERVING|SERVICE_UNKNOWN)$/,
  /^(?:UNESCAPE_AND_REDIRECT|UNESCAPE_AND_FORWARD|REJECT_REQUEST|ACCEPT_UNTRUSTED|TEN_THOUSAND)$/,
  // between parts of the program: metrics and logs have them as causes of their own
  /^(?:MALFORMED_ANSWER|SHORT_WRITE|SPOOL_CLOSED|SPOOL_FULL|SPOOL_LOCKED|EGRESS_PROXY)$/,
];

const page = fileURLToPath(new URL("../docs/reasons.md", import.meta.url));

describe("reasons", () => {
  it("have a page that is fresh (GATEHOUSE_UPDATE=1 writes it)", () => {
    if (process.env["GATEHOUSE_UPDATE"] === "1") writeFileSync(page, reasonsReference());
    assert.equal(readFileSync(page, "utf8"), reasonsReference());
  });

  it("have a line each for what closes connections", () => {
    const [, closings = ""] = reasonsReference().split("## How WebSocket connections are closed");
    for (const reason of Object.keys(CLOSE)) assert.match(closings, new RegExp(`^\\| \`${reason}\``, "m"));
  });

  it("all stand in the documentation, and so do codes: of decisions, answers, connections, sign-ins", () => {
    const root = fileURLToPath(new URL("..", import.meta.url));
    const documented = globSync("docs/**/*.md", { cwd: root })
      .map((name) => readFileSync(`${root}/${name}`, "utf8"))
      .join("\n");
    const missing = new Set<string>();
    let found = 0;
    for (const name of [
      ...globSync("src/**/*.ts", { cwd: root }),
      ...globSync("envoy/lua/**/*.lua", { cwd: root }),
    ]) {
      const text = readFileSync(`${root}/${name}`, "utf8").replaceAll(/^\s*(?:\/?\*|\/\/|--).*$/gm, "");
      for (const [, quoted, key] of text.matchAll(
        /["'`]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["'`]|^\s+([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+): \{/gm,
      )) {
        const code = quoted ?? key ?? "";
        if (NO_CODES.some((pattern) => pattern.test(code))) continue;
        found += 1;
        if (!new RegExp(`\\b${code}\\b`).test(documented)) missing.add(`${code} (${name})`);
      }
    }
    assert.ok(found > 300, String(found));
    assert.deepEqual([...missing], []);
  });

  it("are what audit records and the control plane take for a code, with a text of one line", () => {
    for (const [reason, { status, code, message }] of Object.entries(REASONS)) {
      for (const name of [reason, code]) assert.match(name, /^[A-Z][A-Z0-9_]{0,39}$/);
      assert.match(message, /^[^\n|]{5,200}[^.]$/, reason);
      assert.ok(status >= 200 && status < 600, reason);
    }
  });
});
