import assert from "node:assert/strict";
import { Server, status } from "@grpc/grpc-js";
import { allowCancelledCalls } from "../../src/extauthz/cancelled-calls.ts";
import { HealthState } from "../../src/extauthz/health.ts";
import { startAuthzServer } from "../../src/extauthz/server.ts";
import { codeOf, connectClient, until } from "./support/client.ts";

const ROUNDS = 30;
const CALLS = 100;

describe("extauthz: calls that the client cancels", () => {
  it("do not end the others on the same connection, however many they are", async () => {
    const request = Buffer.from("any");
    const { promise: held, resolve: answer } = Promise.withResolvers<Buffer>();
    let seen = 0;
    const ignore = () => undefined;
    const server = await startAuthzServer({
      listen: { host: "127.0.0.1", port: 0 },
      check: () => {
        seen += 1;
        return held;
      },
      health: new HealthState(),
      log: { info: ignore, warn: ignore, error: ignore },
    });
    const client = connectClient(`127.0.0.1:${String(server.port)}`);
    try {
      const first = client.check(request, { deadlineMs: 60_000 });
      await until(() => seen === 1, "the first call has arrived");
      for (let round = 1; round <= ROUNDS; round += 1) {
        const abort = new AbortController();
        const cancel = { cancel: abort.signal, deadlineMs: 60_000 };
        const calls = Array.from({ length: CALLS }, () => codeOf(client.check(request, cancel)));
        const ended = Promise.race(calls).then((code) => {
          if (!abort.signal.aborted) throw new Error(`a call ended with ${status[code]}`);
        });
        await Promise.race([until(() => seen === 1 + round * CALLS, "all calls have arrived"), ended]);
        abort.abort();
        assert.deepEqual(new Set(await Promise.all(calls)), new Set([status.CANCELLED]));
      }
      answer(request);
      assert.deepEqual(await first, request);
    } finally {
      client.close();
      await server.close(0);
    }
  });

  it("need options of grpc-js, and nothing is served without them", () => {
    const server = new Server();
    Reflect.deleteProperty(server, "commonServerOptions");
    assert.throws(() => {
      allowCancelledCalls(server);
    }, /grpc-js/);
    server.forceShutdown();
  });
});
