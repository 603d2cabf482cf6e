import assert from "node:assert/strict";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AuthzenSettings } from "../../../src/authorizers/authzen/index.ts";
import { FileSource } from "../../../src/decision/attributes/sources.ts";
import { deciderOf, snapshotOf, useIssuer } from "../../decision/support.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { useAuthzen } from "./support/authzen.ts";

const POLICIES = snapshotOf(`
attributes:
  person: { source: staff, key: user.id }
policies:
  - { resource: "GET /office", condition: person.department == "sales" }
  - { resource: "GET /own/{id}", condition: user.id == path.id }
  - { resource: "GET /level", condition: user.level > 2 or user.id == "bo" }
  - { resource: "GET /open", condition: "true" }
  - { resource: "GET /customer", condition: customer.id == "c-1" }
  - { resource: "GET /masked", condition: "true" }
response_filters:
  - endpoint: /masked
    filter_rules: [{ field: ssn, condition: user.role == "admin", action: remove }]
`);
const SETTINGS = {
  url: "https://pdp.example.com",
  actions: {},
  resources: { own: "/own/{id}" },
  subjects: ["user", "service"],
  subjectSources: { user: "staff" },
  customers: false,
};
const STAFF = 'ada: { department: sales }\nbo: { department: legal }\n"7": { department: sales }\n"": {}\n';

interface Found {
  readonly page: { readonly next_token: string };
  readonly context: { readonly incomplete: boolean; readonly reason_admin: { readonly en: string } };
  readonly results: readonly { readonly type: string; readonly id: string }[];
}

describe("authorizers: the search for subjects", () => {
  const idp = useIssuer();
  const serve = useAuthzen(idp);

  async function open(staff = STAFF, settings: Partial<AuthzenSettings> = {}) {
    const path = join(await temporaryDirectory(), "staff.yaml");
    const file = new FileSource(path, { warn: () => undefined });
    const put = async (text: string) => {
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
      await file.refresh();
    };
    await put(staff);
    const { ask, recorded } = serve(
      POLICIES,
      { ...SETTINGS, ...settings },
      {
        decide: deciderOf(POLICIES, { verifier: idp.verifier, sources: new Map([["staff", file]]) }),
        listSubjects: (source) => (source === "staff" ? file.list() : undefined),
      },
    );
    const search = async (id: string, more: object = {}) => {
      const question = {
        subject: { type: "user" },
        action: { name: "GET" },
        resource: { type: "route", id },
      };
      const answer = await ask("/access/v1/search/subject", { ...question, ...more });
      assert.equal(answer.status, 200, answer.body);
      return answer.json as Found;
    };
    return { ask, search, put, recorded };
  }
  const ids = ({ results }: Found) => results.map(({ id }) => id).sort();

  it("finds whom an evaluation permits, and nobody else; nothing is recorded", async () => {
    const { ask, search, recorded } = await open();
    for (const [path, expected] of [
      ["/office", ["7", "ada"]],
      ["/own/bo", ["bo"]],
      ["/open", ["7", "ada", "bo"]],
      ["/own/eve", []],
      ["/other", []],
      ["/masked", []],
    ] as const) {
      assert.deepEqual(ids(await search(path)), expected, path);
      const others: string[] = [];
      for (const id of ["7", "ada", "bo"]) {
        const question = {
          subject: { type: "user", id },
          action: { name: "GET" },
          resource: { type: "route", id: path },
        };
        const { decision } = JSON.parse((await ask("/access/v1/evaluation", question)).body) as {
          decision: boolean;
        };
        if (decision) others.push(id);
      }
      assert.deepEqual(others, expected, path);
    }
    // those of the evaluations alone
    assert.equal((await recorded()).length, 18);
  });

  it("says that only listed subjects are found, and how many are left out because something is not known of them", async () => {
    const { search } = await open();
    const office = await search("/office");
    assert.equal(office.context.incomplete, true);
    assert.match(office.context.reason_admin.en, /only subjects in the attribute source `staff` are found$/);
    const level = await search("/level");
    assert.deepEqual(ids(level), ["bo"]);
    assert.match(level.context.reason_admin.en, /; 2 of this page are left out, .* their tokens/);
    // what the question says of all of them
    const said = await search("/level", { subject: { type: "user", properties: { level: 3 } } });
    assert.deepEqual(ids(said), ["7", "ada", "bo"]);
    assert.doesNotMatch(said.context.reason_admin.en, /left out/);
  });

  it("with customers that have policies of their own, knows nothing of subjects without one", async () => {
    const { search } = await open(STAFF, { customers: true });
    const without = await search("/open");
    assert.deepEqual(ids(without), []);
    assert.match(without.context.reason_admin.en, /3 of this page are left out/);
    const properties = { customer: { id: "c-1" } };
    assert.deepEqual(ids(await search("/customer", { subject: { type: "user", properties } })), [
      "7",
      "ada",
      "bo",
    ]);
  });

  it("goes on page by page, and not once the source has changed", async () => {
    const many = Array.from({ length: 250 }, (_, index) => `u${index}: {}\n`).join("");
    const { ask, search, put } = await open(many);
    const seen: string[] = [];
    let token = "";
    do {
      // an id that a search leaves open counts for nothing
      const found = await search("/open", {
        subject: { type: "user", id: `u${seen.length}` },
        page: { token },
      });
      seen.push(...ids(found));
      token = found.page.next_token;
    } while (token !== "");
    assert.equal(seen.length, 250);
    assert.equal(new Set(seen).size, 250);

    const { page } = await search("/open", { page: { limit: 10 } });
    await put(`${many}v: {}\n`);
    const question = {
      subject: { type: "user" },
      action: { name: "GET" },
      resource: { type: "route", id: "/open" },
    };
    const changed = await ask("/access/v1/search/subject", { ...question, page: { token: page.next_token } });
    assert.equal(changed.status, 400);
    assert.match(changed.body, /candidates have changed.*first page/);
    // the same content again, as another process reads it
    await put(many);
    assert.equal((await search("/open", { page: { token: page.next_token } })).results[0]?.id, "u10");
  });

  it("refuses types that nothing lists, and answers 503 while the list cannot be read", async () => {
    const question = { action: { name: "GET" }, resource: { type: "route", id: "/open" } };
    const { ask } = await open();
    for (const type of ["service", "anonymous", "planet", "__proto__"]) {
      const answer = await ask("/access/v1/search/subject", { ...question, subject: { type } });
      assert.equal(answer.status, 400, type);
      assert.match(answer.body, /subject_sources/);
    }
    const unread = await (
      await open("[]")
    ).ask("/access/v1/search/subject", { ...question, subject: { type: "user" } });
    assert.equal(unread.status, 503);
    assert.match(unread.body, /`staff` could not be read/);
  });

  it("of an action or a resource that is mapped to no request, permits nobody", async () => {
    const { search } = await open();
    for (const more of [{ action: { name: "fly" } }, { resource: { type: "planet", id: "1" } }])
      assert.deepEqual((await search("/open", more)).results, []);
  });

  it("is not there if nothing lists subjects, and says so", async () => {
    const { ask } = await open(STAFF, { subjectSources: {} });
    const answer = await ask("/access/v1/search/subject", {});
    assert.equal(answer.status, 501);
    assert.match(answer.body, /subject_sources/);
  });

  it("is in the metadata if something lists subjects", async () => {
    const { ask } = await open();
    const metadata = JSON.parse((await ask("/.well-known/authzen-configuration", "")).body) as Record<
      string,
      string
    >;
    assert.equal(metadata["search_subject_endpoint"], "https://pdp.example.com/access/v1/search/subject");
  });
});
