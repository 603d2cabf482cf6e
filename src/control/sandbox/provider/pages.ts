import { createHash } from "node:crypto";
import { escapeHtml } from "../../../text/index.ts";
import type { PersonRow } from "../people.ts";

const STYLE = `body { font: 1rem/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 32rem; padding: 0 1rem; }
input, button { box-sizing: border-box; font: inherit; padding: 0.5rem; }
.people { list-style: none; padding: 0; }
.people button { display: block; margin: 0.5rem 0; text-align: left; width: 100%; }
.people small { display: block; }
[role="alert"] { color: #b00020; }
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/**
 * Nothing but our own style: no script, no frame, nothing from elsewhere.
 *
 * @param returnUrls - where the browser may be sent on to once a form is submitted: browsers apply `form-action` to
 *   redirects too
 */
export function contentSecurityPolicy(returnUrls: readonly string[] = []): string {
  const origins = returnUrls.map((url) => new URL(url).origin);
  return [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action ${[...new Set(["'self'", ...origins])].join(" ")}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/** Who is there to be picked. */
export interface PickPage {
  readonly customer: string;
  readonly people: readonly PersonRow[];
  /** Those that there is no room for. */
  readonly more: number;
  readonly search: string;
  /** Where the forms go. */
  readonly action: string;
  /** Several factors are asked for: the page offers to prove them. */
  readonly asksSecondFactor: boolean;
  readonly problem?: string;
}

/** The page to pick a person: each is a button. */
export function pickPage({
  customer,
  people,
  more,
  search,
  action,
  asksSecondFactor,
  problem,
}: PickPage): string {
  const target = escapeHtml(action);
  const rest = more === 0 ? "" : `<p>${more} more not shown. Use the search.</p>`;
  const list =
    people.length === 0
      ? "<p>No matching person found.</p>"
      : `<ul class="people">${people.map(personItem).join("\n")}</ul>${rest}`;
  return page(
    "Sandbox sign-in",
    `<p>Sign in at <strong>${escapeHtml(customer)}</strong> as</p>
${problem === undefined ? "" : `<p role="alert">${escapeHtml(problem)}</p>`}
<form method="get" action="${target}" role="search">
<input type="search" name="q" value="${escapeHtml(search)}" maxlength="100" aria-label="Name or e-mail address">
<button type="submit">Search</button>
</form>
<form method="post" action="${target}">
${asksSecondFactor ? SECOND_FACTOR : ""}
${list}
<p><button type="submit" name="cancel" value="1">Cancel</button></p>
</form>`,
  );
}

const SECOND_FACTOR = `<p><label><input type="checkbox" name="second_factor" value="1" checked>
The application requires multi-factor authentication: also confirm a second factor</label></p>`;

function personItem({ email, name, role, department, customer_id, amr }: PersonRow): string {
  const facts = [
    email,
    role,
    department,
    customer_id === null ? "can sign in at every customer" : null,
    amr.join(" + "),
  ];
  const about = facts.filter((fact) => fact !== null && fact !== "").join(" · ");
  return `<li><button type="submit" name="login" value="${escapeHtml(email)}">${escapeHtml(name)}
<small>${escapeHtml(about)}</small></button></li>`;
}

/** Asked where nobody proves that a logout is wanted: any page could have sent the browser here. */
export function logoutPage(form: string): string {
  return page(
    "Sign out?",
    `${form}
<p>Do you want to sign out of the sandbox's identity provider?</p>
<p><button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>
<button type="submit" form="op.logoutForm">Stay signed in</button></p>`,
  );
}

export function signedOutPage(): string {
  return page("Signed out", "<p>You are signed out of the sandbox's identity provider.</p>");
}

/** @param text - may be anything: it is shown as it is */
export function problemPage(text: string): string {
  return page(
    "Sign-in failed",
    `<p role="alert">${escapeHtml(text)}</p>\n<p>Go back to the application and sign in again.</p>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`;
}
