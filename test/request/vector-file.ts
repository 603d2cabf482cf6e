import { readdirSync, readFileSync } from "node:fs";
import { load } from "js-yaml";
import type { RawRequest, RefusalCheck, StatedReading, Switch } from "../../src/request/index.ts";

/** The published vectors; test/cases/request/README.md says what their keys mean. */
const DIRECTORY = new URL("../cases/request/", import.meta.url);

type Text = string | readonly (string | { readonly text: string; readonly times: number })[];

interface RawKeys {
  readonly method?: Text;
  readonly target?: Text;
  readonly scheme?: Text;
  readonly host?: Text;
  readonly protocol?: Text;
  readonly headers?: readonly (readonly [name: string, value: string, times?: number])[];
  readonly body?: Text;
  readonly body_complete?: boolean;
}

export interface VectorCase extends RawKeys {
  readonly name?: string;
  readonly note?: string;
  readonly switched_off?: readonly Switch[];
  readonly under?: readonly VectorUnder[];
  readonly max_depth?: number;
  readonly reads?: VectorReads;
  readonly refused?: RefusalCheck;
  readonly segments?: readonly string[];
  readonly path?: string;
  readonly query?: Readonly<Record<string, readonly string[]>>;
  readonly query_json?: string;
  readonly canonical_method?: string;
  readonly canonical_host?: string;
  readonly canonical_scheme?: string;
  readonly canonical_headers?: Readonly<Record<string, readonly string[]>>;
  readonly canonical_headers_json?: string;
  readonly others?: readonly string[];
  readonly variants?: readonly string[];
  readonly accepted?: readonly RefusalCheck[];
  readonly in_query?: boolean;
  readonly stated?: StatedReading | "none";
  readonly json?: Text | null;
}

/** Checks that are switched off for the paths whose first segments are `below`. */
export interface VectorUnder {
  readonly below: readonly string[];
  readonly checks: readonly Switch[];
  readonly reading?: StatedReading;
}

/** Names that a rule reads; those of the body are paths, dotted. */
export interface VectorReads {
  readonly query?: readonly string[];
  readonly headers?: readonly string[];
  readonly body?: readonly string[];
}

export interface VectorFile {
  readonly file: string;
  readonly description: string;
  readonly base?: RawKeys;
  readonly reads_body?: boolean;
  readonly cases: readonly VectorCase[];
}

export interface Vector {
  readonly title: string;
  readonly raw: RawRequest;
  readonly readsBody: boolean;
  readonly case: VectorCase;
}

export const vectorFiles: readonly VectorFile[] = readdirSync(DIRECTORY)
  .filter((file) => file.endsWith(".yaml"))
  .sort()
  .map((file) => ({
    ...(load(readFileSync(new URL(file, DIRECTORY), "utf8")) as Omit<VectorFile, "file">),
    file,
  }));

export function vectorsOf(file: VectorFile): Vector[] {
  return file.cases.map((one) => {
    const raw = toRaw({ ...file.base, ...one });
    return { title: titleOf(one, raw), raw, readsBody: file.reads_body === true, case: one };
  });
}

export const allVectors: readonly Vector[] = vectorFiles.flatMap(vectorsOf);

function toRaw(keys: RawKeys): RawRequest {
  const raw = {
    method: join(keys.method ?? "GET"),
    target: join(keys.target ?? ""),
    scheme: join(keys.scheme ?? "https"),
    host: join(keys.host ?? "app.test"),
    protocol: join(keys.protocol ?? "HTTP/1.1"),
    headers: (keys.headers ?? []).flatMap(([name, value, times = 1]) =>
      Array.from({ length: times }, () => [name, value] as const),
    ),
  };
  if (keys.body === undefined) return raw;
  const bytes = Uint8Array.from(join(keys.body), (character) => character.charCodeAt(0));
  return { ...raw, body: { bytes, complete: keys.body_complete ?? true } };
}

export function join(text: Text): string {
  if (typeof text === "string") return text;
  return text.map((piece) => (typeof piece === "string" ? piece : piece.text.repeat(piece.times))).join("");
}

/** What tells a case apart from others: its own keys. */
function titleOf(one: VectorCase, raw: RawRequest): string {
  const own = Object.entries(one).filter(([key]) =>
    ["method", "scheme", "host", "protocol", "headers", "body", "switched_off", "reads"].includes(key),
  );
  const rest = own.length === 0 ? "" : ` ${JSON.stringify(Object.fromEntries(own))}`;
  return one.name ?? `${JSON.stringify(raw.target)}${rest}`.slice(0, 140);
}
