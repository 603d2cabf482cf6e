import { ApiError } from "../platform/errors.ts";
import type { Answer } from "../platform/frame/route.ts";

/**
 * The end of a sign-in whose flow is unknown. No address in the request is safe to redirect a browser to (RFC 9700,
 * section 4.11.1), so a person gets a page that contains nothing of the request, and a program gets the usual error.
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
