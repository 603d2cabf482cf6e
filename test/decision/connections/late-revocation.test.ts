import assert from "node:assert/strict";
import { until } from "../../audit/support/wait.ts";
import { allow, byId, connection, deny, registry, START } from "./support.ts";
import { accessOf } from "../support.ts";

describe("review: a session that ends while a handshake is being judged", () => {
  it("closes its connection, which was not there yet when the session ended", async () => {
    const { connections, state } = registry({ judge: byId({ "dec-1": deny("SESSION_ENDED") }) });
    state.now = START + 5;
    connections.revoke(() => true);
    // asked for at START + 1, and judged by what was known then
    connections.add(connection("dec-1"));
    connections.add(connection("dec-2"));
    await until(() => "dec-1" in connections.directives().closed, "it is closed");
    assert.deepEqual(Object.keys(connections.directives().closed), ["dec-1"]);
  });

  it("judges again nobody who was there, or asked later", async () => {
    const judged: string[] = [];
    const { connections, state } = registry({
      judge: ({ requestId }) => {
        judged.push(requestId);
        return allow("plan");
      },
    });
    connections.add(connection("there"));
    state.now = START + 5;
    connections.revoke(() => false);
    connections.add(connection("later", { access: accessOf({ requestId: "later", at: START + 6 }) }));
    connections.add(connection("meanwhile"));
    await until(() => judged.length > 0, "one is judged");
    assert.deepEqual(judged, ["meanwhile"]);
  });
});
