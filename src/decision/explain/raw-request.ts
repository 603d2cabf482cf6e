import { NO_BODY, type RawRequest } from "../../request/index.ts";

/** UTF-8 text as a door receives it: one latin1 character per byte. */
export function wireText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** An HTTP/1.1 request to a host that no rule names, with a JSON body if there is one. */
export function createRawRequest(input: {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
}): RawRequest {
  const hosts = input.headers.filter(([name]) => name === "host").map(([, value]) => value);
  const headers = input.headers.filter(([name]) => name !== "host");
  const base = {
    method: input.method,
    target: wireText(input.target),
    scheme: "http",
    // a repeated header is joined into one, as doors receive it
    host: hosts.length === 0 ? "gateway.local" : hosts.join(","),
    protocol: "HTTP/1.1",
  };
  if (input.body === undefined) return { ...base, headers, body: NO_BODY };
  const typed = headers.some(([name]) => name === "content-type");
  return {
    ...base,
    headers: typed ? headers : [...headers, ["content-type", "application/json"]],
    body: { bytes: new TextEncoder().encode(input.body), complete: true },
  };
}
