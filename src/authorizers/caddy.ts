import type { Door } from "../decision/point/index.ts";
import { delivered, encoder, type HttpAnswer } from "./answer.ts";
import { ORIGINAL, originalConnection, originalHost, requestLine } from "./described.ts";
import { checkOf, type SubRequest } from "./sub-request.ts";

/** Caddy sets these itself. */
const SOURCES = new Set([
  ...ORIGINAL,
  ...["for", "host", "method", "proto", "uri"].map((name) => `x-forwarded-${name}`),
]);

/**
 * Caddy `forward_auth`. Each permit has all identity headers: in place of one that is missing, Caddy 2.6 sends the
 * application the text of its placeholder.
 */
export const caddy: Door<SubRequest, HttpAnswer> = {
  decode: (message, call) =>
    checkOf(
      message,
      {
        ...{ ...requestLine(message), host: originalHost(message), ...originalConnection(message) },
        tunnels: true,
        hidesForwarding: true,
      },
      SOURCES,
      call,
    ),
  encode: encoder({ of: delivered, lastResort: 500, everyHeader: true }),
};
