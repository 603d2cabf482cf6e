import type { Request } from "express";
import { escapeHtml } from "../text/index.ts";
import { identityHeaders } from "./whoami.ts";

const MENU = [
  { path: "/", label: "Home" },
  { path: "/dashboard", label: "Dashboard" },
  { path: "/admin/settings", label: "Settings" },
] as const;

/**
 * Wraps a page in the layout that all pages share.
 * @param content HTML, already escaped.
 */
export function renderPage(request: Request, title: string, content: string): string {
  const menu = MENU.map(({ path, label }) => {
    const current = request.path === path ? ' aria-current="page"' : "";
    return `<a href="${path}"${current}>${label}</a>`;
  }).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Ledgerly</title>
<link rel="icon" type="image/svg+xml" href="/assets/logo.svg">
<link rel="stylesheet" href="/assets/style.css">
</head>
<body>
<header><div>
<strong><img src="/assets/logo.svg" alt="">Ledgerly</strong>
<nav>${menu}</nav>
<span class="who">${escapeHtml(greeting(request))}</span>
</div></header>
<main>
<h1>${escapeHtml(title)}</h1>
${content}
</main>
<footer>Ledgerly is the demo application of Gatehouse. It has no access control of its own: the gateway in front of it does that.</footer>
</body>
</html>
`;
}

function greeting(request: Request): string {
  const headers = identityHeaders(request);
  const name = headers["x-user-name"] ?? headers["x-user-id"];
  if (name === undefined) return "Not signed in";
  const role = headers["x-user-role"];
  return role === undefined ? `Signed in as ${name}` : `Signed in as ${name} (${role})`;
}
