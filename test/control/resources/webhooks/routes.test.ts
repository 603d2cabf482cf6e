import assert from "node:assert/strict";
import { EVENT_TYPES } from "../../../../src/control/platform/events.ts";
import { newId } from "../../../../src/control/platform/ids.ts";
import { writeChanges } from "../../../../src/control/analytics/audit/write-changes.ts";
import type { StoredChange } from "../../../../src/control/platform/unit.ts";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import { MAX_WEBHOOKS } from "../../../../src/control/resources/webhooks/service.ts";
import { FULL_KEY, startControl, TEST_SETTINGS, type RunningControl } from "../../../support/control.ts";
import { newCustomer, register, URL_OF_NOBODY } from "../../support/webhooks.ts";

/** A registration without a secret. */
const MADE = { url: URL_OF_NOBODY, events: ["*"] };

describe("webhooks: the API", () => {
  let control: RunningControl;
  let changes: StoredChange[];

  beforeEach(async () => {
    changes = [];
    control = await startControl({
      routes: webhookRoutes,
      writers: {
        changes: (trx, made) => {
          changes.push(...made);
          return writeChanges(trx, made);
        },
      },
    });
  });
  afterEach(() => control.close());

  it("registers what specification 2.6 shows", async () => {
    const secret = "chosen by nobody else".replaceAll(" ", "-");
    const body = { url: URL_OF_NOBODY, events: ["user.authenticated", "policy.violated"], secret };
    const answer = await control.request("POST", "/webhooks", { body });
    assert.equal(answer.status, 201, answer.text);
    const { id, created_at, updated_at, ...data } = answer.body.data;
    assert.match(id, /^whk_/);
    assert.equal(created_at, updated_at);
    assert.deepEqual(data, {
      ...body,
      customer_id: null,
      description: null,
      enabled: true,
      disabled_reason: null,
      disabled_at: null,
      previous_secret_expires_at: null,
      paused_until: null,
    });
    assert.deepEqual(
      answer.body.warnings.map(({ code }: { code: string }) => code),
      ["SHORT_SECRET"],
    );
    assert.equal(answer.headers.get("location"), `/v1/webhooks/${id}`);
    assert.equal(answer.headers.get("etag"), `"${id}.1"`);
  });

  it("makes a secret where none is given", async () => {
    const [one, other] = [await register(control), await register(control)];
    assert.match(one.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.notEqual(one.secret, other.secret);
  });

  it("shows a secret once, stores it sealed, and keeps it out of the audit trail", async () => {
    const { id, secret } = await register(control);
    const rotated = await control.request("POST", `/webhooks/${id}/rotate-secret`, { body: {} });
    const seen = [
      await control.request("GET", `/webhooks/${id}`),
      await control.request("GET", "/webhooks"),
      await control.request("PUT", `/webhooks/${id}`, { body: { description: "d" } }),
      await control.request("POST", `/webhooks/${id}/enable`),
    ];
    const stored: unknown = await control.context.db("webhooks").select("*");
    const all = JSON.stringify([seen.map(({ text }) => text), stored, changes]);
    for (const text of [secret, rotated.body.data.secret]) {
      assert.equal(all.includes(text), false);
      assert.equal(all.includes(text.slice("whsec_".length)), false);
    }
    assert.equal(
      seen.some(({ text }) => /"(previous_)?secret"/.test(text)),
      false,
    );
  });

  const refusedBodies: readonly [what: string, path: string, body: object][] = [
    ["no URL", "url", { url: undefined }],
    ["a URL that is none", "url", { url: "nowhere" }],
    ["another scheme", "url", { url: "ftp://a.example/" }],
    ["a line end in the URL", "url", { url: "https://a.example/\r\nX-Injected: 1" }],
    ["a tab in the URL", "url", { url: "https://a.exa\tmple/" }],
    ["a space in the URL", "url", { url: "https://a.example/a b" }],
    ["a fragment", "url", { url: "https://a.example/#x" }],
    ["a URL without end", "url", { url: `https://a.example/${"x".repeat(2048)}` }],
    ["no events", "events", { events: undefined }],
    ["an empty list of events", "events", { events: [] }],
    ["a type of event that is no list", "events", { events: "user.authenticated" }],
    ["two stars", "events", { events: "**" }],
    ["an empty text for the events", "events", { events: "" }],
    ["too many events", "events", { events: Array.from({ length: EVENT_TYPES.length + 2 }, () => "*") }],
    ["an event that does not exist", "events.1", { events: ["*", "user.created"] }],
    ["the test's event", "events.0", { events: ["webhook.test"] }],
    ["a short secret", "secret", { secret: "x".repeat(7) }],
    ["a short secret of many bytes", "secret", { secret: "\u{1f511}".repeat(7) }],
    ["a long secret", "secret", { secret: "x".repeat(256) }],
    ["a secret that is no text", "secret", { secret: 12345678 }],
    ["no secret", "secret", { secret: null }],
    ["a long description", "description", { description: "x".repeat(501) }],
    ["a member that is none", "disabled_reason", { disabled_reason: "gone" }],
  ];
  for (const [what, path, body] of refusedBodies)
    it(`refuses ${what} with 422 and the field's path`, async () => {
      const sent = { url: URL_OF_NOBODY, events: ["*"], ...body };
      const answer = await control.request("POST", "/webhooks", { body: sent });
      assert.deepEqual([answer.status, answer.body.error.code], [422, "VALIDATION_FAILED"]);
      assert.deepEqual(
        answer.body.error.details.fields.map((field: { path: string }) => field.path),
        [path],
      );
    });

  it("takes any text as a secret, as it is, and says what may be a mistake", async () => {
    const key = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString("base64")}`;
    const unpadded = `whsec_${Buffer.alloc(31, 7).toString("base64url")}`;
    const secrets: readonly (readonly [secret: string, ...warnings: string[]])[] = [
      ["x".repeat(8), "SHORT_SECRET"],
      ["x".repeat(23), "SHORT_SECRET"],
      ["x".repeat(24)],
      ["x".repeat(255)],
      // characters are counted as people do, keys by their bytes
      ["\u{1f511}".repeat(8)],
      ["\u{1f511}".repeat(255)],
      ["schlüssel-für-niemanden-sonst"],
      ["e\u0301 is not é, whoever looks"],
      [key(24)],
      [key(1), "SHORT_SECRET"],
      [unpadded, "NOT_BASE64"],
      ["whsec_!!", "SHORT_SECRET", "NOT_BASE64"],
      ["whsec_  ", "SHORT_SECRET", "NOT_BASE64", "INVISIBLE_CHARACTERS"],
      [`${"x".repeat(24)} `, "INVISIBLE_CHARACTERS"],
      [" ".repeat(24), "INVISIBLE_CHARACTERS"],
      ["x\r\nX-Injected: 1\u0007\u200b ...", "INVISIBLE_CHARACTERS"],
    ];
    for (const [secret, ...warnings] of secrets) {
      const body = { url: URL_OF_NOBODY, events: ["*"], secret };
      const { status, text, body: answered } = await control.request("POST", "/webhooks", { body });
      assert.equal(status, 201, text);
      assert.equal(answered.data.secret, secret);
      const given = (answered.warnings ?? []) as { code: string; message: string }[];
      assert.deepEqual(
        given.map(({ code }) => code),
        warnings,
        secret,
      );
      assert.ok(given.every(({ message }) => !message.includes(secret)));
      const path = `/webhooks/${answered.data.id}`;
      const rotated = await control.request("POST", `${path}/rotate-secret`, { body: { secret } });
      assert.deepEqual(rotated.body.warnings ?? [], given);
      assert.equal("warnings" in (await control.request("GET", path)).body, false);
    }
    assert.equal("warnings" in (await control.request("POST", "/webhooks", { body: MADE })).body, false);
  });

  it("refuses what is no text in a secret, as in every body", async () => {
    for (const secret of ['"12345678\\u0000"', '"12345678\\ud800"']) {
      const answer = await fetch(`${control.url}/v1/webhooks`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${Buffer.from(JSON.stringify(FULL_KEY)).toString("base64url")}`,
          "content-type": "application/json",
        },
        body: `{"url":"${URL_OF_NOBODY}","events":["*"],"secret":${secret}}`,
      });
      const { error } = (await answer.json()) as { error: { code: string } };
      assert.deepEqual([answer.status, error.code], [400, "MALFORMED_JSON"]);
    }
  });

  it("refuses targets that are not public unless that is allowed", async () => {
    const { webhooks } = TEST_SETTINGS;
    const strict = await startControl({
      routes: webhookRoutes,
      settings: { webhooks: { ...webhooks, allowPrivateTargets: false } },
    });
    try {
      const { id } = await register(control);
      const targets = [
        "http://127.0.0.1/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://localhost/",
      ].concat([
        "https://169.254.169.254/latest/",
        "http://8.8.8.8/",
        "https://a:b@8.8.8.8/",
        "https://0x7f.1/",
      ]);
      for (const url of targets) {
        const answer = await strict.request("POST", "/webhooks", { body: { url, events: ["*"] } });
        assert.deepEqual([answer.status, answer.body.error.code], [422, "TARGET_NOT_ALLOWED"], url);
      }
      const made = await strict.request("POST", "/webhooks", {
        body: { url: "https://8.8.8.8/", events: ["*"] },
      });
      assert.equal(made.status, 201);
      const path = `/webhooks/${made.body.data.id}`;
      const changed = await strict.request("PUT", path, { body: { url: "https://10.0.0.1/" } });
      assert.deepEqual([changed.status, changed.body.error.code], [422, "TARGET_NOT_ALLOWED"]);
      assert.equal((await strict.request("GET", path)).body.data.url, "https://8.8.8.8/");
      const elsewhere = await strict.request("PUT", `/webhooks/${id}`, {
        body: { url: "https://10.0.0.1/" },
      });
      assert.equal(elsewhere.body.error.code, "WEBHOOK_NOT_FOUND");
    } finally {
      await strict.close();
    }
  });

  it("lists, filters, sorts and pages", async () => {
    const customer = await newCustomer(control);
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) ids.push((await register(control, { enabled: at % 2 === 0 })).id);
    const mine = await register(control, { customer_id: customer });
    const list = async (query: string) => {
      const { body } = await control.request("GET", `/webhooks?${query}`);
      return [body.data.map(({ id }: { id: string }) => id), body.pagination.total_items];
    };
    assert.deepEqual(await list("limit=100"), [[mine.id, ...ids.toReversed()], 6]);
    assert.deepEqual(await list("order=asc&limit=2&page=2"), [[ids[2], ids[3]], 6]);
    assert.deepEqual(await list("status=disabled"), [[ids[3], ids[1]], 2]);
    assert.deepEqual(await list(`customer_id=${customer}`), [[mine.id], 1]);
    assert.deepEqual(await list("sort=updated_at&limit=1"), [[mine.id], 6]);
    for (const query of ["sort=url", "status=gone", "limit=101", "page=0", "secret=x"])
      assert.equal((await control.request("GET", `/webhooks?${query}`)).status, 400, query);
  });

  it("takes `*` for the list of it, and answers with the list", async () => {
    for (const events of ["*", ["*"]]) {
      const { id } = await register(control, { events });
      const { data } = (await control.request("GET", `/webhooks/${id}`)).body;
      assert.deepEqual(data.events, ["*"]);
    }
    const { id } = await register(control, { events: ["user.authenticated"] });
    const changed = await control.request("PUT", `/webhooks/${id}`, { body: { events: "*" } });
    assert.deepEqual([changed.status, changed.body.data.events], [200, ["*"]], changed.text);
  });

  it("changes what is given and nothing else", async () => {
    const { id } = await register(control, { description: "before" });
    const url = "http://127.0.0.1:9/other";
    const changed = await control.request("PUT", `/webhooks/${id}`, { body: { url, events: ["*", "*"] } });
    assert.equal(changed.status, 200, changed.text);
    const { data } = changed.body;
    assert.deepEqual([data.url, data.events, data.description, data.enabled], [url, ["*"], "before", true]);
    assert.equal(changed.headers.get("etag"), `"${id}.2"`);
    const off = await control.request("PUT", `/webhooks/${id}`, {
      body: { enabled: false, description: null },
    });
    assert.deepEqual(
      [off.body.data.enabled, off.body.data.disabled_reason, off.body.data.description],
      [false, "requested", null],
    );
    const on = await control.request("PUT", `/webhooks/${id}`, { body: { enabled: true } });
    assert.deepEqual(
      [on.body.data.enabled, on.body.data.disabled_reason, on.body.data.disabled_at],
      [true, null, null],
    );
    for (const body of [
      {},
      { secret: "0123456789abcdef" },
      { customer_id: null },
      { id: "x" },
      { url: null },
    ])
      assert.equal((await control.request("PUT", `/webhooks/${id}`, { body })).status, 422);
  });

  it("compares ETags", async () => {
    const { id } = await register(control);
    const headers = { "if-match": `"${id}.7"` };
    for (const [method, body] of [
      ["PUT", { description: "x" }],
      ["DELETE", undefined],
    ] as const) {
      const answer = await control.request(method, `/webhooks/${id}`, { headers, body });
      assert.deepEqual([answer.status, answer.body.error.code], [412, "PRECONDITION_FAILED"]);
    }
    const right = { "if-match": `"${id}.1"` };
    assert.equal((await control.request("DELETE", `/webhooks/${id}`, { headers: right })).status, 200);
  });

  it("bounds the number of webhooks, for the environment and for each customer", async () => {
    const { id } = await register(control);
    const row = await control.context.db("webhooks").where({ id }).first<object>();
    await control.context
      .db("webhooks")
      .insert(Array.from({ length: MAX_WEBHOOKS - 1 }, () => ({ ...row, id: newId("webhook") })));
    const answer = await control.request("POST", "/webhooks", {
      body: { url: URL_OF_NOBODY, events: ["*"] },
    });
    assert.deepEqual([answer.status, answer.body.error.code], [409, "CONFLICT"]);
    await register(control, { customer_id: await newCustomer(control) });
  });

  it("carries a registration out once for one Idempotency-Key", async () => {
    const body = { url: URL_OF_NOBODY, events: [...EVENT_TYPES] };
    const headers = { "idempotency-key": "one" };
    const answers = [
      await control.request("POST", "/webhooks", { body, headers }),
      await control.request("POST", "/webhooks", { body, headers }),
    ];
    assert.equal(answers[0]?.text, answers[1]?.text);
    assert.equal((await control.request("GET", "/webhooks")).body.pagination.total_items, 1);
  });

  it("rotates a secret: two are valid for a day, or as long as asked for", async () => {
    const { id } = await register(control);
    const path = `/webhooks/${id}/rotate-secret`;
    const rotate = async (body: object) => {
      const answer = await control.request("POST", path, { body });
      assert.equal(answer.status, 200, answer.text);
      const { secret, previous_secret_expires_at: until, updated_at } = answer.body.data;
      return { secret, seconds: until === null ? 0 : (Date.parse(until) - Date.parse(updated_at)) / 1000 };
    };
    const first = await rotate({});
    assert.match(first.secret, /^whsec_/);
    assert.equal(first.seconds, 86_400);
    const secret = "chosen-by-the-caller";
    assert.deepEqual(await rotate({ secret, overlap_seconds: 60 }), { secret, seconds: 60 });
    assert.equal((await rotate({ overlap_seconds: 0 })).seconds, 0);
    for (const body of [
      { overlap_seconds: -1 },
      { overlap_seconds: 604_801 },
      { overlap_seconds: 1.5 },
      { secret: "x" },
    ])
      assert.equal((await control.request("POST", path, { body })).status, 422);
  });

  it("records each change with what was before and after", async () => {
    const { id } = await register(control);
    await control.request("PUT", `/webhooks/${id}`, { body: { enabled: false } });
    await control.request("POST", `/webhooks/${id}/enable`);
    await control.request("POST", `/webhooks/${id}/enable`);
    await control.request("POST", `/webhooks/${id}/rotate-secret`, { body: {} });
    await control.request("POST", `/webhooks/${id}/test`);
    await control.request("DELETE", `/webhooks/${id}`);
    assert.deepEqual(
      changes.map(({ action, before, after }) => [action, before?.["enabled"], after?.["enabled"]]),
      [
        ["webhook.created", undefined, true],
        ["webhook.updated", true, false],
        ["webhook.enabled", false, true],
        ["webhook.secret_rotated", true, true],
        ["webhook.tested", undefined, undefined],
        ["webhook.deleted", true, undefined],
      ],
    );
    assert.ok(changes.every(({ target }) => target.type === "webhook" && target.id === id));
  });

  it("sends nothing to one that is disabled, asked or not", async () => {
    const { id } = await register(control, { enabled: false });
    const answer = await control.request("POST", `/webhooks/${id}/test`);
    assert.deepEqual([answer.status, answer.body.error.code], [409, "CONFLICT"]);
  });
});
