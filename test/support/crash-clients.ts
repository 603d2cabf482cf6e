import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { decisionRecord } from "../control/support/gateway-records.ts";
import { Follower, type State } from "../control/support/gateway-follower.ts";
import type { apiClient } from "./control-plane.ts";

export type Kind = "customer" | "policy" | "user" | "webhook";

/**
 * How a client deals with an answer that never came:
 * - `repeated`: the request has an `Idempotency-Key`, and is sent again until it is acknowledged;
 * - `doubled`: the same, and each time twice at once: one of the answers is as good as lost;
 * - `forsaken`: the same without sending it again;
 * - `plain`: no key, and not sent again: whether it was carried out the client does not know.
 */
export type Manner = "repeated" | "doubled" | "forsaken" | "plain";
const MANNERS: readonly Manner[] = ["repeated", "doubled", "plain", "repeated", "forsaken"];

/** One resource that a client wanted. */
export interface Wanted {
  readonly kind: Kind;
  /** Of this one alone. */
  readonly name: string;
  readonly manner: Manner;
  sent: number;
  /** Of the resource, once it is acknowledged. */
  id?: string;
  /** Its one update is acknowledged. */
  updated?: true;
}

type Call = ReturnType<typeof apiClient>;
type Answer = Awaited<ReturnType<Call>>;

interface Taken {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly object[];
}

/** Waits before the same is sent again. */
const PAUSE_MS = 50;

/**
 * Clients that go on whatever happens to the service: one for each kind of resource, two gateways that hand records over,
 * and one that follows the state. They keep what they were told, for comparing it with what is there.
 */
export class CrashClients {
  readonly wanted: Wanted[] = [];
  /** Ids of records whose batch was acknowledged. */
  readonly records: string[] = [];
  /** Records among them that are violations. */
  violations = 0;
  acknowledged = 0;
  /** Requests without an answer. */
  lost = 0;
  /** Answers that are neither success nor 503 in the envelope. */
  readonly strange: string[] = [];
  unavailable = 0;
  readonly follower: Follower;
  readonly #call: Call;
  readonly #home: string;
  readonly #receiver: string;
  readonly #prefix = randomUUID().slice(0, 8);
  #stopped = false;
  #abandoned = false;
  #running: readonly Promise<void>[] = [];

  /**
   * @param home - the customer that users are made of
   * @param receiver - where webhooks lead
   */
  constructor(call: Call, { home, receiver }: { readonly home: string; readonly receiver: string }) {
    this.#call = call;
    this.#home = home;
    this.#receiver = receiver;
    this.follower = new Follower((query) => this.#untilAnswered<State>(`/gateway/state${query}`));
  }

  start(): void {
    const makers = (["customer", "policy", "user", "webhook"] as const).map((kind) => this.#make(kind));
    this.#running = [...makers, this.#handOver(), this.#handOver(), this.follower.start()];
  }

  /** Lets everybody finish what is under way; whoever repeats is acknowledged then. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.follower.stop();
    await Promise.all(this.#running);
  }

  /** For the end of a test, however it went: nobody waits for a service that does not come back. */
  async abandon(): Promise<void> {
    this.#stopped = true;
    this.#abandoned = true;
    this.follower.stop();
    await Promise.allSettled(this.#running);
  }

  async #make(kind: Kind): Promise<void> {
    for (let count = 0; !this.#stopped; count++) {
      const manner = MANNERS[count % MANNERS.length] ?? "plain";
      const wanted: Wanted = { kind, name: `${this.#prefix} ${kind} ${count}`, manner, sent: 0 };
      this.wanted.push(wanted);
      const made = await this.#create(wanted);
      if (made === undefined) continue;
      wanted.id = made;
      const update = UPDATES[kind];
      if (update === undefined) continue;
      // the same again changes nothing
      await this.#untilDone("PUT", `/${update.path}/${made}`, update.body);
      wanted.updated = true;
    }
  }

  async #create(wanted: Wanted): Promise<string | undefined> {
    const { kind, name, manner } = wanted;
    const { path, body } = this.#creation(kind, name);
    const headers: Record<string, string> = manner === "plain" ? {} : { "idempotency-key": randomUUID() };
    while (!this.#abandoned) {
      wanted.sent += 1;
      const copies = manner === "doubled" ? 2 : 1;
      const answers = await Promise.all(
        Array.from({ length: copies }, () => this.#send("POST", path, body, headers)),
      );
      const ids = new Set(answers.flatMap((answer) => (answer?.body.data.id as string | undefined) ?? []));
      const [id] = ids;
      if (ids.size > 1) this.strange.push(`${name} is ${[...ids].join(" and ")}`);
      if (id !== undefined) return id;
      await delay(PAUSE_MS);
      if (manner === "plain" || manner === "forsaken") break;
    }
    return undefined;
  }

  #creation(kind: Kind, name: string): { path: string; body: object } {
    switch (kind) {
      case "customer":
        return { path: "/customers", body: { name } };
      case "policy": {
        const conditions = { mfa_required: true };
        return { path: "/policies", body: { name, description: "", type: "authentication", conditions } };
      }
      case "user":
        return { path: `/customers/${this.#home}/users`, body: { subject: name } };
      case "webhook": {
        const body = { url: this.#receiver, events: ["api_key.revoked"], description: name };
        return { path: "/webhooks", body };
      }
    }
  }

  async #handOver(): Promise<void> {
    while (!this.#stopped) {
      const records = Array.from({ length: 20 }, (_, index) =>
        decisionRecord({
          timestamp: new Date().toISOString(),
          user_id: `usr_${index % 7}`,
          ...(index === 0 && { decision: "DENY", reason: "MFA_REQUIRED" }),
        }),
      );
      // twice at once: as after an answer that was lost
      const answers = await Promise.all(
        [1, 2].map(() => this.#untilDone("POST", "/gateway/records", { records })),
      );
      for (const { body } of answers) {
        const { accepted, duplicates, rejected } = body.data as Taken;
        if (accepted + duplicates !== records.length) this.strange.push(JSON.stringify(rejected));
      }
      this.records.push(...records.map(({ decision_id: id }) => id));
      this.violations += 1;
    }
  }

  async #untilAnswered<T>(path: string): Promise<T> {
    return (await this.#untilDone("GET", path)).body.data as T;
  }

  async #untilDone(method: string, path: string, body?: unknown): Promise<Answer> {
    while (!this.#abandoned) {
      const answer = await this.#send(method, path, body);
      if (answer !== undefined) return answer;
      await delay(PAUSE_MS);
    }
    throw new Error(`${method} ${path} was never answered`);
  }

  /** @returns the answer, where it is one of success */
  async #send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer | undefined> {
    let answer: Answer;
    try {
      answer = await this.#call(method, path, body, headers);
    } catch {
      this.lost += 1;
      return undefined;
    }
    if (answer.status === 200 || answer.status === 201) {
      if (method !== "GET") this.acknowledged += 1;
      return answer;
    }
    if (answer.status === 503 && answer.body.error?.code === "SERVICE_UNAVAILABLE") this.unavailable += 1;
    else this.strange.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return undefined;
  }
}

/** What is changed of each that is acknowledged. */
const UPDATES: Readonly<Partial<Record<Kind, { readonly path: string; readonly body: object }>>> = {
  customer: { path: "customers", body: { status: "suspended" } },
  policy: { path: "policies", body: { description: "changed" } },
};
