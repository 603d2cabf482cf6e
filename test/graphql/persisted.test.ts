import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { GraphqlRequestRead } from "../../src/graphql/index.ts";
import { posted, readSent } from "./support/requests.ts";

const MALFORMED = "GRAPHQL_MALFORMED";
const encoded = encodeURIComponent;

/** The document that was read, or the code of the refusal. */
function documentIn(read: GraphqlRequestRead): string | undefined {
  return read.ok ? read.payloads[0]?.query : read.code;
}

describe("GraphQL over HTTP: what a request names, and where its result is delivered", () => {
  it("takes documents that the policy set has, and refuses hashes of others so that clients send them", () => {
    const query = "{ a }";
    const hash = createHash("sha256").update(query).digest("hex");
    const documents = { [hash]: query, relay: "{ b }" };
    const named = (id: unknown) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: id } } });
    const read = (json: object, sent: object = { documents }) => documentIn(posted(json, sent));
    const got = (target: string, sent: object = {}) =>
      documentIn(readSent({ method: "GET", target, ...sent }));

    for (const json of [named(hash), { query, ...named(hash) }, named("relay")])
      assert.equal(read(json, {}), "PERSISTED_QUERY_NOT_SUPPORTED");
    assert.equal(read(named(hash)), query);
    for (const name of ["id", "doc_id", "documentId"]) {
      assert.equal(read({ [name]: "relay" }), "{ b }", name);
      assert.equal(read({ [name]: "relay" }, {}), MALFORMED, name);
    }
    for (const json of [named("x"), named("toString"), named("__proto__"), { id: "x" }])
      assert.equal(read(json), "PERSISTED_QUERY_NOT_FOUND");
    // both: the same, or the document's own hash (APQ)
    assert.equal(read({ query, ...named(hash) }), query);
    const other = createHash("sha256").update("{ c }").digest("hex");
    assert.equal(read({ query: "{ c }", ...named(other) }), "{ c }");
    const bad = [
      { query: "{ c }", ...named(hash) },
      { query: "{ b } ", id: "relay" },
      { query: "{ c }", ...named(other.toUpperCase()) },
      { query: "", ...named(hash) },
      { ...named(hash), id: "relay" },
      { ...named(hash), id: hash },
      { id: "relay", doc_id: "relay" },
      { id: 1 },
      named(1),
      named(null),
      { extensions: { persistedQuery: { version: 2, sha256Hash: hash } } },
      { extensions: { persistedQuery: { version: 1, sha256Hash: hash, id: "relay" } } },
      { extensions: { persistedQuery: hash } },
    ];
    for (const json of bad) assert.equal(read(json), MALFORMED, JSON.stringify(json));
    const target = `/graphql?variables=%7B%7D&extensions=${encoded(JSON.stringify(named(hash).extensions))}`;
    assert.equal(got(target, { documents }), query);
    assert.equal(got(target), "PERSISTED_QUERY_NOT_SUPPORTED");
  });

  it("takes subscriptions where the response is an event stream to this request", () => {
    const query = "subscription { a }";
    const kinds = (accept: string, json: unknown = { query }, target?: string) => {
      const read = posted(json, { headers: [["accept", accept]], ...(target !== undefined && { target }) });
      assert.ok(read.ok);
      return [read.kinds.includes("subscription"), read.nullable];
    };
    for (const accept of ["text/event-stream", "application/json, Text/Event-Stream;q=0.5"])
      assert.deepEqual(kinds(accept), [true, true]);
    for (const accept of ["application/json", "*/*", "multipart/mixed"])
      assert.deepEqual(kinds(accept), [false, true]);
    assert.deepEqual(kinds("text/event-stream", [{ query }]), [false, true]);
    // graphql-sse delivers these in the response to another request
    assert.deepEqual(kinds("text/event-stream", { query, extensions: { operationId: "1" } }), [false, false]);
    const get = readSent({
      method: "GET",
      target: `/graphql?query=${encoded(query)}`,
      headers: [["accept", "text/event-stream"]],
    });
    assert.ok(get.ok && get.kinds.join() === "query,subscription");
  });
});
