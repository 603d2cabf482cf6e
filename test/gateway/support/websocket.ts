import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { WebsocketPlanIR } from "../../../src/policy/index.ts";
import { OPCODE } from "../../lua/websocket/support.ts";
import { until } from "./client.ts";
import { startGateway, type Overrides, type TestGateway } from "./gateway.ts";
import { planned } from "./plans.ts";
import { openState } from "./state-file.ts";
import { described, framesOf, fromServer, type ReadFrame } from "./websocket-frames.ts";

/** One end of a connection: writes bytes as they are, and remembers what came. */
export class Wire {
  readonly socket: Duplex;
  ended = false;
  /** For every frame that came whole. */
  onFrame: (frame: ReadFrame) => void = () => undefined;
  #bytes: Buffer = Buffer.alloc(0);
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Duplex, received: Buffer = Buffer.alloc(0)) {
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.on("close", () => (this.ended = true));
    socket.on("end", () => (this.ended = true));
    socket.on("data", (data: Buffer) => {
      this.#receive(data);
    });
    // after whoever makes this has said what frames are for
    queueMicrotask(() => {
      this.#receive(received);
    });
  }

  /** All that came, for what is no frame. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** All frames that came, and `... n bytes` for what is not whole. */
  get said(): readonly string[] {
    const { frames, rest } = framesOf(this.#bytes);
    return [...frames.map(described), ...(rest.length > 0 ? [`... ${String(rest.length)} bytes`] : [])];
  }

  get frames(): readonly ReadFrame[] {
    return framesOf(this.#bytes).frames;
  }

  /** Each of these in a packet of its own, as far as it lies with the sender. */
  async write(...parts: readonly Buffer[]): Promise<void> {
    for (const part of parts) {
      await new Promise<void>((resolve) => this.socket.write(part, () => setImmediate(resolve)));
    }
  }

  async heard(what: string): Promise<void> {
    await until(
      () => this.said.includes(what),
      `${what} came; so far ${JSON.stringify(this.said.map((text) => text.slice(0, 200)))}`,
    );
  }

  /** Waits for a CLOSE. */
  async closing(): Promise<string> {
    const find = () => this.said.find((text) => text.startsWith("close"));
    await until(() => find() !== undefined, "a CLOSE came");
    return find() ?? "";
  }

  #receive(data: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, data]);
    const { frames, rest } = framesOf(Buffer.concat([this.#rest, data]));
    this.#rest = rest;
    for (const frame of frames) this.onFrame(frame);
  }
}

/** What a server says to a handshake; `undefined`: nothing at all. */
export type Handshake = (request: IncomingMessage) => string | Buffer | undefined;

export function switching(request: IncomingMessage, ...headers: readonly string[]): string {
  const accept = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"] ?? ""}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");
  const lines = [
    "HTTP/1.1 101 Switching Protocols",
    "Connection: Upgrade",
    "Upgrade: websocket",
    `Sec-WebSocket-Accept: ${accept}`,
  ];
  return [...lines, ...headers, "", ""].join("\r\n");
}

export interface Connection {
  readonly id: string;
  readonly client: Wire;
  readonly server: Wire;
}

export interface OpenOptions {
  readonly headers?: readonly string[];
  /** Sent in the same packet as the handshake. */
  readonly early?: Buffer;
  /** Goes along with the plan. */
  readonly metadata?: Readonly<Record<string, string | number>>;
}

export type Plan = Partial<WebsocketPlanIR>;

/** A gateway, and an application that speaks WebSocket byte by byte. */
export interface SocketGateway {
  readonly gateway: TestGateway;
  readonly state: Awaited<ReturnType<typeof openState>>;
  /** Every end of a connection at the application, refused ones too. */
  readonly servers: Wire[];
  readonly requests: IncomingMessage[];
  handshake: Handshake;
  /** Does the server answer PINGs? */
  answering: boolean;
  /** Makes the service permit the next connection by this plan. -> its decision's id */
  permit(plan: Plan, metadata?: OpenOptions["metadata"]): string;
  /** A client's handshake, and whatever comes back. */
  knock(options?: OpenOptions): Promise<{ readonly client: Wire; readonly head: string }>;
  /** A connection that is open. */
  open(plan: Plan, options?: OpenOptions): Promise<Connection>;
  /** Waits until the gateway has ended this side, so that all it let through is there. */
  gone(side: Wire): Promise<void>;
  /** Ends what a test has opened. */
  reset(): void;
  stop(): Promise<void>;
}

/** @param luaDirectory - another copy of envoy/lua */
export async function startSocketGateway(
  overrides: Overrides = {},
  luaDirectory?: string,
): Promise<SocketGateway> {
  const gateway = await startGateway({
    overrides,
    ...(luaDirectory !== undefined && { luaDirectory }),
  });
  const state = await openState();
  const servers: Wire[] = [];
  const requests: IncomingMessage[] = [];
  const clients: Wire[] = [];
  const self: SocketGateway = {
    gateway,
    state,
    servers,
    requests,
    handshake: switching,
    answering: true,
    permit(plan, metadata = {}) {
      const id = `dec_${randomUUID()}`;
      const whole = { environment: "test", plain: false, limit: 1000, ...plan };
      const answer = planned(
        { ir: 1, websocket: whole },
        { decision_id: id, ...state.metadata, ...metadata },
      );
      gateway.authz.decide = () => ({
        ...answer,
        okResponse: { headersToRemove: ["sec-websocket-extensions"] },
      });
      return id;
    },
    async knock({ headers = [], early = Buffer.alloc(0) } = {}) {
      const socket = connect(gateway.port, "127.0.0.1");
      socket.setNoDelay(true);
      socket.write(Buffer.concat([Buffer.from(clientHandshake(headers)), early]));
      const { head, rest } = await answerOf(socket);
      const client = new Wire(socket, rest);
      clients.push(client);
      return { client, head };
    },
    async open(plan, options = {}) {
      const id = self.permit(plan, options.metadata);
      const before = servers.length;
      const { client, head } = await self.knock(options);
      if (!head.startsWith("HTTP/1.1 101 ")) throw new Error(head);
      const server = servers[before];
      if (server === undefined) throw new Error("no connection reached the server");
      return { id, client, server };
    },
    gone: (side) => until(() => side.ended, "the connection ended"),
    reset() {
      for (const { socket } of [...clients.splice(0), ...servers.splice(0)]) socket.destroy();
      requests.length = 0;
      self.handshake = switching;
      self.answering = true;
    },
    async stop() {
      self.reset();
      await state.close();
      await gateway.stop();
    },
  };
  gateway.upstream.server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    requests.push(request);
    socket.setNoDelay(true);
    const server = new Wire(socket, head);
    server.onFrame = ({ opcode, payload }) => {
      if (opcode === OPCODE.ping && self.answering)
        socket.write(fromServer(payload, { opcode: OPCODE.pong }));
    };
    servers.push(server);
    const answer = self.handshake(request);
    if (answer !== undefined) socket.write(answer);
  });
  return self;
}

export function clientHandshake(headers: readonly string[] = []): string {
  const lines = [
    "GET /feed HTTP/1.1",
    "Host: app.test",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  return [...lines, ...headers, "", ""].join("\r\n");
}

/** The head of an answer, and the bytes that came behind it. */
function answerOf(socket: Socket): Promise<{ head: string; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const read = (data: Buffer): void => {
      bytes = Buffer.concat([bytes, data]);
      const end = bytes.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.off("data", read).off("close", fail);
      resolve({ head: bytes.toString("latin1", 0, end), rest: bytes.subarray(end + 4) });
    };
    const fail = (): void => {
      reject(new Error(`the connection ended before an answer: ${bytes.toString("latin1")}`));
    };
    socket.on("data", read).on("close", fail).on("error", fail);
  });
}
