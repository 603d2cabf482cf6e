import { createHash } from "node:crypto";

/** What the page says; plain text, escaped here. */
export interface DenialPage {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#d9dee5;--paper:#fff;--ground:#f4f6f8;--mark:#b42318}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf1;--soft:#9aa5b4;--line:#323b48;--paper:#1a212b;--ground:#11161d;--mark:#f97066}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:34rem;padding:2rem;background:var(--paper);border:1px solid var(--line);border-top:4px solid var(--mark);border-radius:8px}
.status{margin:0;color:var(--mark);font-weight:600;letter-spacing:.04em}
h1{margin:.25rem 0 .5rem;font-size:1.6rem;line-height:1.2}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1rem;margin:1.5rem 0 0;padding-top:1rem;border-top:1px solid var(--line);font-size:.875rem}
dt{color:var(--soft)}
dd{margin:0;font-family:ui-monospace,monospace;overflow-wrap:anywhere}
`;

/** Nothing is loaded, run, framed or submitted; the one style sheet is known by its hash. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const TITLES: Readonly<Record<number, string>> = {
  400: "This request cannot be served",
  401: "Please sign in",
  403: "Access denied",
  413: "This request is too large",
  503: "Please try again in a moment",
};

/** A self-contained page for people. */
export function renderPage({ status, code, message, facts }: DenialPage): string {
  const title = escapeHtml(TITLES[status] ?? "Something went wrong");
  const rows = [...facts, ["Code", code] as const]
    .filter(([, value]) => value !== "")
    .map(([label, value]) => `<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd>`);
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8">`,
    `<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">`,
    `<title>${title}</title><style>${STYLE}</style></head><body><main>`,
    `<p class="status">${status}</p><h1>${title}</h1><p>${escapeHtml(sentence(message))}</p>`,
    `<dl>${rows.join("")}</dl></main></body></html>\n`,
  ].join("");
}

/** Messages are written lower case and without a full stop; on a page they stand alone. */
function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.toWellFormed().replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
