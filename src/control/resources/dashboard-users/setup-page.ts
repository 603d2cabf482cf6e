import { Router } from "express";
import { MAX_PASSWORD, MIN_PASSWORD } from "./password-rules.ts";

interface Page {
  readonly title: string;
  readonly lead: string;
  /** Where the form goes. */
  readonly action: string;
  readonly fields: readonly string[];
}

const PASSWORD = field(
  "password",
  "Password",
  `type="password" autocomplete="new-password" minlength="${MIN_PASSWORD}" maxlength="${MAX_PASSWORD}"`,
);

const PAGES = {
  "/setup": {
    title: "Set up Gatehouse",
    lead: "You become its first owner, who invites the others.",
    action: "/v1/dashboard/setup",
    fields: [
      field("email", "E-mail address", `type="email" autocomplete="username" maxlength="254"`),
      field("name", "Name", `type="text" autocomplete="name" maxlength="200"`),
      PASSWORD,
    ],
  },
  "/invite": {
    title: "Join Gatehouse",
    lead: "Choose the password that you will sign in with.",
    action: "/v1/dashboard/invitation",
    fields: [PASSWORD],
  },
} as const satisfies Record<string, Page>;

const STYLE = `body { font: 1rem/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 24rem; padding: 0 1rem; }
label { display: block; margin-top: 1rem; }
input, button { box-sizing: border-box; font: inherit; padding: 0.5rem; width: 100%; }
button { margin-top: 1.5rem; }
[role="alert"] { color: #b00020; }
`;

/**
 * Takes the token out of the address at once, so that neither the history nor what is shown keeps it; takes the cookie by
 * which this browser is known from then on, but sends the form without any where somebody is signed in with it, whose
 * CSRF token this page does not have; and writes what comes back as text.
 */
const SCRIPT = `const form = document.querySelector("form");
const message = document.querySelector("#message");
const token = new URLSearchParams(location.search).get("token") ?? "";
history.replaceState(null, "", location.pathname);

function say(text) {
  message.textContent = text;
}

if (token === "") say("This address is not complete: open the whole link.");

function send(credentials) {
  return fetch(form.dataset.action, {
    method: "POST",
    credentials,
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ token, ...Object.fromEntries(new FormData(form)) }),
  });
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  say("");
  try {
    let answer = await send("same-origin");
    if (answer.status === 403) answer = await send("omit");
    const { error } = await answer.json();
    if (answer.ok) {
      form.hidden = true;
      document.querySelector("#done").hidden = false;
      return;
    }
    const fields = (error.details.fields ?? []).map(({ path, message }) => path + " " + message);
    say([error.message, ...fields].join("; "));
  } catch {
    say("The service cannot be reached. Try again.");
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

/** `/setup` and `/invite`: the pages of the one-time links. What they hold is the same for everybody. */
export function setupRouter(): Router {
  const router = Router();
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

function render({ title, lead, action, fields }: Page): string {
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
      <form data-action="${action}">
        <p>${lead}</p>
${fields.map((line) => `        ${line}`).join("\n")}
        <button>Done</button>
      </form>
      <p id="message" role="alert"></p>
      <p id="done" hidden>Done. You can sign in through the API now: <code>POST /v1/dashboard/login</code>.</p>
    </main>
  </body>
</html>
`;
}

function field(name: string, label: string, attributes: string): string {
  return `<label>${label} <input name="${name}" ${attributes} required></label>`;
}
