import { createHash } from "node:crypto";
import { escapeHtml } from "../text/index.ts";
import { refusalText } from "./refusal-texts.ts";

/** The content of the page; plain text, escaped here. */
export interface RefusalPage {
  readonly status: number;
  /** Public code of the error envelope. */
  readonly code: string;
  /** Details to quote when asking for help. */
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Where to sign in. */
  readonly signIn?: string;
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#d9dee5;--paper:#fff;--ground:#f4f6f8;--mark:#b42318}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf1;--soft:#9aa5b4;--line:#323b48;--paper:#1a212b;--ground:#11161d;--mark:#f97066}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:36rem;padding:2rem;background:var(--paper);border:1px solid var(--line);border-top:4px solid var(--mark);border-radius:8px}
h1{margin:0 0 .5rem;font-size:1.6rem;line-height:1.2}
a{display:inline-block;margin:.5rem 0;padding:.6rem 1.2rem;border-radius:6px;background:var(--ink);color:var(--paper);font-weight:600;text-decoration:none}
a:focus-visible{outline:3px solid var(--mark);outline-offset:3px}
h2{margin:1.5rem 0 0;padding-top:1rem;border-top:1px solid var(--line);font-size:.875rem;font-weight:600}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1rem;margin:.75rem 0 0;font-size:.875rem}
dt{color:var(--soft)}
dd{margin:0;font-family:ui-monospace,monospace;overflow-wrap:anywhere}
`;

/** Nothing may be loaded, run, framed or submitted; the only style sheet is allowed by its hash. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const PAGE_TYPE = "text/html; charset=utf-8";

/** The page's headers, besides its type. */
export const PAGE_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ["content-security-policy", CONTENT_SECURITY_POLICY],
  ["referrer-policy", "no-referrer"],
];

/** A self-contained page for people, instead of the requested one. */
export function renderPage({ status, code, facts, signIn }: RefusalPage): string {
  const { title, text } = refusalText(status, code);
  const rows = facts
    .filter(([, value]) => value !== "")
    .map(([label, value]) => `<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd>`);
  const heading = escapeHtml(title);
  return [
    `<!doctype html><html lang="en"><head><meta charset="utf-8">`,
    `<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">`,
    `<title>${heading}</title><style>${STYLE}</style></head><body><main>`,
    `<h1>${heading}</h1><p>${escapeHtml(text)}</p>`,
    signIn === undefined ? "" : `<p><a href="${escapeHtml(signIn)}">Sign in</a></p>`,
    `<h2>Details for support</h2><dl>${rows.join("")}</dl></main></body></html>\n`,
  ].join("");
}
