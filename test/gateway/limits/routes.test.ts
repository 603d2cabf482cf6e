import assert from "node:assert/strict";
import { send } from "../support/client.ts";
import { startGateway, type TestGateway } from "../support/gateway.ts";

describe("gateway routes", () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({
      overrides: {
        "gateway.upstream_timeout": "2s",
        "gateway.stream_idle_timeout": "4s",
        "gateway.security.request_size_limit": "10KB",
        "gateway.routes": [
          { path: "/small", request_size_limit: "1KB" },
          { path: "/large", request_size_limit: "5MB", upstream_timeout: "1m" },
        ],
      },
    });
    // the service says which one
    gateway.authz.decide = ({ attributes }) => {
      const route = ["/small", "/large"].indexOf(attributes.request.http.path);
      const header = { header: { key: "x-gatehouse-route", value: String(route) } };
      const headers = route < 0 ? [] : [{ ...header, appendAction: "OVERWRITE_IF_EXISTS_OR_ADD" }];
      return { status: { code: 0 }, okResponse: { headers } };
    };
  });
  after(() => gateway.stop());
  beforeEach(() => {
    gateway.upstream.seen.length = 0;
    gateway.upstream.answer = (_, response) => response.end("hello");
  });

  it("have sizes of their own, with and without a Content-Length", async () => {
    for (const [path, size, expected] of [
      ["/usual", 10_000, 200],
      ["/usual", 10_001, 413],
      ["/small", 1000, 200],
      ["/small", 1001, 413],
      ["/large", 4_900_000, 200],
    ] as const) {
      for (const chunked of [false, true]) {
        const what = `${path} ${String(size)} ${String(chunked)}`;
        gateway.upstream.seen.length = 0;
        const { status } = await send(gateway.port, path, {
          method: "POST",
          body: "x".repeat(size),
          chunked,
          // a client cannot choose
          headers: { "x-gatehouse-route": "1" },
        });
        const { seen } = gateway.upstream;
        assert.deepEqual(
          [status, seen.map(({ bytes }) => bytes)],
          [expected, status === 200 ? [size] : []],
          what,
        );
        assert.equal(seen[0]?.headers["x-gatehouse-route"], undefined, what);
      }
    }
  });

  it("have times of their own; streams have the time of streams", async () => {
    const late = Promise.withResolvers<null>();
    gateway.upstream.answer = ({ url }, response) => {
      if (url !== "/silent") void late.promise.then(() => response.end("late"));
    };
    const events = { headers: { accept: "text/event-stream" } };
    const usual = send(gateway.port, "/usual");
    const [large, stream, silent] = [
      send(gateway.port, "/large"),
      send(gateway.port, "/usual", events),
      send(gateway.port, "/silent", events),
    ];
    assert.equal((await usual).status, 504);
    late.resolve(null);
    assert.deepEqual([(await large).body, (await stream).body, (await silent).status], ["late", "late", 504]);
  });
});
