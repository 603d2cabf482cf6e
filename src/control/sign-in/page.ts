import { ApiError } from "../platform/errors.ts";
import type { Answer } from "../platform/frame/route.ts";

/**
 * The end of a sign-in that nobody knows: no address in the request is one to send a browser to (RFC 9700, section
 * 4.11.1), so a person is told, in a page that holds nothing of the request; a program, by the usual error.
 */
export function unknownSignIn(accept: string | undefined): Answer {
  const error = new ApiError("INVALID_STATE");
  if (accept?.includes("text/html") !== true) return { kind: "refusal", error };
  return { kind: "page", status: error.status, html: PAGE, headers: { "cache-control": "no-store" } };
}

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sign-in failed</title></head>
<body>
<h1>This sign-in cannot be completed</h1>
<p>It was already completed, took longer than ten minutes, or was not started here.</p>
<p>Go back to the application and sign in again.</p>
</body>
</html>
`;
