import { EMPTY_EXAMPLE, type Example } from "../core/explain-protocol.ts";
import { splitCommand } from "./split-command.ts";

/** What a pasted request says, and what of it does not matter to a policy or could not be read. */
export interface Pasted {
  readonly example: Pick<Example, "line" | "headers" | "body">;
  readonly ignored: readonly string[];
}

/** Reads a `curl` command, or a request as it is on the wire; `undefined` if it is neither. */
export function readPasted(text: string): Pasted | undefined {
  const trimmed = text.trim();
  return /^(?:\$\s+)?curl(?:\.exe)?\s/.test(trimmed) ? readCurl(trimmed) : readHttp(trimmed);
}

function readHttp(text: string): Pasted | undefined {
  const [head = "", ...rest] = text.split(/\r?\n\r?\n/);
  const [first = "", ...headers] = head.split(/\r?\n/);
  const [, method, target] = /^([A-Za-z]+) (\S+)(?: HTTP\/[0-9.]+)?$/.exec(first.trim()) ?? [];
  if (method === undefined || target === undefined) return undefined;
  const { path, host } = splitUrl(target);
  const hosted = host !== undefined && !headers.some((line) => /^host\s*:/i.test(line));
  return {
    example: {
      line: `${method} ${path}`,
      headers: [...(hosted ? [`host: ${host}`] : []), ...headers].join("\n"),
      body: rest.join("\n\n"),
    },
    ignored: [],
  };
}

/** Options with a value that say nothing of the request. */
const OF_THE_PROGRAM = new Set(
  (
    "-o --output -w --write-out -m --max-time --connect-timeout --retry --retry-delay --cacert --capath --resolve -x --proxy " +
    "--connect-to --interface -c --cookie-jar --limit-rate -E --cert --key --ciphers --tls-max -D --dump-header --stderr"
  ).split(" "),
);
const DATA = new Set(["-d", "--data", "--data-raw", "--data-ascii", "--data-binary"]);
/** Switches that say nothing of it. */
const SWITCHES = new Set(
  (
    "-s --silent -S --show-error -k --insecure -L --location -i --include -v --verbose --compressed -f --fail -N --no-buffer " +
    "--http1.1 --http2 -g --globoff -4 -6 -# --progress-bar --path-as-is --location-trusted --fail-with-body"
  ).split(" "),
);

function readCurl(command: string): Pasted | undefined {
  const [, ...words] = splitCommand(command.replace(/^\$\s+/, ""));
  const headers: string[] = [];
  const data: string[] = [];
  const ignored: string[] = [];
  let [url, method, get, json]: [string | undefined, string | undefined, boolean, boolean] = [
    undefined,
    undefined,
    false,
    false,
  ];
  const options = words.flatMap(oneEach);
  for (let at = 0; at < options.length; at++) {
    const option = options[at] ?? "";
    const value = () => options[(at += 1)] ?? "";
    if (!option.startsWith("-") || option === "-") url ??= option;
    else if (option === "-X" || option === "--request") method = value();
    else if (option === "-H" || option === "--header") headers.push(value());
    else if (DATA.has(option)) data.push(value());
    else if (option === "--json") [json] = [true, data.push(value())];
    else if (option === "--data-urlencode") data.push(encoded(value()));
    else if (option === "-G" || option === "--get") get = true;
    else if (option === "-I" || option === "--head") method ??= "HEAD";
    else if (option === "--url") url = value();
    else if (option === "-b" || option === "--cookie") headers.push(`cookie: ${value()}`);
    else if (option === "-A" || option === "--user-agent") headers.push(`user-agent: ${value()}`);
    else if (option === "-e" || option === "--referer") headers.push(`referer: ${value()}`);
    else if (option === "-u" || option === "--user")
      headers.push(`authorization: Basic ${toBase64(value())}`);
    else if (option === "--oauth2-bearer") headers.push(`authorization: Bearer ${value()}`);
    else if (OF_THE_PROGRAM.has(option)) value();
    else if (!SWITCHES.has(option)) ignored.push(option);
  }
  if (url === undefined) return undefined;
  const { path, host } = splitUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`);
  const has = (name: string) => headers.some((line) => line.toLowerCase().startsWith(`${name}:`));
  const body = data.join("&");
  const sends = data.length > 0 && !get;
  // a file is named, and not here
  if (sends && body.startsWith("@")) ignored.push(body);
  return {
    example: {
      line: `${method ?? (sends ? "POST" : "GET")} ${get && body !== "" ? withQuery(path, body) : path}`,
      headers: [
        ...(host === undefined || has("host") ? [] : [`host: ${host}`]),
        ...headers,
        ...(sends && !has("content-type")
          ? [`content-type: ${json ? "application/json" : "application/x-www-form-urlencoded"}`]
          : []),
        ...(json && !has("accept") ? ["accept: application/json"] : []),
      ].join("\n"),
      body: sends && !body.startsWith("@") ? body : "",
    },
    ignored,
  };
}

/** `-XPOST` is `-X POST`, `-sSk` is three switches, `--request=POST` is two words. */
function oneEach(word: string): readonly string[] {
  const [, name, value] = /^(--[a-z0-9-]+)=([^]*)$/.exec(word) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  if (!/^-[A-Za-z#]./.test(word)) return [word];
  const [first, rest] = [word.slice(0, 2), word.slice(2)];
  return SWITCHES.has(first) || first === "-G" || first === "-I"
    ? [first, ...oneEach(`-${rest}`)]
    : [first, rest];
}

function encoded(given: string): string {
  const at = given.indexOf("=");
  return at < 0
    ? encodeURIComponent(given)
    : `${given.slice(0, at)}${at === 0 ? "" : "="}${encodeURIComponent(given.slice(at + 1))}`;
}

function withQuery(path: string, query: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

/** Not `new URL`, which would repair what a policy must see as it is sent. */
function splitUrl(url: string): { readonly path: string; readonly host: string | undefined } {
  const [, authority, path = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)([^#]*)/i.exec(url) ?? [];
  if (authority === undefined) return { path: url, host: undefined };
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  return { path: path.startsWith("/") ? path : `/${path}`, host };
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** The fields of an example that a pasted request sets; the others stay. */
export function withPasted(before: Example, { example }: Pasted): Example {
  return { ...EMPTY_EXAMPLE, ...before, ...example };
}
