import assert from "node:assert/strict";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dump, load } from "js-yaml";
import { WebSocketServer } from "ws";
import { positionOf } from "../../src/decision/decide/rollout-arm.ts";
import { digestOf } from "../../src/decision/policies/snapshot.ts";
import { compileText } from "../decision/support.ts";
import { eventually } from "./eventually.ts";
import { startGateway, type RunningGateway } from "./gateway.ts";
import { startIssuer, type TestIssuer } from "./providers/issuer.ts";
import { connectSocket, type SocketClient } from "./socket-client.ts";
import { startAnsweringUpstream, type AnsweringUpstream } from "./upstreams/answering-upstream.ts";

/** Replaces the section `rollout` in the file of a running gateway, which follows it. */
export async function changeRollout(
  { directory }: Pick<RunningGateway, "directory">,
  section: Readonly<Record<string, unknown>> | undefined,
): Promise<void> {
  const file = join(directory, "gateway.yaml");
  const config = load(await readFile(file, "utf8")) as Record<string, unknown>;
  delete config["rollout"];
  if (section !== undefined) config["rollout"] = section;
  await writeFile(`${file}.new`, dump(config));
  await rename(`${file}.new`, file);
}

/** Whether a candidate of the set `default` that is enforced for this part of the callers decides for a user without a customer. */
export function getsCandidate(userId: string, percentage: number): boolean {
  return positionOf("default", ["user", "", userId]) < percentage;
}

/** Two sets that differ in a path, a mask, a GraphQL field and a message. */
export const STABLE = `
version: stable
policies:
  - { resource: GET /arm, condition: exists(user.id) }
  - { resource: GET /people, condition: exists(user.id) }
response_masks:
  - { api_pattern: /people, fields: [{ name: ssn, condition: true, mask_type: full }] }
graphql_policies:
  - { query: mine, condition: exists(user.id) }
  - { query: theirs, condition: false }
websocket_policies:
  - connection:
      path: /feed
      condition: exists(user.id)
    message_types: [{ type: old, condition: true }, { type: new, condition: false }]
`;
export const CANDIDATE = `
version: candidate
policies:
  - { resource: GET /arm, condition: user.role == "admin" }
  - { resource: GET /people, condition: exists(user.id) }
response_masks:
  - { api_pattern: /people, fields: [{ name: name, condition: true, mask_type: full }] }
graphql_policies:
  - { query: mine, condition: false }
  - { query: theirs, condition: exists(user.id) }
websocket_policies:
  - connection:
      path: /feed
      condition: exists(user.id)
    message_types: [{ type: old, condition: false }, { type: new, condition: true }]
`;
export const USERS = Array.from({ length: 24 }, (_, n) => `user-${n}`);
export const DIGEST = {
  stable: digestOf(compileText(STABLE, "default")),
  candidate: digestOf(compileText(CANDIDATE, "default")),
};

export type Arm = "stable" | "candidate";

/** A gateway with the stable set for each test of the suite that calls this, and a candidate in a folder beside it. */
export function useRolloutGateway() {
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let server: WebSocketServer;
  let tokens: Map<string, string>;
  const clients: SocketClient[] = [];

  before(async () => {
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    upstream.answer = (_request, response) => {
      response
        .writeHead(200, { "content-type": "application/json" })
        .end('{"name":"Iris","ssn":"123-45-6789"}');
    };
    server = new WebSocketServer({ server: upstream.server });
    server.on("connection", (socket) => {
      socket.on("error", () => undefined);
      socket.on("message", (data: Buffer) => {
        socket.send(data.toString());
      });
    });
    tokens = new Map(
      await Promise.all(USERS.map(async (sub) => [sub, await issuer.token({ sub })] as const)),
    );
  });
  beforeEach(async () => {
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": STABLE },
      nodes: 2,
    });
    await writeCandidate(CANDIDATE);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await gateway.stop();
  });
  after(async () => {
    server.close();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const candidateFolder = () => join(gateway.directory, "candidate");
  async function writeCandidate(text: string): Promise<void> {
    await mkdir(candidateFolder(), { recursive: true });
    const file = join(candidateFolder(), "default.yaml");
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }
  const enforce = (percentage: number, more: object = {}) =>
    changeRollout(gateway, {
      ...{ candidate: "candidate", mode: "enforce", percentage },
      guard: { enabled: false },
      ...more,
    });
  const percentageIs = (percentage: number) =>
    eventually(`${percentage} % is in force`, async () => {
      const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      return new RegExp(`^gatehouse_rollout_percentage\\{.*mode="enforce".*\\} ${percentage}$`, "m").test(
        text,
      );
    });
  const headers = (user: string) => ({ authorization: `Bearer ${tokens.get(user)}` });
  const get = (user: string, path: string) => fetch(`${gateway.url}${path}`, { headers: headers(user) });

  async function armOfPath(user: string): Promise<Arm> {
    const { status } = await get(user, "/arm");
    assert.ok(status === 200 || status === 403, String(status));
    return status === 200 ? "stable" : "candidate";
  }
  async function armOfMask(user: string): Promise<Arm> {
    const { name, ssn } = (await (await get(user, "/people")).json()) as { name: string; ssn: string };
    assert.notEqual(name === "Iris", ssn === "123-45-6789", `${name} ${ssn}`);
    return name === "Iris" ? "stable" : "candidate";
  }
  async function armOfGraphql(user: string): Promise<Arm> {
    const ask = async (field: string) => {
      const response = await fetch(`${gateway.url}/graphql`, {
        method: "POST",
        headers: { ...headers(user), "content-type": "application/json" },
        body: JSON.stringify({ query: `{ ${field} { id } }` }),
      });
      return (await response.text()).includes("ACCESS_DENIED") ? "denied" : "allowed";
    };
    const [mine, theirs] = [await ask("mine"), await ask("theirs")];
    assert.notEqual(mine, theirs);
    return mine === "allowed" ? "stable" : "candidate";
  }
  async function connect(user: string): Promise<SocketClient> {
    const client = await connectSocket(`${gateway.url.replace("http", "ws")}/feed`, {
      headers: headers(user),
    });
    clients.push(client);
    return client;
  }
  let serial = 0;
  async function armOfSocket(client: SocketClient): Promise<Arm> {
    const id = (serial += 1);
    client.socket.send(JSON.stringify({ type: "old", id }));
    client.socket.send(JSON.stringify({ type: "new", id }));
    // the application sends back the one that it got
    const echo = await client.message("an echo", (text) => {
      const message = JSON.parse(text) as { type?: string; id?: number };
      return message.id === id && (message.type === "old" || message.type === "new");
    });
    return (JSON.parse(echo) as { type: string }).type === "old" ? "stable" : "candidate";
  }
  return {
    get gateway() {
      return gateway;
    },
    /** Starts another gateway in its place. */
    async restart(options: Omit<Parameters<typeof startGateway>[0], "backend" | "issuer">): Promise<void> {
      await gateway.stop();
      gateway = await startGateway({ backend: upstream.url, issuer, ...options });
    },
    writeCandidate,
    enforce,
    percentageIs,
    headers,
    /** Makes tokens for more users than {@link USERS}. */
    async addUsers(users: readonly string[]): Promise<void> {
      for (const sub of users) tokens.set(sub, await issuer.token({ sub }));
    },
    get,
    armOfPath,
    armOfMask,
    armOfGraphql,
    armOfSocket,
    connect,
  };
}
