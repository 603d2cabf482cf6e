import { readdirSync, readFileSync } from "node:fs";
import { load } from "js-yaml";
import type { RefusalCheck, StatedReading, Switch } from "../../src/request/index.ts";
import type { Reason } from "../../src/reasons.ts";

/** URLs of real frameworks; test/cases/urls/README.md says what their keys mean. */
const DIRECTORY = new URL("../cases/urls/", import.meta.url);

interface Written {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly refused?: RefusalCheck;
  readonly reason?: Reason;
  readonly accept?: AcceptEntry;
  readonly rule?: string;
}

/** An entry of `gateway.accept_ambiguous`. */
export interface AcceptEntry {
  readonly path: string;
  readonly checks: readonly Switch[];
  readonly reading?: StatedReading;
}

interface UrlFile {
  readonly description: string;
  readonly groups: readonly {
    readonly framework: string;
    readonly document: string;
    readonly urls: readonly (string | Written)[];
  }[];
}

/** A URL, what happens to it by default, and what lets it through if it is refused. */
export interface UrlCase extends Omit<Written, "url" | "headers"> {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The URLs of one framework, and the document that shows them. */
export interface UrlGroup {
  readonly framework: string;
  readonly document: string;
  readonly urls: readonly UrlCase[];
}

export const urlFiles: readonly { readonly description: string; readonly groups: readonly UrlGroup[] }[] =
  readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".yaml"))
    .sort()
    .map((file) => load(readFileSync(new URL(file, DIRECTORY), "utf8")) as UrlFile)
    .map(({ description, groups }) => ({
      description,
      groups: groups.map((group) => ({ ...group, urls: group.urls.map(toCase) })),
    }));

export const urlCases: readonly UrlCase[] = urlFiles.flatMap(({ groups }) =>
  groups.flatMap(({ urls }) => urls),
);

function toCase(written: string | Written): UrlCase {
  const { url, headers = {}, ...rest } = typeof written === "string" ? { url: written } : written;
  const [, method = "GET", target = ""] = /^(?:([A-Z]+) )?(\/.*)$/.exec(url) ?? [];
  return { ...rest, method, target, headers: Object.entries(headers) };
}
