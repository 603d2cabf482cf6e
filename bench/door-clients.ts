import { Agent, request } from "node:http";
import { connect } from "node:net";
import {
  FRAME,
  readFrame,
  SpopReader,
  varint,
  writeFrame,
  writeList,
} from "../src/authorizers/spop-codec.ts";
import { eventOf } from "../test/authorizers/aws/support/events.ts";
import { connectClient } from "../test/extauthz/support/client.ts";
import { checkRequest, USUAL_HEADERS } from "../test/support/check-request.ts";

export interface DoorPorts {
  readonly grpc: number;
  readonly http: number;
  readonly spop: number;
}

/** The request that every door is asked about. */
export interface AskedRequest {
  readonly path: string;
  readonly token: string;
  /** What the token says, for callers that say it themselves. */
  readonly user: Readonly<Record<string, unknown>>;
}

/** Each asks once, and rejects unless the answer is a permit. */
export interface DoorClients {
  readonly doors: Readonly<Record<string, () => Promise<void>>>;
  close(): void;
}

type Headers = readonly (readonly [name: string, value: string])[];
const HOST = "app.test";
const SCHEME = "http";
const ADDRESS = "127.0.0.1";

/** Clients that do as little as they can: what they send is made once. gRPC is the first. */
export async function openDoors(
  { grpc, http, spop }: DoorPorts,
  { path, token, user }: AskedRequest,
): Promise<DoorClients> {
  const client = connectClient(`127.0.0.1:${grpc}`);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const haproxy = await connectSpop(spop);
  // which each door describes in its own way
  const plain = USUAL_HEADERS.filter(([name]) => !name.startsWith("x-forwarded-"));
  const headers: Headers = [...plain, ["authorization", `Bearer ${token}`]];
  const post = (at: string, body: object, isPermit: (answer: string) => boolean) => {
    const text = JSON.stringify(body);
    const sent = [
      "host",
      HOST,
      "content-type",
      "application/json",
      "content-length",
      String(Buffer.byteLength(text)),
    ];
    return () => ask({ agent, port: http, method: "POST", path: at, headers: sent }, text, isPermit);
  };
  const get = (at: string, described: Headers) => {
    const sent = [["host", HOST] as const, ...headers, ...described].flat();
    return () => ask({ agent, port: http, path: at, headers: sent });
  };
  const check = checkRequest({ path, headers, host: HOST, plans: "", bodies: "unknown" });
  const described: Headers = [
    ["x-original-scheme", SCHEME],
    ["x-original-address", ADDRESS],
    ["x-original-connection", "="],
    ["x-original-upgrade", "="],
  ];
  const question = {
    subject: { type: "user", id: "u-1", properties: { ...user, ip_address: ADDRESS } },
    action: { name: "GET" },
    resource: { type: "route", id: path, properties: { host: HOST, scheme: SCHEME, query: "" } },
    context: { headers: Object.fromEntries(plain) },
  };
  const event = eventOf("rest", { target: path, headers });
  const message = haproxyMessage(path, [["host", HOST], ...headers]);
  return {
    doors: {
      "Envoy, gRPC": async () => {
        assertPermit((await client.check(check)).subarray(0, 2).equals(OK), "gRPC");
      },
      "Envoy, HTTP": get(`/envoy-http${path}`, [["x-original-protocol", "HTTP/1.1"], ...described]),
      "nginx auth_request": get("/nginx", [
        ["x-original-request", `GET ${path} HTTP/1.1`],
        ["x-original-host", HOST],
        ...described,
      ]),
      "HAProxy SPOE": () => haproxy.ask(message),
      "AuthZEN evaluation": post("/access/v1/evaluation", question, (text) => text === '{"decision":true}'),
      "AWS REQUEST authorizer": post("/aws", event, (text) => text.includes('"Effect":"Allow"')),
    },
    close() {
      client.close();
      agent.destroy();
      haproxy.close();
    },
  };
}

