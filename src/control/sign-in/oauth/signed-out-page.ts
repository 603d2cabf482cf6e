import type { Answer } from "../../platform/frame/route.ts";

/** Pages at the end of a logout. They contain nothing of the request, run no script and load nothing. */
function pageOf(status: number, title: string, text: string): Answer {
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1>${title}</h1>
<p>${text}</p>
</body>
</html>
`;
  return { kind: "page", status, html };
}

export const SIGNED_OUT = pageOf(200, "You are signed out", "You can close this window.");

export const NOT_RETURNED = pageOf(
  400,
  "You are signed out",
  "The application asked to redirect you to an address that is not registered for it.",
);

export const UNKNOWN = pageOf(
  400,
  "You were not signed out",
  "This address does not identify a session. Go back to the application and sign out there.",
);
