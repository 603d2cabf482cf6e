import assert from "node:assert/strict";
import { refuseOperationIn } from "../../src/graphql/index.ts";
import { canonicalize } from "../../src/request/index.ts";
import { ODD_NAMES } from "./support/requests.ts";

const MALFORMED = "GRAPHQL_MALFORMED";
const encoded = encodeURIComponent;

describe("GraphQL over WebSocket: handshakes", () => {
  const handshake = (target: string) => {
    const raw = { method: "GET", target, scheme: "https", host: "app.test", protocol: "HTTP/2", headers: [] };
    const canonical = canonicalize(raw, { switchedOff: new Set(["parameter_collision"]) });
    assert.ok(canonical.ok, JSON.stringify(canonical));
    return refuseOperationIn(canonical.request)?.code;
  };

  it("carry no operation, nor a part of one, under any name", () => {
    const parameters = [
      ..."query variables operationName extensions id documentId queryId hash persistedQuery Query query[]".split(
        " ",
      ),
      ...ODD_NAMES,
    ].map((name) => `${encoded(name)}=x`);
    for (const parameter of [
      ...parameters,
      "query",
      "token=t&query=%7Bpayroll%7Btotal%7D%7D",
      "?query=x",
      "a?query=x",
      "token=t?query=x",
      "token=t%26query=x",
      `q=${encoded("{ payroll { total } }")}`,
      `${encoded("{payroll}")}=`,
      `anything=a&anything=${encoded("query { payroll }")}`,
    ])
      assert.equal(handshake(`/graphql?${parameter}`), MALFORMED, parameter);
  });

  it("may carry what says who connects, and how", () => {
    for (const parameters of [
      "",
      "?",
      "?token=t.o.k",
      "?access_token=x&transport=websocket",
      "?EIO=4&v[]=1&header=e30%3D",
    ])
      assert.equal(handshake(`/graphql${parameters}`), undefined, parameters);
  });
});
