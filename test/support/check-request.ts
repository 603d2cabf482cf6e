import { CHECK_REQUEST, encodeWith, loadProtos } from "../extauthz/support/protos.ts";

const protos = loadProtos("ours");

/** A CheckRequest as Envoy sends it with `encode_raw_headers`. Header values are latin1. */
export function checkRequest(options: {
  readonly method?: string;
  readonly path: string;
  readonly host?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly peer?: string;
  readonly body?: Buffer;
  /** Version of plans that the route carries out; none where it is empty. */
  readonly plans?: string;
  /** What the route does with bodies. */
  readonly bodies?: "handed_over" | "on_request" | "unknown";
  /** Further context extensions of the route. */
  readonly extensions?: Readonly<Record<string, string>>;
}): Buffer {
  const {
    method = "GET",
    path,
    host = "app.test",
    headers = [],
    peer = "127.0.0.1",
    body,
    plans = "1",
  } = options;
  const { bodies = "handed_over", extensions = {} } = options;
  const now = Date.now();
  const pseudo = [
    [":authority", host],
    [":path", path],
    [":method", method],
    [":scheme", "http"],
  ] as const;
  return encodeWith(protos, CHECK_REQUEST, {
    attributes: {
      context_extensions: {
        ...(plans !== "" && { gatehouse_plans: plans }),
        ...(bodies !== "unknown" && { gatehouse_body: bodies }),
        ...extensions,
      },
      source: { address: { socket_address: { address: peer, port_value: 40000 } } },
      request: {
        time: { seconds: Math.floor(now / 1000), nanos: (now % 1000) * 1_000_000 },
        http: {
          id: "1234567890",
          method,
          path,
          host,
          scheme: "http",
          protocol: "HTTP/1.1",
          ...(body && { raw_body: body }),
          header_map: {
            headers: [...pseudo, ...headers].map(([key, value]) => ({
              key,
              raw_value: Buffer.from(value, "latin1"),
            })),
          },
        },
      },
    },
  });
}

/** What a browser or an API client sends beside its token. */
export const USUAL_HEADERS = [
  [
    "user-agent",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  ],
  ["accept", "application/json, text/plain, */*"],
  ["accept-encoding", "gzip, deflate, br, zstd"],
  ["accept-language", "en-GB,en;q=0.9,de;q=0.8"],
  ["cache-control", "no-cache"],
  ["referer", "http://app.test/customers?page=2"],
  ["sec-fetch-mode", "cors"],
  ["sec-fetch-site", "same-origin"],
  ["sec-fetch-dest", "empty"],
  ["x-forwarded-proto", "http"],
  ["x-forwarded-for", "127.0.0.1"],
  ["x-request-id", "3dded9cd-c371-4991-8ec2-0b2235be6220"],
] as const;
