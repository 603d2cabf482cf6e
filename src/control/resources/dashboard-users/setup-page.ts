import { Router } from "express";
import { PASSWORD_RULE } from "./password-rules.ts";

interface Field {
  readonly name: string;
  readonly label: string;
  readonly attributes: string;
  /** Shown below the label. */
  readonly hint?: string;
}

interface Page {
  readonly title: string;
  readonly lead: string;
  /** The API route that the script calls. */
  readonly action: string;
  readonly fields: readonly Field[];
  readonly button: string;
}

const PASSWORD: Field = {
  name: "password",
  label: "Password",
  attributes: `type="password" autocomplete="new-password"`,
  hint: PASSWORD_RULE,
};

const PAGES = {
  "/setup": {
    title: "Set up Gatehouse",
    lead: "Create the account of the first owner. Owners can invite other users.",
    action: "/v1/dashboard/setup",
    fields: [
      {
        name: "email",
        label: "E-mail address",
        attributes: `type="email" autocomplete="username" maxlength="254"`,
        hint: "You sign in with this address.",
      },
      { name: "name", label: "Name", attributes: `type="text" autocomplete="name" maxlength="200"` },
      PASSWORD,
    ],
    button: "Create owner account",
  },
  "/invite": {
    title: "Join Gatehouse",
    lead: "Choose the password for your account.",
    action: "/v1/dashboard/invitation",
    fields: [PASSWORD],
    button: "Set password",
  },
} as const satisfies Record<string, Page>;

const STYLE = `:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #7a8594; --paper: #fff; --ground: #f4f6f8; --mark: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecf1; --soft: #9aa5b4; --line: #7a8594; --paper: #1a212b; --ground: #11161d; --mark: #f97066; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { margin: 1rem auto; max-width: 28rem; padding: 1.5rem; border-radius: 8px; background: var(--paper); }
h1 { margin: 0 0 0.5rem; font-size: 1.5rem; line-height: 1.2; }
label { display: block; margin-top: 1.25rem; font-weight: 600; }
input, button { width: 100%; padding: 0.6rem; border: 1px solid var(--line); border-radius: 6px; font: inherit; }
input { background: var(--paper); color: var(--ink); }
input[aria-invalid="true"] { border-color: var(--mark); border-width: 2px; }
input:focus-visible, button:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
button { margin-top: 1.5rem; border: 0; background: var(--ink); color: var(--paper); font-weight: 600; }
button:disabled { opacity: 0.6; }
.hint { margin: 0.1rem 0 0.3rem; color: var(--soft); font-size: 0.875rem; }
.error { margin: 0.3rem 0 0; color: var(--mark); font-size: 0.875rem; }
code { overflow-wrap: anywhere; }
`;

/**
 * Takes the token out of the address at once, so that neither the history nor the address bar keeps it. The answer sets
 * the cookie by which this browser is known at later sign-ins. If somebody is signed in with this browser, whose CSRF
 * token this page does not have, the form is sent again without cookies. Everything in an answer is shown as text. After
 * an error the values stay, except passwords.
 */
const SCRIPT = `const form = document.querySelector("form");
const message = document.querySelector("#message");
const inputs = [...form.querySelectorAll("input")];
const token = new URLSearchParams(location.search).get("token") ?? "";
history.replaceState(null, "", location.pathname);

function say(text) {
  message.textContent = text;
}

function mark(input, text) {
  document.querySelector("#" + input.name + "-error").textContent = text;
  input.setAttribute("aria-invalid", String(text !== ""));
}

if (token === "") say("The address is incomplete. Open the whole link.");

function send(credentials) {
  return fetch(form.dataset.action, {
    method: "POST",
    credentials,
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ token, ...Object.fromEntries(new FormData(form)) }),
  });
}

function showError(error) {
  const rest = [];
  for (const { path, message } of error.details.fields ?? []) {
    const input = inputs.find(({ name }) => name === path);
    if (input === undefined) rest.push(path + " " + message);
    else mark(input, input.dataset.label + " " + message);
  }
  const wrong = inputs.filter((input) => input.getAttribute("aria-invalid") === "true");
  say(wrong.length > 0 && rest.length === 0 ? "Check the marked fields." : [error.message, ...rest].join("; "));
  for (const input of inputs) if (input.type === "password") input.value = "";
  wrong[0]?.focus();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  say("");
  for (const input of inputs) mark(input, "");
  try {
    let answer = await send("same-origin");
    if (answer.status === 403) answer = await send("omit");
    const { error } = await answer.json();
    if (answer.ok) {
      form.hidden = true;
      document.querySelector("#done").hidden = false;
      return;
    }
    showError(error);
  } catch {
    say("Cannot reach the service. Try again.");
  }
  button.disabled = false;
});
`;

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** `/setup` and `/invite`: the pages of the one-time links. Their content is the same for everybody. */
export function setupRouter(): Router {
  const router = Router({ caseSensitive: true });
  router.use(["/setup", "/invite", "/setup.js", "/setup.css"], (_request, response, next) => {
    response.setHeader("content-security-policy", CONTENT_SECURITY_POLICY);
    response.setHeader("referrer-policy", "no-referrer");
    response.setHeader("cache-control", "no-store");
    next();
  });
  for (const [path, page] of Object.entries(PAGES)) {
    const html = render(page);
    router.get(path, (_request, response) => {
      response.type("html").send(html);
    });
  }
  router.get("/setup.js", (_request, response) => {
    response.type("text/javascript").send(SCRIPT);
  });
  router.get("/setup.css", (_request, response) => {
    response.type("text/css").send(STYLE);
  });
  return router;
}

function render({ title, lead, action, fields, button }: Page): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="stylesheet" href="/setup.css">
    <script src="/setup.js" defer></script>
  </head>
  <body>
    <main>
      <h1>${title}</h1>
      <form method="post" data-action="${action}" novalidate>
        <p>${lead}</p>
        <noscript><p class="error">This page needs JavaScript. Without it, call <code>POST ${action}</code>.</p></noscript>
${fields.map(renderField).join("")}        <button>${button}</button>
      </form>
      <p id="message" class="error" role="alert"></p>
      <p id="done" role="status" hidden>Your account is ready. <a href="/">Sign in</a></p>
    </main>
  </body>
</html>
`;
}

function renderField({ name, label, attributes, hint }: Field): string {
  const described = hint === undefined ? `${name}-error` : `${name}-hint ${name}-error`;
  const told = hint === undefined ? "" : `        <p id="${name}-hint" class="hint">${hint}</p>\n`;
  return `        <label for="${name}">${label}</label>
${told}        <input name="${name}" id="${name}" data-label="${label}" aria-describedby="${described}" ${attributes} required>
        <p id="${name}-error" class="error"></p>
`;
}
