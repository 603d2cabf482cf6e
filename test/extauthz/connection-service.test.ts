import assert from "node:assert/strict";
import { status, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import type { IdentifyConnection } from "../../src/decision/point/index.ts";
import { identifyHandler } from "../../src/extauthz/connection-service.ts";

describe("extauthz: calls with the first message of a connection", () => {
  const call = (identify: IdentifyConnection, request: Buffer) =>
    new Promise<{ readonly code?: number | undefined; readonly answer?: unknown }>((resolve) => {
      const callback: sendUnaryData<Buffer> = (error, answer) => {
        resolve(
          error ? { code: error.code ?? undefined } : { answer: JSON.parse(String(answer)) as unknown },
        );
      };
      identifyHandler(identify)({ request } as unknown as ServerUnaryCall<Buffer, Buffer>, callback);
    });

  it("name a decision in their first line; the rest is the message, whatever it contains", async () => {
    const asked: (readonly [string, string])[] = [];
    const identify: IdentifyConnection = (id, text) => {
      asked.push([id, text]);
      return Promise.resolve({ result: "unchanged" });
    };
    assert.deepEqual(await call(identify, Buffer.from('dec_1\n{"a":\n"ä"}')), {
      answer: { result: "unchanged" },
    });
    assert.deepEqual(await call(identify, Buffer.from("dec_1")), { code: status.INVALID_ARGUMENT });
    assert.deepEqual(await call(identify, Buffer.alloc(0)), { code: status.INVALID_ARGUMENT });
    assert.deepEqual(asked, [["dec_1", '{"a":\n"ä"}']]);
  });

  it("are answered with what Lua reads", async () => {
    const plan = { decisionId: "dec_1", text: "{}", websocket: true, graphql: true, expiresAt: 7 };
    const message = Buffer.from("dec_1\n{}");
    assert.deepEqual(await call(() => Promise.resolve({ result: "identified", plan }), message), {
      answer: { result: "identified", plan: "{}", expires_at: 7 },
    });
    const closing = { code: 4403, reason: "TOKEN_EXPIRED" };
    assert.deepEqual(await call(() => Promise.resolve({ result: "refused", closing }), message), {
      answer: { result: "refused", code: 4403, reason: "TOKEN_EXPIRED" },
    });
    assert.deepEqual(await call(() => Promise.reject(new Error("x")), message), { code: status.INTERNAL });
  });
});
