import assert from "node:assert/strict";
import {
  gatherIds,
  isConnectionMessage,
  takeConnectionMessage,
  type ConnectionMessage,
} from "../../../src/decision/connections/connection-messages.ts";
import { until } from "../../audit/support/wait.ts";

describe("decision: connections that have ended", () => {
  it("are told of together, each once", async () => {
    const sent: ConnectionMessage[] = [];
    const ended = gatherIds((message) => sent.push(message), "connections_ended");
    ended.add("a");
    ended.add("b");
    assert.deepEqual(sent, []);
    await until(() => sent.length > 0, "the message");
    ended.flush();
    assert.deepEqual(sent, [{ type: "connections_ended", ids: ["a", "b"] }]);
    ended.add("c");
    ended.flush();
    assert.deepEqual(sent[1], { type: "connections_ended", ids: ["c"] });
  });

  it("are told of at once where they are many", () => {
    const sent: ConnectionMessage[] = [];
    const ended = gatherIds((message) => sent.push(message), "connections_ended");
    for (let i = 0; i < 1_200; i += 1) ended.add(String(i));
    assert.deepEqual(
      sent.map((message) => message.type === "connections_ended" && message.ids.length),
      [500, 500],
    );
    ended.flush();
    const ids = sent.flatMap((message) => (message.type === "connections_ended" ? message.ids : []));
    assert.deepEqual(
      ids,
      Array.from({ length: 1_200 }, (_, i) => String(i)),
    );
  });

  it("are taken from a message, and nothing from what is none", () => {
    const heard: unknown[] = [];
    const registry = {
      ended: (ids: readonly string[]) => void heard.push(ids),
      reported: (ids: readonly string[]) => void heard.push(["open", ...ids]),
      abandoned: (ids: readonly string[]) => void heard.push(["abandoned", ...ids]),
      endedAll: () => void heard.push("all"),
    };
    const none = [
      undefined,
      null,
      7,
      "connections_ended",
      {},
      { type: "reload" },
      { type: "connections_ended" },
    ];
    const wrong = [
      { type: "connections_ended", ids: "a" },
      { type: "connections_ended", ids: ["a", 1] },
      { type: "connections_open", ids: "a" },
      { type: "handshakes_abandoned", ids: [1] },
    ];
    for (const message of [...none, ...wrong]) {
      assert.equal(isConnectionMessage(message), false);
      takeConnectionMessage(message, registry);
    }
    assert.deepEqual(heard, []);
    takeConnectionMessage({ type: "connections_ended", ids: ["a"] }, registry);
    takeConnectionMessage({ type: "connections_open", ids: ["b"] }, registry);
    takeConnectionMessage({ type: "handshakes_abandoned", ids: ["c"] }, registry);
    takeConnectionMessage({ type: "connections_ended_all" }, registry);
    assert.deepEqual(heard, [["a"], ["open", "b"], ["abandoned", "c"], "all"]);
  });
});
