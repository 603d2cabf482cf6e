import assert from "node:assert/strict";
import type { IdentityOptions } from "../../src/identity/index.ts";
import {
  createSigner,
  createSubject,
  json,
  startServer,
  until,
  valueOf,
  type Signer,
  type Subject,
  type TestServer,
} from "./support.ts";

describe("identity: the issuer's keys over time", () => {
  let first: Signer;
  let second: Signer;
  let server: TestServer;
  const subjects: Subject[] = [];

  before(async () => {
    [first, second] = await Promise.all([createSigner("ES256", "first"), createSigner("ES256", "second")]);
  });
  beforeEach(async () => {
    server = await startServer(json({ keys: [first.publicJwk] }));
  });
  afterEach(async () => {
    for (const { verifier } of subjects.splice(0)) verifier.close();
    await server.close();
  });

  const create = (options: Partial<IdentityOptions> = {}) => {
    const subject = createSubject({ jwks: `${server.origin}/keys`, ...options });
    subjects.push(subject);
    return subject;
  };
  const start = async (options: Partial<IdentityOptions> = {}) => {
    const subject = create(options);
    await subject.verifier.start();
    return subject;
  };
  const reasonOf = async ({ verifier }: Subject, token: string) => {
    const result = await verifier.verify(token);
    return result.ok ? "ok" : result.reason;
  };
  const publish = (...signers: Signer[]) => {
    server.respond = json({ keys: signers.map((signer) => signer.publicJwk) });
  };
  const fail: TestServer["respond"] = (_request, response) => {
    response.statusCode = 503;
    response.end();
  };

  it("learns a new key from the first token that names it", async () => {
    const subject = await start();
    publish(first, second);
    assert.equal(await reasonOf(subject, await second.sign()), "ok");
    assert.equal(await reasonOf(subject, await first.sign()), "ok");
    assert.equal(server.requests.length, 2);
    assert.equal(subject.verifier.status().generation, 2);
  });

  it("fetches once a cooldown, whatever the number of unknown keys at once and after each other", async () => {
    const subject = await start();
    server.respond = (request, response) => {
      setTimeout(() => {
        json({ keys: [first.publicJwk] })(request, response);
      }, 30);
    };
    const tokens = await Promise.all(
      Array.from({ length: 100 }, (_, index) => second.sign({}, { kid: `made-up-${index}` })),
    );
    const reasons = await Promise.all(tokens.map((token) => reasonOf(subject, token)));
    assert.deepEqual(new Set(reasons), new Set(["TOKEN_KEY_UNKNOWN"]));
    for (const token of tokens.slice(0, 20))
      assert.equal(await reasonOf(subject, token), "TOKEN_KEY_UNKNOWN");
    assert.equal(
      await reasonOf(subject, await second.sign({}, { kid: "made-up-later" })),
      "TOKEN_KEY_UNKNOWN",
    );
    assert.equal(server.requests.length, 2, "one at the start, one for all the unknown keys");

    subject.skew = 30_000;
    assert.equal(await reasonOf(subject, tokens[0]!), "TOKEN_KEY_UNKNOWN");
    assert.equal(server.requests.length, 3, "one more after the cooldown");
  });

  it("lets all tokens of a new key wait for the same fetch", async () => {
    const subject = await start();
    publish(first, second);
    const tokens = await Promise.all(
      Array.from({ length: 50 }, (_, index) => second.sign({ sub: `user-${index}` })),
    );
    const reasons = await Promise.all(tokens.map((token) => reasonOf(subject, token)));
    assert.deepEqual(new Set(reasons), new Set(["ok"]));
    assert.equal(server.requests.length, 2);
  });

  it("does not believe a key that is removed while it verifies", async () => {
    // one name for many keys makes a verification that takes longer than a fetch
    const decoys = await Promise.all(Array.from({ length: 98 }, () => createSigner("ES256", "first")));
    publish(...decoys, first);
    const subject = await start();
    const [early, late] = await Promise.all([first.sign(), second.sign()]);
    let answer: (() => void) | undefined;
    server.respond = (request, response) => {
      answer = () => {
        json({ keys: [second.publicJwk] })(request, response);
      };
    };
    const lateReason = reasonOf(subject, late);
    await until(() => answer !== undefined, "the fetch");
    const earlyReason = reasonOf(subject, early);
    answer?.();
    assert.deepEqual(await Promise.all([earlyReason, lateReason]), ["TOKEN_KEY_UNKNOWN", "ok"]);
  });

  it("does not fetch for tokens that no key could save", async () => {
    const subject = await start();
    await reasonOf(subject, "a.b.c");
    await reasonOf(subject, (await first.sign()).replace(/.{20}$/, "A".repeat(20)));
    await reasonOf(subject, await second.sign({}, { kid: "made-up", typ: "dpop+jwt" }));
    assert.equal(server.requests.length, 1);
  });

  it("is not blocked for longer than a cooldown by a clock that is set back", async () => {
    const subject = await start();
    subject.skew = 3_600_000;
    assert.equal(await reasonOf(subject, await second.sign({ iat: undefined })), "TOKEN_KEY_UNKNOWN");
    subject.skew = 0;
    publish(second);
    assert.equal(await reasonOf(subject, await second.sign()), "ok");
  });

  it("forgets a removed key at the next refresh, together with the tokens that it has signed", async () => {
    const subject = await start({ refreshIntervalMs: 20 });
    const token = await first.sign();
    assert.equal(await reasonOf(subject, token), "ok");
    assert.equal(subject.verifier.cached(token)?.ok, true);
    publish(second);
    await until(() => subject.verifier.status().generation === 2, "a refresh");
    assert.equal(subject.verifier.cached(token), undefined);
    assert.equal(await reasonOf(subject, token), "TOKEN_KEY_UNKNOWN");
    assert.equal(await reasonOf(subject, await second.sign()), "ok");
  });

  it("keeps cached tokens when a refresh brings the same keys", async () => {
    const subject = await start({ refreshIntervalMs: 20 });
    const token = await first.sign();
    await subject.verifier.verify(token);
    await until(() => server.requests.length > 3, "refreshes");
    assert.equal(subject.verifier.status().generation, 1);
    assert.equal(subject.verifier.cached(token)?.ok, true);
  });

  it("takes another key under the same name for another key", async () => {
    const subject = await start({ refreshIntervalMs: 20 });
    const impostor = await createSigner("ES256", "first");
    const token = await first.sign();
    assert.equal(await reasonOf(subject, token), "ok");
    publish(impostor);
    await until(() => subject.verifier.status().generation === 2, "a refresh");
    assert.equal(await reasonOf(subject, token), "TOKEN_SIGNATURE_INVALID");
    assert.equal(await reasonOf(subject, await impostor.sign()), "ok");
  });

  it("refuses a token whose key is removed while it waits for another one", async () => {
    const subject = await start();
    publish(second);
    const [, reason] = await Promise.all([
      reasonOf(subject, await second.sign()),
      reasonOf(subject, await first.sign()),
    ]);
    assert.ok(["ok", "TOKEN_KEY_UNKNOWN"].includes(reason)); // begun before the keys changed
    assert.equal(await reasonOf(subject, await first.sign()), "TOKEN_KEY_UNKNOWN");
  });

  const broken: Record<string, TestServer["respond"]> = {
    "an error status": fail,
    "an error status beside keys": (request, response) => {
      response.statusCode = 500;
      json({ keys: [second.publicJwk] })(request, response);
    },
    "an empty key set": json({ keys: [] }),
    "a key set without usable keys": json({ keys: [{ kty: "oct", k: "c2VjcmV0" }] }),
    "no key set": json({ error: "maintenance" }),
    "keys that are no list": json({ keys: { 0: {} } }),
    "half a document": json('{"keys":['),
    HTML: json("<html>maintenance</html>"),
    "bytes that are not UTF-8": (_request, response) => response.end(Buffer.from([0x22, 0xff, 0x22])),
    "an empty answer": json(""),
    null: json(null),
    "too many keys": (request, response) => {
      const keys = Array.from({ length: 1000 }, (_, index) => ({ ...first.publicJwk, kid: `key-${index}` }));
      json({ keys: [second.publicJwk, ...keys] })(request, response);
    },
    "keys in a document over 4 MiB": (request, response) => {
      json({ keys: [second.publicJwk], padding: "x".repeat(4 * 1024 * 1024) })(request, response);
    },
    "a document without end": (_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, " ");
      const more = () => {
        while (response.write(chunk));
      };
      response.on("drain", more);
      more();
    },
    "a redirect to the right keys": (request, response) => {
      if (request.url === "/elsewhere") json({ keys: [second.publicJwk] })(request, response);
      else response.writeHead(302, { location: "/elsewhere" }).end();
    },
    "a connection that is cut": (request) => request.socket.destroy(),
    "no answer": () => undefined,
    "an answer that never ends": (_request, response) => response.write('{"keys":'),
  };
  /** The machine may be busy: only what never ends shall be cut off soon, and not the good answer before it. */
  const cutOff = (what: string, requestTimeoutMs: number) =>
    what === "no answer" || what === "an answer that never ends" ? { requestTimeoutMs } : {};
  for (const [what, respond] of Object.entries(broken)) {
    it(`keeps the last good keys when there is ${what}`, async () => {
      const subject = await start(cutOff(what, 2_000));
      server.respond = respond;
      assert.equal(await reasonOf(subject, await second.sign()), "TOKEN_KEY_UNKNOWN");
      assert.equal(server.requests.length, 2);
      assert.equal(await valueOf(subject.metrics, "gatehouse_jwks_refresh_total", { result: "failed" }), 1);
      const { lastError = "", ready, keys } = subject.verifier.status();
      assert.match(lastError, /\w/);
      assert.deepEqual({ ready, keys }, { ready: true, keys: 1 });
      assert.equal(await reasonOf(subject, await first.sign()), "ok");
    });

    it(`is not ready when there never was anything but ${what}`, async () => {
      server.respond = respond;
      const subject = await start(cutOff(what, 300));
      assert.equal(subject.verifier.ready(), false);
      assert.equal(await reasonOf(subject, await first.sign()), "IDENTITY_NOT_READY");
      assert.deepEqual(
        subject.log.lines.map(({ level }) => level),
        ["warn"],
      );
    });
  }

  it("goes on with known keys while the issuer is down, stops at the stale limit, and recovers by itself", async () => {
    const subject = await start({ maxStaleMs: 3_600_000, cooldownMs: 20, refreshIntervalMs: 20 });
    const changes: boolean[] = [];
    subject.verifier.onReadyChange((ready) => changes.push(ready));
    const token = await first.sign({ exp: Math.floor(Date.now() / 1000) + 86_400 });
    server.respond = fail;
    await until(() => subject.verifier.status().lastError !== undefined, "a failed refresh");
    subject.skew = 3_500_000;
    assert.equal(await reasonOf(subject, token), "ok");
    assert.equal(subject.verifier.cached(token)?.ok, true);

    subject.skew = 3_700_000;
    assert.equal(subject.verifier.ready(), false);
    assert.equal(subject.verifier.cached(token), undefined);
    assert.equal(await reasonOf(subject, token), "IDENTITY_NOT_READY");
    await until(() => changes.length === 1, "the news that it is not ready");
    assert.ok(subject.log.lines.some(({ level }) => level === "error"));

    publish(first);
    await until(() => changes.length === 2, "the news that it is ready");
    assert.deepEqual(changes, [false, true]);
    assert.equal(await reasonOf(subject, token), "ok");
  });

  it("notices staleness without any request or refresh", async () => {
    const subject = await start({ maxStaleMs: 60 });
    const changes: boolean[] = [];
    subject.verifier.onReadyChange((ready) => changes.push(ready));
    await until(() => changes.length > 0, "staleness");
    assert.deepEqual(changes, [false]);
    assert.equal(server.requests.length, 1);
  });

  it("becomes ready when the issuer comes up after it", async () => {
    server.respond = fail;
    const subject = create({ cooldownMs: 20 });
    const changes: boolean[] = [];
    subject.verifier.onReadyChange((ready) => changes.push(ready));
    await subject.verifier.start();
    assert.equal(subject.verifier.ready(), false);
    publish(first);
    await until(() => subject.verifier.ready(), "keys");
    assert.deepEqual(changes, [true]);
    assert.equal(await reasonOf(subject, await first.sign()), "ok");
  });

  it("survives a flapping issuer", async () => {
    let calls = 0;
    server.respond = (request, response) => {
      (calls++ % 2 === 0 ? json({ keys: [first.publicJwk] }) : fail)(request, response);
    };
    const subject = await start({ refreshIntervalMs: 10, cooldownMs: 10 });
    const token = await first.sign();
    await until(async () => {
      assert.equal(await reasonOf(subject, token), "ok");
      return calls >= 8;
    }, "eight answers");
    assert.equal(subject.verifier.status().generation, 1);
  });

  it("survives a listener that throws, and forgets one that left", async () => {
    const subject = create();
    const heard: string[] = [];
    subject.verifier.onReadyChange(() => {
      throw new Error("broken listener");
    });
    const leave = subject.verifier.onReadyChange(() => heard.push("left"));
    subject.verifier.onReadyChange(() => heard.push("stayed"));
    leave();
    await subject.verifier.start();
    assert.deepEqual(heard, ["stayed"]);
    assert.equal(subject.verifier.ready(), true);
  });

  it("does nothing after close, not even what is under way", async () => {
    const subject = create({ refreshIntervalMs: 10 });
    server.respond = () => undefined;
    const starting = subject.verifier.start();
    await until(() => server.requests.length === 1, "the first request");
    subject.verifier.close();
    await starting;
    await subject.verifier.start();
    assert.equal(subject.verifier.ready(), false);
    assert.equal(server.requests.length, 1);
    assert.deepEqual(subject.log.lines, []);
  });

  it("says how it is", async () => {
    const subject = create();
    const source = `${server.origin}/keys`;
    assert.deepEqual(subject.verifier.status(), { ready: false, source, keys: 0, generation: 0 });
    await subject.verifier.start();
    const { loadedAt = "", staleAt = "", ...rest } = subject.verifier.status();
    assert.deepEqual(rest, { ready: true, source, keys: 1, generation: 1 });
    assert.equal(Date.parse(staleAt) - Date.parse(loadedAt), 86_400_000);
    assert.equal(await valueOf(subject.metrics, "gatehouse_jwks_refresh_total", { result: "loaded" }), 1);
    const time = await valueOf(subject.metrics, "gatehouse_jwks_last_success_timestamp_seconds");
    assert.equal(time, Date.parse(loadedAt) / 1000);
  });
});
