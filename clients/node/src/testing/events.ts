import type { Event } from "../api.ts";
import { newId, Refused } from "./store.ts";
import type { Json, JsonObject } from "./validate.ts";

/** What an event concerns. Without a customer: the whole environment. */
export interface EventSubject {
  readonly customerId?: string;
  readonly userId?: string;
}

/** The feed of events, in memory. */
export class FakeFeed {
  #events: JsonObject[] = [];
  /** Cursors of an earlier one have expired. */
  #generation = 1;
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  add(type: Event["type"], data: JsonObject, { customerId, userId }: EventSubject = {}): string {
    const id = newId("evt");
    const timestamp = new Date(this.#clock()).toISOString();
    this.#events.push({
      ...{ id, type, timestamp, customer_id: customerId ?? null, user_id: userId ?? null },
      data: structuredClone(data),
    });
    return id;
  }

  /** Forgets all events, as a reset or the end of their retention does. */
  expire(): void {
    this.#events = [];
    this.#generation += 1;
  }

  read({ after, limit = "100", type, customer_id }: Readonly<Record<string, string>>): JsonObject {
    const begin = after === "latest" ? this.#events.length : this.#placeOf(after);
    const found = this.#events
      .map((event, index) => ({ event, next: index + 1 }))
      .slice(begin)
      .filter(({ event }) => type === undefined || isOf(event["type"], type))
      .filter(({ event }) => customer_id === undefined || event["customer_id"] === customer_id);
    const shown = found.slice(0, Number(limit));
    const more = found.length > shown.length;
    return {
      events: shown.map(({ event }) => event),
      cursor: this.#cursorOf(more ? (shown.at(-1)?.next ?? begin) : this.#events.length),
      ...{ more, waiting_since: null },
    };
  }

  #cursorOf(place: number): string {
    const text = Buffer.from(JSON.stringify([this.#generation, place])).toString("base64url");
    return `v1.fake.${text}`;
  }

  #placeOf(cursor: string | undefined): number {
    if (cursor === undefined) return 0;
    if (!/^v1\.[\w-]+\.[\w-]+$/.test(cursor)) throw new Refused("INVALID_PARAMETER", { parameter: "after" });
    const text = /^v1\.fake\.(.+)$/.exec(cursor)?.[1];
    if (text === undefined) throw new Refused("CURSOR_EXPIRED");
    const [generation, place] = JSON.parse(Buffer.from(text, "base64url").toString()) as [number, number];
    if (generation !== this.#generation) throw new Refused("CURSOR_EXPIRED");
    return place;
  }
}

/** A type, or a family of types: `authentication` is all of `user.*`. */
function isOf(type: Json | undefined, wanted: string): boolean {
  const family = wanted === "authentication" ? "user" : wanted;
  return type === wanted || (typeof type === "string" && type.startsWith(`${family}.`));
}
