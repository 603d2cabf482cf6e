import { EVENT_ID, type AliasEvent, type Event, type ScalarEvent } from "js-yaml";
import { placeName, type Reporter, type SourceRange } from "../diagnostics/reporter.ts";
import { quoted } from "../../text/index.ts";
import { readScalar } from "./read-scalar.ts";
import { sourceOffset } from "./scalar-offset.ts";
import type { SourceText } from "../diagnostics/source-text.ts";
import type { MappingEntry, ScalarNode, YamlNode } from "./tree.ts";
import { placeOf } from "./place-of.ts";

/** Maximum number of aliases in one file. */
export const MAX_ALIASES = 1000;
/**
 * Maximum number of nodes in one file. Nodes count again for every alias to them, because aliases of aliases grow
 * exponentially.
 */
export const MAX_NODES = 500_000;

/** A document, list or mapping that is being read. */
interface Frame {
  readonly kind: "document" | "sequence" | "mapping";
  readonly start: number;
  readonly anchor: string | undefined;
  readonly items: YamlNode[];
  readonly entries: MappingEntry[];
  readonly keys: Map<string, ScalarNode>;
  /** The key whose value comes next; `null` if that key cannot be used. */
  key: ScalarNode | null | undefined;
  /** The number of nodes within. */
  size: number;
}

type NodeEvent = Extract<Event, { anchorStart: number; tagStart: number }>;

/** The target of an anchor. */
interface Anchored {
  readonly node: YamlNode;
  readonly size: number;
}

/**
 * Characters that are not accepted: controls other than tab and line feed, bidirectional controls, unpaired surrogates,
 * non-characters.
 */
export const NOT_ACCEPTED =
  /[\u{0}-\u{8}\u{B}-\u{1F}\u{7F}-\u{9F}\u{2028}-\u{202E}\u{2066}-\u{2069}\u{D800}-\u{DFFF}\u{FEFF}\u{FFFE}\u{FFFF}]/u;

/** Builds the tree of one document from the parser's events. What is not accepted is reported. */
export class TreeBuilder {
  readonly #source: SourceText;
  readonly #report: Reporter;
  readonly #frames: Frame[] = [];
  readonly #anchors = new Map<string, Anchored | "open">();
  #aliases = 0;
  #nodes = 0;
  /** The end of the last node read. An empty value is placed there. */
  #end = 0;
  /** Reading has stopped, for a reason that was reported. */
  #stopped = false;

  constructor(source: SourceText, report: Reporter) {
    this.#source = source;
    this.#report = report;
  }

  /** @returns the document; `undefined` if reading stopped early */
  build(events: readonly Event[]): YamlNode | undefined {
    let documents = 0;
    let root: YamlNode | undefined;
    for (const event of events) {
      if (event.type === EVENT_ID.DOCUMENT) {
        if (++documents > 1) this.#secondDocument();
        else this.#directives(event.directives.length);
        this.#frames.push(frame("document", 0, undefined));
      } else if (event.type === EVENT_ID.POP) {
        root = this.#close() ?? root;
      } else if (event.type === EVENT_ID.ALIAS) {
        this.#alias(event);
      } else {
        this.#properties(event);
        if (event.type === EVENT_ID.SCALAR) this.#scalar(event);
        else
          this.#open(
            event.type === EVENT_ID.MAPPING ? "mapping" : "sequence",
            event.start,
            this.#anchorOf(event),
          );
      }
      if (this.#stopped) return undefined;
    }
    return root;
  }

