import { isObject } from "../json/index.ts";
import { namesAt } from "./keys.ts";
import { locate } from "./report.ts";
import type { ConfigFinding } from "./report.ts";
import type { YamlMapping, ConfigNode } from "./yaml.ts";

type Tree = Record<string, unknown>;

/** Values of all sources merged into one tree, and where each came from. */
export class Sources {
  readonly #file: string;
  readonly #tree: Tree = emptyTree();
  /** The origin of each key that was not set by the file, by dotted name. */
  readonly #setBy = new Map<string, string>();
  #text = "";
  #root: ConfigNode | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  addFile(text: string, root: ConfigNode | undefined): void {
    this.#text = text;
    this.#root = root;
    if (root?.kind === "mapping") Object.assign(this.#tree, plainMapping(root, []));
  }

  /** Sets a key, overriding the file. `origin` is the name of the source in messages. */
  set(path: readonly string[], value: unknown, origin: string): void {
    let section = this.#tree;
    for (const step of path.slice(0, -1)) {
      const inner = section[step];
      section = isTree(inner) ? inner : (section[step] = emptyTree());
    }
    section[path.at(-1) ?? ""] = value;
    this.#setBy.set(path.join("."), origin);
  }

  /** The input of the schema. A file without any sections is passed on for the schema to reject. */
  tree(): unknown {
    const root = this.#root;
    return root === undefined || root.kind === "mapping" ? this.#tree : plain(root, []);
  }

  valueAt(path: readonly PropertyKey[]): unknown {
    return path.reduce<unknown>(
      (current, step) =>
        typeof current === "object" && current !== null ? Reflect.get(current, step) : undefined,
      this.tree(),
    );
  }

  /** The value as the user wrote it, shortened. */
  shown(path: readonly PropertyKey[]): string {
    const found = this.#origin(path) === undefined ? this.#nodeAt(path) : undefined;
    const written = found?.exact === true ? this.#text.slice(found.node.start, found.node.end) : "";
    const text = written === "" ? this.#print(path) : written;
    const line = text.split("\n", 1)[0] ?? "";
    return line.length > 60 ? `${line.slice(0, 60)}...` : line;
  }

  #print(path: readonly PropertyKey[]): string {
    const value = this.valueAt(path);
    return typeof value === "string" ? value : JSON.stringify(value);
  }

  /** A finding at the place of the value (or the key) at `path`, or at the nearest section around it. */
  finding(
    code: string,
    path: readonly PropertyKey[],
    message: string,
    { hint, mark = "value" }: { readonly hint?: string | undefined; readonly mark?: "key" | "value" } = {},
  ): ConfigFinding {
    const base = { severity: "error" as const, code, message, ...(hint === undefined ? {} : { hint }) };
    const origin = this.#origin(path);
    const found = this.#nodeAt(path);
    if (origin !== undefined || found === undefined) {
      return { diagnostic: { ...base, file: origin ?? this.#file, line: 0, column: 0, length: 1 } };
    }
    const span = found.key !== undefined && (mark === "key" || !found.exact) ? found.key : found.node;
    const place = locate(this.#text, span.start, span.end);
    return { diagnostic: { ...base, file: this.#file, ...place }, text: this.#text };
  }

  #origin(path: readonly PropertyKey[]): string | undefined {
    const names = path.map((_, index) =>
      path
        .slice(0, index + 1)
        .map(String)
        .join("."),
    );
    return names.map((name) => this.#setBy.get(name)).find((origin) => origin !== undefined);
  }

  #nodeAt(path: readonly PropertyKey[]) {
    let node = this.#root;
    let key: { start: number; end: number } | undefined;
    for (const step of path) {
      const entry = node?.kind === "mapping" ? node.entries.find((member) => member.key === step) : undefined;
      const next = node?.kind === "sequence" ? node.items[Number(step)] : entry?.value;
      if (next === undefined)
        return node === undefined || node === this.#root ? undefined : { node, key, exact: false };
      key = entry?.at;
      node = next;
    }
    return node === undefined ? undefined : { node, key, exact: true };
  }
}

function plain(node: ConfigNode, path: readonly PropertyKey[]): unknown {
  switch (node.kind) {
    case "scalar":
      // `gateway:` with nothing below it is a section whose keys have all been commented out
      return node.value === null && namesAt(path) !== undefined ? emptyTree() : node.value;
    case "sequence":
      return node.items.map((item, index) => plain(item, [...path, index]));
    case "mapping":
      return plainMapping(node, path);
  }
}

function plainMapping(node: YamlMapping, path: readonly PropertyKey[]): Tree {
  const tree = emptyTree();
  for (const { key, value } of node.entries) tree[key] = plain(value, [...path, key]);
  return tree;
}

function emptyTree(): Tree {
  return Object.create(null) as Tree;
}

function isTree(value: unknown): value is Tree {
  return isObject(value);
}
