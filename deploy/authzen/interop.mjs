// Asks Gatehouse what AuthZEN's API gateway interop asks, and compares: see README.md. Needs nothing but Node.js.
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CLI = fileURLToPath(new URL("../../bin/gatehouse.js", import.meta.url));
/** In the repository of the working group, https://github.com/openid/authzen */
const DECISIONS = "interop/authzen-api-gateways/test-harness/test/decisions.json";
const SCENARIO = "interop/authzen-interop-website/docs/scenarios/api-gateway/index.md";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: "boolean" }, ref: { type: "string", default: "main" } },
});
if (values.help || positionals.length > 1) {
  console.log("usage: node deploy/authzen/interop.mjs [--ref <commit>] [<checkout of openid/authzen>]");
  process.exit(values.help ? 0 : 2);
}
const [checkout] = positionals;

async function published(path) {
  if (checkout !== undefined) return readFile(join(checkout, path), "utf8");
  const url = `https://raw.githubusercontent.com/openid/authzen/${values.ref}/${path}`;
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.text();
}

/** The attributes of the scenario's people: the first block whose members all have roles. */
function peopleIn(page) {
  for (const [, block] of page.matchAll(/```js\n(.*?)```/gs)) {
    const found = parsed(block);
    const people = Object.values(found ?? {});
    if (people.length > 0 && people.every((person) => Array.isArray(person?.roles))) return found;
  }
  throw new Error(`${SCENARIO} has no attributes of people`);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

async function ready(child) {
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes("ready on")) return;
  }
  throw new Error(`gatehouse did not become ready: ${errors}`);
}

async function ask(base, endpoint, request) {
  const response = await fetch(`${base}/access/v1/${endpoint}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  const answer = await response.json();
  if (endpoint === "evaluations") return answer.evaluations?.map(({ decision }) => ({ decision }));
  return answer.decision;
}

const { evaluation = [], evaluations = [] } = JSON.parse(await published(DECISIONS));
const people = peopleIn(await published(SCENARIO));
const folder = await mkdtemp(join(tmpdir(), "gatehouse-authzen-"));
await cp(HERE, folder, { recursive: true });
await writeFile(join(folder, "people.json"), JSON.stringify(people));
const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const key = { ...publicKey.export({ format: "jwk" }), kid: "unused", alg: "ES256", use: "sig" };
await writeFile(join(folder, "keys.json"), JSON.stringify({ keys: [key] }));
const listen = `127.0.0.1:${await freePort()}`;
const config = await readFile(join(HERE, "gateway.yaml"), "utf8");
await writeFile(join(folder, "gateway.yaml"), config.replace("127.0.0.1:9292", listen));
const child = spawn(process.execPath, [CLI, "authz", "--config", join(folder, "gateway.yaml")], {
  stdio: ["ignore", "pipe", "pipe"],
});
const ended = once(child, "close");
const late = setTimeout(() => child.kill("SIGTERM"), 60_000);
let wrong = 0;
try {
  await ready(child);
  clearTimeout(late);
  const asked = [
    ...evaluation.map((one) => ["evaluation", one]),
    ...evaluations.map((one) => ["evaluations", one]),
  ];
  for (const [endpoint, { request, expected }] of asked) {
    const got = await ask(`http://${listen}`, endpoint, request);
    const isRight = JSON.stringify(got) === JSON.stringify(expected);
    if (!isRight) wrong += 1;
    const about = `${request.action?.name} ${request.resource?.id ?? ""} as ${request.subject?.id}`;
    console.log(`${isRight ? "right" : "WRONG"}  ${JSON.stringify(got)}  ${about}`);
  }
  if (asked.length === 0) throw new Error(`${DECISIONS} has no decisions`);
  console.log(`${asked.length - wrong} of ${asked.length} decisions are right`);
} finally {
  clearTimeout(late);
  child.kill("SIGTERM");
  await ended;
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = wrong === 0 ? 0 : 1;
