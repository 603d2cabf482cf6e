/** What a `curl` of a page asks. */
export interface Asked {
  readonly method: string;
  /** As it is written, parameters of the shell included. */
  readonly url: string;
  readonly body: string | undefined;
  readonly headers: readonly string[];
}

/** Options that take a value. */
const WITH_VALUE = /[HdXuowbceAmTFxKrCEUQ]/;
const LONG_WITH_VALUE = new Set([
  ...["header", "data", "data-raw", "data-binary", "data-urlencode", "json", "request", "user", "output"],
  ...[
    "write-out",
    "cookie",
    "cookie-jar",
    "cert",
    "key",
    "cacert",
    "resolve",
    "connect-to",
    "max-time",
    "retry",
  ],
  ...[
    "retry-delay",
    "unix-socket",
    "url",
    "form",
    "proxy",
    "user-agent",
    "referer",
    "connect-timeout",
    "http2-prior",
  ],
]);

/**
 * @param words - what follows `curl`
 * @throws if there is not one URL
 */
export function parseCurl(words: readonly string[]): Asked {
  const urls: string[] = [];
  const values = new Map<string, string[]>();
  const add = (option: string, value: string) => values.set(option, [...(values.get(option) ?? []), value]);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word.startsWith("--")) {
      const [name = "", value] = word.slice(2).split(/=(.*)/s);
      if (value !== undefined) add(name, value);
      else if (LONG_WITH_VALUE.has(name)) add(name, words[(index += 1)] ?? "");
    } else if (/^-[A-Za-z]/.test(word)) {
      // `-siX POST`: flags, and one option with a value at the end
      const at = word.slice(1).search(WITH_VALUE);
      if (at < 0) continue;
      const value = word.slice(at + 2);
      add(word[at + 1] ?? "", value === "" ? (words[(index += 1)] ?? "") : value);
    } else if (word !== "$@") urls.push(word);
  }
  const all = (...names: readonly string[]) => names.flatMap((name) => values.get(name) ?? []);
  urls.push(...all("url"));
  if (urls.length !== 1) throw new Error(`curl has ${urls.length} URLs: ${urls.join(" ")}`);
  const data = all("d", "data", "data-raw", "data-binary", "json");
  return {
    method: all("X", "request")[0] ?? (data.length > 0 ? "POST" : "GET"),
    url: urls[0] ?? "",
    body: data.length > 0 ? data.join("&") : undefined,
    headers: all("H", "header"),
  };
}