  #open(kind: Frame["kind"], start: number, anchor: string | undefined): void {
    if (anchor !== undefined) this.#anchors.set(anchor, "open");
    this.#frames.push(frame(kind, start, anchor));
    this.#end = start + 1;
  }

  /** @returns the document's content, if the document is what ends */
  #close(): YamlNode | undefined {
    const { kind, start, anchor, items, entries, size } =
      this.#frames.pop() ?? frame("document", 0, undefined);
    if (kind === "document") return items[0];
    const place = { source: this.#source, start, end: this.#end };
    this.#nodes -= size; // its entries have been counted one by one
    this.#add(kind === "mapping" ? { kind, ...place, entries } : { kind, ...place, items }, size + 1, anchor);
    return undefined;
  }

  #scalar(event: ScalarEvent): void {
    const node = readScalar(event, this.#source, this.#end);
    const bad = NOT_ACCEPTED.exec(node.text);
    if (bad !== null) {
      const start = sourceOffset(node, bad.index);
      const code = (bad[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      this.#report.error(this.#at(start), "invalid-character", `the character U+${code} is not accepted`);
    }
    this.#end = node.end;
    this.#add(node, 1, this.#anchorOf(event));
  }

  #alias(event: AliasEvent): void {
    const start = event.anchorStart - 1;
    const place = { source: this.#source, start, end: event.anchorEnd };
    const name = this.#source.text.slice(event.anchorStart, event.anchorEnd);
    const target = this.#anchors.get(name);
    this.#end = event.anchorEnd;
    if (++this.#aliases > MAX_ALIASES) {
      this.#stop(place, "too-many-aliases", `a file may have at most ${MAX_ALIASES} aliases`);
    } else if (target === undefined) {
      this.#stop(place, "unknown-alias", `unknown anchor: no ${quoted(`&${name}`)} before this alias`);
    } else if (target === "open") {
      this.#stop(
        place,
        "unknown-alias",
        `the alias ${quoted(`*${name}`)} is inside the node that it refers to`,
      );
    } else {
      this.#add(target.node, target.size, undefined, place);
    }
  }

  /** Adds a node to the list or mapping that is being read. For an alias, `place` is its own position. */
  #add(node: YamlNode, size: number, anchor: string | undefined, place: SourceRange = placeOf(node)): void {
    const parent = this.#frames.at(-1);
    this.#nodes += size;
    if (anchor !== undefined) this.#anchors.set(anchor, { node, size });
    if (this.#nodes > MAX_NODES) {
      this.#stop(
        place,
        "too-many-nodes",
        `a file may have at most ${MAX_NODES} keys and values, with aliases expanded`,
      );
    }
    if (parent === undefined) return;
    parent.size += size;
    if (parent.kind !== "mapping") {
      parent.items.push(node);
    } else if (parent.key === undefined) {
      parent.key = this.#key(parent, node, place);
    } else {
      if (parent.key !== null) parent.entries.push({ key: parent.key, value: node });
      parent.key = undefined;
    }
  }

  #key(parent: Frame, node: YamlNode, place: SourceRange): ScalarNode | null {
    if (node.kind !== "scalar" || node.value === null) {
      this.#report.error(place, "invalid-key", "a key must be a name");
      return null;
    }
    if (node.text === "<<" && node.style === "plain") {
      this.#report.error(place, "merge-key", "merge keys are not accepted", "write out the keys");
      return null;
    }
    const first = parent.keys.get(node.text);
    if (first !== undefined) {
      const message = `duplicate key ${quoted(node.text)}; first defined at ${placeName(first)}`;
      this.#report.error(place, "duplicate-key", message);
      return null;
    }
    parent.keys.set(node.text, node);
    return node;
  }

  #properties({ tagStart, tagEnd }: NodeEvent): void {
    if (tagStart < 0) return;
    const tag = this.#source.text.slice(tagStart, tagEnd);
    const place = { source: this.#source, start: tagStart, end: tagEnd };
    this.#report.error(
      place,
      "unsupported-tag",
      `the tag ${quoted(tag)} is not accepted`,
      "delete it; to get a string, use quotes",
    );
  }

  #anchorOf({ anchorStart, anchorEnd }: NodeEvent): string | undefined {
    return anchorStart < 0 ? undefined : this.#source.text.slice(anchorStart, anchorEnd);
  }

  #directives(count: number): void {
    if (count === 0) return;
    const start = this.#source.text.search(/^%/m);
    this.#report.error(
      this.#at(start),
      "unsupported-directive",
      "YAML directives are not accepted",
      "delete it: files are always YAML 1.2",
    );
  }

  #secondDocument(): void {
    const rest = this.#source.text.slice(this.#end);
    const marker = Math.max(0, rest.search(/^(?:---|\.\.\.)(?=\s|$)/m));
    this.#report.error(
      this.#at(this.#end + marker),
      "several-documents",
      "a file must have exactly one YAML document",
      "move the rest to another file in the same folder",
    );
    this.#stopped = true;
  }

  #stop(place: SourceRange, code: string, message: string): void {
    this.#report.error(place, code, message);
    this.#stopped = true;
  }

  #at(start: number): SourceRange {
    return { source: this.#source, start, end: start + 1 };
  }
}

function frame(kind: Frame["kind"], start: number, anchor: string | undefined): Frame {
  return { kind, start, anchor, items: [], entries: [], keys: new Map(), key: undefined, size: 0 };
}
