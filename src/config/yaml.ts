import {
  EVENT_ID,
  NOT_RESOLVED,
  SCALAR_STYLE,
  YAMLException,
  boolCoreTag,
  floatCoreTag,
  getScalarValue,
  intCoreTag,
  nullCoreTag,
  parseEvents,
} from "js-yaml";
import type { Event, ScalarEvent } from "js-yaml";

/** A YAML value with its position: offsets into the text, in UTF-16 units, end exclusive. */
export type ConfigNode = YamlScalar | YamlSequence | YamlMapping;
interface Span {
  readonly start: number;
  readonly end: number;
}
export interface YamlScalar extends Span {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
}
export interface YamlSequence extends Span {
  readonly kind: "sequence";
  readonly items: readonly ConfigNode[];
}
export interface YamlMapping extends Span {
  readonly kind: "mapping";
  readonly entries: readonly YamlEntry[];
}
export interface YamlEntry {
  readonly key: string;
  readonly at: Span;
  readonly value: ConfigNode;
}
export interface YamlProblem extends Span {
  readonly code: "yaml-syntax" | "duplicate-key" | "unsupported-yaml";
  readonly message: string;
}

/**
 * Reads one YAML 1.2 document (core schema). Aliases, tags, merge keys and keys that are not plain words are reported as
 * errors, so that the file means what it appears to mean.
 *
 * @returns the document (absent if it is empty or cannot be parsed) and every problem in it.
 */
export function readYaml(text: string): {
  readonly root?: ConfigNode;
  readonly problems: readonly YamlProblem[];
} {
  let events: Event[];
  try {
    events = parseEvents(text, { maxDepth: 32 });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const start = Math.min(error.mark?.position ?? 0, text.length);
    return { problems: [{ code: "yaml-syntax", message: error.reason, start, end: start + 1 }] };
  }
  return new Reader(text, events).read();
}

class Reader {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #problems: YamlProblem[] = [];
  #next = 0;
  #end = 0;

  constructor(text: string, events: readonly Event[]) {
    this.#text = text;
    this.#events = events;
  }

  read() {
    let root: ConfigNode | undefined;
    const documents = this.#events.filter((event) => event.type === EVENT_ID.DOCUMENT).length;
    if (documents > 1) this.#report("unsupported-yaml", "only one document is allowed", { start: 0, end: 1 });
    if (this.#events[this.#next++]?.type === EVENT_ID.DOCUMENT) root = this.#node();
    const empty = root?.kind === "scalar" && root.value === null;
    return { ...(root === undefined || empty ? {} : { root }), problems: this.#problems };
  }

  /** Undefined at the end of the current collection. */
  #node(): ConfigNode | undefined {
    const event = this.#events[this.#next++];
    switch (event?.type) {
      case EVENT_ID.SCALAR:
        return this.#scalar(event);
      case EVENT_ID.ALIAS: {
        const span = { start: event.anchorStart - 1, end: event.anchorEnd };
        this.#report("unsupported-yaml", "aliases are not supported here", span);
        this.#end = event.anchorEnd;
        return { kind: "scalar", value: null, ...span };
      }
      case EVENT_ID.SEQUENCE: {
        this.#refuseTag(event);
        const items: ConfigNode[] = [];
        for (let item = this.#node(); item !== undefined; item = this.#node()) items.push(item);
        return { kind: "sequence", items, start: event.start, end: this.#endAfter(event.start) };
      }
      case EVENT_ID.MAPPING: {
        this.#refuseTag(event);
        const entries = this.#entries();
        return { kind: "mapping", entries, start: event.start, end: this.#endAfter(event.start) };
      }
      default:
        return undefined;
    }
  }

  #entries(): YamlEntry[] {
    const entries = new Map<string, YamlEntry>();
    for (let key = this.#node(); key !== undefined; key = this.#node()) {
      const value = this.#node();
      if (value === undefined) break;
      const at = { start: key.start, end: key.end };
      if (key.kind !== "scalar") {
        this.#report("unsupported-yaml", "a key must be a plain word", at);
        continue;
      }
      if (typeof key.value !== "string") {
        const message = `a key must be text, and this one is read as ${String(key.value)}: put it in quotes`;
        this.#report("unsupported-yaml", message, at);
        continue;
      }
      const name = key.value;
      if (entries.has(name)) this.#report("duplicate-key", `\`${name}\` is a duplicate key`, at);
      else entries.set(name, { key: name, at, value });
    }
    return [...entries.values()];
  }

  #scalar(event: ScalarEvent): YamlScalar {
    this.#refuseTag(event);
    const text = getScalarValue(this.#text, event);
    const value = event.style === SCALAR_STYLE.PLAIN ? plainValue(text) : text;
    const quoted =
      event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED ? 1 : 0;
    const start = event.valueStart < 0 ? this.#end : event.valueStart - quoted;
    this.#end = event.valueStart < 0 ? this.#end : event.valueEnd + quoted;
    return { kind: "scalar", value, start, end: this.#end };
  }

  #refuseTag(event: { tagStart: number; tagEnd: number }): void {
    if (event.tagStart < 0) return;
    this.#report("unsupported-yaml", "tags are not supported here", {
      start: event.tagStart,
      end: event.tagEnd,
    });
  }

  #endAfter(start: number): number {
    return Math.max(this.#end, start + 1);
  }

  #report(code: YamlProblem["code"], message: string, { start, end }: Span): void {
    this.#problems.push({ code, message, start, end });
  }
}

function plainValue(text: string): string | number | boolean | null {
  for (const tag of [nullCoreTag, boolCoreTag, intCoreTag, floatCoreTag]) {
    const value: unknown = tag.resolve(text, false, tag.tagName);
    if (value === NOT_RESOLVED) continue;
    if (value === null || typeof value === "number" || typeof value === "boolean") return value;
  }
  return text;
}
