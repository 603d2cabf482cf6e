import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type {
  RecordsAnswer,
  PolicySetData,
  StateAnswer,
  StatisticsAnswer,
  StatisticsReport,
} from "../../src/protocol/index.ts";
import type { CustomerState } from "../../src/customer-state/index.ts";

/** How an answer goes wrong. `lost`: what was asked for is done, and the answer never arrives. */
export type Fault =
  | { readonly status: number; readonly code?: string; readonly headers?: Record<string, string> }
  | { readonly body: string | Buffer; readonly status?: number; readonly headers?: Record<string, string> }
  | "hang"
  | "cut"
  | "reset"
  | "lost";

export interface Asked {
  readonly method: string;
  /** From `/v1/gateway/` on, without query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly body: unknown;
}

type Change =
  | { readonly customer: CustomerState }
  | { readonly session: StateAnswer["sessions_ended"][number] }
  | { readonly user: UserState }
  | { readonly set: string };
type UserState = StateAnswer["users"][number];
export type PolicySet = Omit<PolicySetData, "name">;

export const ordinary = (id: string): CustomerState => ({
  id,
  status: "active",
  authentication: { mfa_required: false, allowed_email_domains: [], allowed_ip_ranges: [] },
  policy_sets: [],
});

/** The gateway's side of a control plane, as the contract says it, on a real socket; with the faults that are asked for. */
export class FakeControlPlane {
  readonly apiKey = "gh_live_gateway_key";
  readonly asked: Asked[] = [];
  readonly #server: Server;
  readonly #changes: Change[] = [];
  readonly #customers = new Map<string, CustomerState>();
  readonly #sessions = new Map<string, string>();
  readonly #users = new Map<string, UserState>();
  readonly #attributes = new Map<string, object>();
  readonly #sets = new Map<string, PolicySet>();
  #waiting: (() => void)[] = [];
  /** Records taken, in the order in which they were first seen, and how often one was seen again. */
  readonly records: Record<string, unknown>[] = [];
  duplicates = 0;
  readonly #seen = new Set<string>();
  /** Records that are no records, told by themselves or with the whole batch. */
  isBad: (record: Record<string, unknown>) => false | "rejected" | "ahead" | "refused" = () => false;
  readonly statistics: StatisticsReport[] = [];
  statisticsAnswer: StatisticsAnswer = { accepted: true };
  fault: (asked: Asked) => Fault | undefined = () => undefined;
  /** Is waited for before an answer is made. */
  before: (asked: Asked) => Promise<void> | void = () => undefined;
  /** Cursors below this one are too old to be answered with changes. */
  forgotten = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(port = 0): Promise<FakeControlPlane> {
    const plane = new FakeControlPlane();
    await new Promise<void>((resolve) => plane.#server.listen(port, "127.0.0.1", resolve));
    return plane;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get options(): { readonly url: string; readonly apiKey: string } {
    return { url: this.url, apiKey: this.apiKey };
  }

  /** Stops listening, as if the process were gone. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  askedFor(path: string): Asked[] {
    return this.asked.filter((asked) => asked.path === path);
  }

  setCustomer(standing: CustomerState): void {
    this.#customers.set(standing.id, standing);
    this.#changed({ customer: standing });
  }

  endSession(session_id: string, until = "2100-01-01T00:00:00.000Z"): void {
    this.#sessions.set(session_id, until);
    this.#changed({ session: { session_id, until } });
  }

  setUser(id: string, attributes: object, status: UserState["status"] = "active"): void {
    const user = { id, customer_id: "cus_1", status };
    this.#users.set(id, user);
    if (status === "deleted") this.#attributes.delete(id);
    else this.#attributes.set(id, { id, customer_id: "cus_1", status, ...attributes });
    this.#changed({ user });
  }

  activate(name: string, set: PolicySet): void {
    this.#sets.set(name, set);
    this.#changed({ set: name });
  }

  get cursor(): string {
    return `c${this.#changes.length}`;
  }

  /** The whole state, as `GET /gateway/state` says it. */
  state(): StateAnswer {
    return {
      cursor: this.cursor,
      complete: true,
      customers: [...this.#customers.values()].filter(
        (one) => JSON.stringify(one) !== JSON.stringify(ordinary(one.id)),
      ),
      sessions_ended: [...this.#sessions].map(([session_id, until]) => ({ session_id, until })),
      users: [...this.#users.values()].filter(({ status }) => status !== "active"),
      policy_sets: [...this.#sets].map(([name, { version, digest }]) => ({ name, version, digest })),
    };
  }

  #changed(change: Change): void {
    this.#changes.push(change);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** What has changed since a cursor. */
  changesSince(seq: number): StateAnswer {
    const changes = this.#changes.slice(seq);
    const sets = new Set(changes.flatMap((change) => ("set" in change ? [change.set] : [])));
    return {
      cursor: this.cursor,
      complete: false,
      customers: changes.flatMap((change) => ("customer" in change ? [change.customer] : [])),
      sessions_ended: changes.flatMap((change) => ("session" in change ? [change.session] : [])),
      users: changes.flatMap((change) => ("user" in change ? [change.user] : [])),
      policy_sets: this.state().policy_sets.filter(({ name }) => sets.has(name)),
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://localhost");
    const asked: Asked = {
      method: request.method ?? "",
      path: url.pathname.replace(/^\/v1\/gateway\//, ""),
      query: url.searchParams,
      authorization: request.headers.authorization,
      body: request.method === "POST" ? await json(request) : undefined,
    };
    this.asked.push(asked);
    await this.before(asked);
    const fault = this.fault(asked);
    if (fault === "hang") return;
    if (fault === "reset") {
      request.socket.resetAndDestroy();
      return;
    }
    if (fault !== undefined && fault !== "lost" && fault !== "cut") {
      if ("body" in fault) response.writeHead(fault.status ?? 200, fault.headers).end(fault.body);
      else send(response, fault.status, failure(fault.code ?? "INTERNAL_ERROR"), fault.headers);
      return;
    }
    const [status, answer] = await this.#answer(asked, request);
    if (fault === "lost") response.destroy();
    else if (fault === "cut") {
      const text = JSON.stringify(answer);
      response.writeHead(status, { "content-length": text.length });
      response.write(text.slice(0, text.length >> 1), () => response.destroy());
    } else send(response, status, answer);
  }

  async #answer(asked: Asked, request: IncomingMessage): Promise<[number, object]> {
    if (asked.authorization !== `Bearer ${this.apiKey}`) return [401, failure("UNAUTHORIZED")];
    const [route, name = ""] = asked.path.split("/").map(decodeURIComponent);
    switch (`${asked.method} ${route ?? ""}`) {
      case "GET state":
        return success(await this.#stateFor(asked.query, request));
      case "GET policy-sets": {
        const set = this.#sets.get(name);
        return set === undefined ? [404, failure("POLICY_SET_NOT_FOUND")] : success({ name, ...set });
      }
      case "GET users": {
        const user = this.#attributes.get(name);
        return user === undefined ? [404, failure("USER_NOT_FOUND")] : success(user);
      }
      case "POST records":
        return this.#take((asked.body as { records: Record<string, unknown>[] }).records);
      case "POST statistics":
        this.statistics.push(asked.body as StatisticsReport);
        return success(this.statisticsAnswer);
      default:
        return [404, failure("NOT_FOUND")];
    }
  }

  async #stateFor(query: URLSearchParams, request: IncomingMessage): Promise<StateAnswer> {
    const seq = Number(/^c(\d+)$/.exec(query.get("after") ?? "")?.[1] ?? -1);
    if (seq < this.forgotten || seq > this.#changes.length) return this.state();
    if (seq === this.#changes.length) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Number(query.get("wait") ?? 0) * 1000);
        const wake = () => {
          clearTimeout(timer);
          resolve();
        };
        this.#waiting.push(wake);
        request.once("close", wake);
      });
    }
    return this.changesSince(seq);
  }

  #take(records: Record<string, unknown>[]): [number, object] {
    if (records.some((record) => this.isBad(record) === "refused"))
      return [422, failure("VALIDATION_FAILED")];
    const rejected: RecordsAnswer["rejected"][number][] = [];
    let [accepted, duplicates] = [0, 0];
    for (const [index, record] of records.entries()) {
      const key = JSON.stringify([record["decision_id"], record["event"] ?? "decision"]);
      const bad = this.isBad(record);
      if (bad === "rejected") rejected.push({ index, message: "this is no record" });
      else if (bad === "ahead")
        rejected.push({ index, code: "CLOCK_AHEAD", message: "`timestamp` is ahead: here it is noon" });
      else if (this.#seen.has(key)) duplicates += 1;
      else {
        this.#seen.add(key);
        this.records.push(record);
        accepted += 1;
      }
    }
    this.duplicates += duplicates;
    return success({ accepted, duplicates, rejected } satisfies RecordsAnswer);
  }
}

const meta = { timestamp: "2026-01-01T00:00:00.000Z", request_id: "req_1" };

function success(data: unknown): [number, object] {
  return [200, { success: true, data, meta }];
}

function failure(code: string): object {
  return { success: false, error: { code, message: `it says ${code}`, details: {} }, meta };
}

function send(
  response: ServerResponse,
  status: number,
  answer: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(answer));
}
