import { readFileSync } from "node:fs";

/** What stands around a block of a README to make a program of it, and what the program then prints. */
export interface Around {
  readonly before?: string;
  readonly after?: string;
  readonly prints: RegExp;
}

/** A block of a README. */
export interface Block {
  /** The heading above it, and the block's number below that. */
  readonly name: string;
  readonly code: string;
}

/** The blocks of some languages. */
export function blocksOf(file: string, languages: readonly string[]): readonly Block[] {
  const counts = new Map<string, number>();
  let heading = "";
  return [...readFileSync(file, "utf8").matchAll(/^## ([^\n]+)$|^```(\w+)\n(.*?)^```$/gms)].flatMap(
    ([, title, language = "", code = ""]) => {
      if (title !== undefined) heading = title;
      if (!languages.includes(language)) return [];
      const number = (counts.get(heading) ?? 0) + 1;
      counts.set(heading, number);
      return [{ name: `${heading} ${number}`, code }];
    },
  );
}

const QUICK_START = /^created cus_\w+\n(?:.+\n)+no such customer\n$/;
/** Of the control plane that the test has started. */
const NODE_CLIENT = `
  import { Gatehouse } from "gatehouse-access";
  const gatehouse = new Gatehouse({
    apiKey: process.env["GATEHOUSE_API_KEY"] ?? "",
    environment: "sandbox",
    baseUrls: { sandbox: process.env["GATEHOUSE_URL"] ?? "" },
  });
  const back = "https://app.example.com/back";
  const { id: customerId } = await gatehouse.customers.create({ name: "README", allowed_return_urls: [back] });`;
const NODE_FAKE = `
  import { FakeGatehouse } from "gatehouse-access/testing";
  const fake = new FakeGatehouse();
  const gatehouse = fake.client();`;
const NODE_WALK = `
  async function walk(url: string): Promise<{ url: string }> {
    const body = JSON.stringify({ url, until: back });
    return (await fetch(\`\${process.env["STAGE"] ?? ""}/browser\`, { method: "POST", body })).json() as Promise<{ url: string }>;
  }`;

export const NODE_BLOCKS: Readonly<Record<string, Around>> = {
  "Quick start 1": { prints: QUICK_START },
  "Calls 1": {
    before: `${NODE_FAKE}
      const { id } = await gatehouse.customers.create({ name: "Acme" });
      const load = async (): Promise<string | undefined> => "v1.fake.WzEsMF0";
      const handle = async (event: object) => console.log("type" in event && event.type);
      let saves = 0;
      async function save(cursor: string): Promise<void> {
        saves += 1;
        if (saves === 1) await gatehouse.customers.update(id, { name: "Acme 2" });
        else process.exit(cursor === "" ? 1 : 0);
      }`,
    prints: /^customer.created\ncustomer.updated\n$/,
  },
  "Calls 2": {
    before: `${NODE_FAKE}
      const { id } = await gatehouse.policies.create({ name: "MFA", type: "authentication", conditions: { mfa_required: true } });`,
    after: `console.log(changed?.name, await gatehouse.policies.getIfChanged(id, gatehouse.lastResponse?.etag ?? ""));`,
    prints: /^MFA \(strict\) undefined\n$/,
  },
  "Signing users in 1": {
    before: NODE_CLIENT,
    after: "console.log(url.startsWith('http'), state.length > 20);",
    prints: /^true true\n$/,
  },
  "Signing users in 2": {
    before: `${NODE_CLIENT}${NODE_WALK}
      import { SignIn } from "gatehouse-access";
      await gatehouse.sandbox.createPerson({ email: "readme-node@example.com", name: "Rea" });
      const signIn = new SignIn(gatehouse);
      const login_hint = "readme-node@example.com";
      const { url, state } = await signIn.start({ customer_id: customerId, return_url: back, login_hint });
      const session = { state };
      const request = await walk(url);`,
    after: "console.log(tokens.user.email, claims.customer_id === customerId);",
    prints: /^readme-node@example.com true\n$/,
  },
  "Behind the gateway 1": {
    before: 'import express from "express";\nconst app = express();',
    after: `
      const server = app.listen(0, "127.0.0.1", () => {
        const address = server.address();
        if (address === null || typeof address === "string") throw new Error("no port");
        void fetch(\`http://127.0.0.1:\${address.port}/me\`)
          .then(async (response) => console.log(response.status, await response.text()))
          .finally(() => server.close());
      });`,
    prints: /^401 \{"error":\{"code":"TOKEN_MISSING"\}\}\n$/,
  },
  "Webhooks 1": {
    before: `
      import { createHmac } from "node:crypto";
      const [oldSecret, newSecret] = ["correct horse", "battery staple"] as const;
      const rawBody = Buffer.from('{"id":"evt_1","type":"webhook.test","timestamp":"2026-01-01T00:00:00.000Z","data":{}}');
      const now = String(Math.floor(Date.now() / 1000));
      const mac = createHmac("sha256", oldSecret).update(\`evt_1.\${now}.\`).update(rawBody).digest("base64");
      const request = { headers: { "webhook-id": "evt_1", "webhook-timestamp": now, "webhook-signature": \`v1,\${mac}\` } };`,
    after: "console.log(event.id, event.type);",
    prints: /^evt_1 webhook.test\n$/,
  },
  "Tests of your own 1": {
    after: 'console.log((await gatehouse.customers.create({ name: "Acme" })).name);',
    prints: /^Acme\n$/,
  },
};

const PYTHON_CLIENT = `
import os
from gatehouse_access import Gatehouse, SignIn
gatehouse = Gatehouse(
    api_key=os.environ["GATEHOUSE_API_KEY"],
    environment="sandbox",
    base_urls={"sandbox": os.environ["GATEHOUSE_URL"]},
)
back = "https://app.example.com/back"
customer_id = gatehouse.customers.create({"name": "README", "allowed_return_urls": [back]})["id"]
`;

export const PYTHON_BLOCKS: Readonly<Record<string, Around>> = {
  "Quick start 1": { prints: QUICK_START },
  "Quick start 2": { prints: QUICK_START },
  "Calls 1": {
    before: `
import sys
from typing import Optional
from gatehouse_access.api import Event
from gatehouse_access.testing import FakeGatehouse
gatehouse = FakeGatehouse().client()
customer_id = gatehouse.customers.create({"name": "Acme"})["id"]
saved: list[str] = []
def load() -> Optional[str]:
    return "v1.fake.WzEsIDBd"
def handle(event: Event) -> None:
    print(event["type"])
def save(cursor: str) -> None:
    saved.append(cursor)
    if len(saved) == 2:
        sys.exit()
    gatehouse.customers.update(customer_id, {"name": "Acme 2"})
`,
    prints: /^customer.created\ncustomer.updated\n$/,
  },
  "Signing users in 1": {
    before: PYTHON_CLIENT,
    after: 'print(started.url.startswith("http"), len(started.state) > 20)',
    prints: /^True True\n$/,
  },
  "Signing users in 2": {
    before: `${PYTHON_CLIENT}
import json
import urllib.request
from dataclasses import dataclass
@dataclass
class Request:
    url: str
sign_in = SignIn(gatehouse)
gatehouse.sandbox.create_person({"email": "readme-python@example.com", "name": "Rea"})
started = sign_in.start(
    {"customer_id": customer_id, "return_url": back, "login_hint": "readme-python@example.com"}
)
walk = json.dumps({"url": started.url, "until": back}).encode()
with urllib.request.urlopen(os.environ["STAGE"] + "/browser", walk) as answer:
    request = Request(str(json.load(answer)["url"]))
session = {"state": started.state}
`,
    after: 'print(signed_in.tokens["user"]["email"], signed_in.claims["customer_id"] == customer_id)',
    prints: /^readme-python@example.com True\n$/,
  },
  "Behind the gateway 1": {
    before: `
import asyncio
import httpx
from starlette.applications import Starlette
application = Starlette()
`,
    after: `
async def main() -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as client:  # type: ignore[arg-type,unused-ignore]
        response = await client.get("http://app.example/me")
        print(response.status_code, response.text)
asyncio.run(main())
`,
    prints: /^401 \{"error": \{"code": "TOKEN_MISSING"\}\}\n$/,
  },
  "Behind the gateway 2": {
    before: 'from flask import Flask\napp = Flask("app")\n',
    after: 'response = app.test_client().get("/me")\nprint(response.status_code, response.text)\n',
    prints: /^401 \{"error": \{"code": "TOKEN_MISSING"\}\}\n$/,
  },
  "Behind the gateway 3": {
    after: `
import importlib
from typing import Any
conf: Any = importlib.import_module("django.conf")
test: Any = importlib.import_module("django.test")
conf.settings.configure(MIDDLEWARE=MIDDLEWARE, GATEHOUSE=GATEHOUSE, ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"])
importlib.import_module("django").setup()
urlpatterns: list[object] = []
response = test.Client().get("/me")
print(response.status_code, response.content.decode())
`,
    prints: /^401 \{"error": \{"code": "TOKEN_MISSING"\}\}\n$/,
  },
  "Webhooks 1": {
    before: `
import base64, hashlib, hmac, time
from dataclasses import dataclass
from gatehouse_access import verify_webhook
old_secret, new_secret = "correct horse", "battery staple"
body = b'{"id":"evt_1","type":"webhook.test","timestamp":"2026-01-01T00:00:00.000Z","data":{}}'
now = str(int(time.time()))
mac = hmac.new(old_secret.encode(), f"evt_1.{now}.".encode() + body, hashlib.sha256).digest()
@dataclass
class Request:
    headers: dict[str, str]
request = Request(
    {"webhook-id": "evt_1", "webhook-timestamp": now, "webhook-signature": f"v1,{base64.b64encode(mac).decode()}"}
)
`,
    after: 'print(event["id"], event["type"])',
    prints: /^evt_1 webhook.test\n$/,
  },
  "Tests of your own 1": {
    after: 'print(gatehouse.customers.create({"name": "Acme"})["name"])',
    prints: /^Acme\n$/,
  },
};