/** A CheckResponse begins with its status; one without a code is OK. */
const OK = Buffer.from([0x0a, 0x00]);

function assertPermit(isPermit: boolean, what: string): void {
  if (!isPermit) throw new Error(`no permit: ${what}`);
}

function ask(
  options: {
    readonly agent: Agent;
    readonly port: number;
    readonly path: string;
    readonly method?: string;
    readonly headers: readonly string[];
  },
  body?: string,
  isPermit: (answer: string) => boolean = () => true,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request({ ...options, host: "127.0.0.1", headers: [...options.headers] }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode === 200 && isPermit(text)) resolve();
        else reject(new Error(`no permit: ${options.path}: ${response.statusCode} ${text}`));
      });
    });
    call.on("error", reject);
    call.end(body);
  });
}

const counted = (bytes: Buffer) => Buffer.concat([varint(bytes.length), bytes]);
/** Data types of the protocol: a boolean that is false, an IPv4 address, a text, bytes. */
const TYPE = { no: 1, ipv4: 6, text: 8, bytes: 9 } as const;

/** What `gatehouse.conf` has HAProxy send. */
function haproxyMessage(path: string, headers: Headers): Buffer {
  const argument = (name: string, type: number, value: Buffer) =>
    Buffer.concat([counted(Buffer.from(name)), Buffer.from([type]), value]);
  const text = (name: string, value: string) => argument(name, TYPE.text, counted(Buffer.from(value)));
  const listed = [...headers, ["", ""] as const].flat().map((one) => counted(Buffer.from(one)));
  const values = [
    text("method", "GET"),
    text("target", path),
    text("version", "1.1"),
    argument("headers", TYPE.bytes, counted(Buffer.concat(listed))),
    argument("address", TYPE.ipv4, Buffer.from(ADDRESS.split(".").map(Number))),
    argument("tls", TYPE.no, Buffer.alloc(0)),
  ];
  const name = counted(Buffer.from("gatehouse-request"));
  return Buffer.concat([name, Buffer.from([values.length]), ...values]);
}

/** One connection, on which questions wait for their answers beside each other. */
async function connectSpop(port: number) {
  const socket = connect(port, "127.0.0.1");
  const waiting = new Map<number, (permit: boolean) => void>();
  const { promise: greeted, resolve: greet, reject } = Promise.withResolvers<undefined>();
  let received = Buffer.alloc(0);
  let stream = 0;
  const take = (bytes: Buffer) => {
    const frame = readFrame(bytes);
    if (frame.type === FRAME.agentHello) greet(undefined);
    if (frame.type !== FRAME.ack) return;
    waiting.get(frame.stream)?.(isPermitted(frame.payload));
    waiting.delete(frame.stream);
  };
  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? Buffer.from(chunk) : Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readUInt32BE()) {
      const end = 4 + received.readUInt32BE();
      take(received.subarray(4, end));
      received = received.subarray(end);
    }
  });
  socket.on("error", reject);
  const values = { "supported-versions": "2.0", "max-frame-size": 16_380, capabilities: "pipelining" };
  socket.write(writeFrame({ type: FRAME.haproxyHello, stream: 0, frame: 0, payload: writeList(values) }));
  await greeted;
  return {
    async ask(payload: Buffer): Promise<void> {
      stream += 1;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.set(stream, resolve);
      socket.write(writeFrame({ type: FRAME.notify, stream, frame: 1, payload }));
      assertPermit(await promise, "HAProxy");
    },
    close: () => socket.destroy(),
  };
}

/** Whether one of the variables that an ACK sets is the verdict `allow`. */
function isPermitted(payload: Buffer): boolean {
  const reader = new SpopReader(payload);
  while (!reader.atEnd) {
    reader.bytes(3);
    const name = reader.name();
    const value = reader.typed();
    if (name === "verdict") return Buffer.isBuffer(value) && value.toString() === "allow";
  }
  return false;
}
