import assert from "node:assert/strict";
import type { Door } from "../../../../src/decision/point/index.ts";
import { bearer, useIssuer } from "../../support.ts";
import { SOCKETS } from "./door-fixtures.ts";
import { useServedDoors } from "./served-doors.ts";

type Headers = readonly (readonly [name: string, value: string])[];

/** What a proxy does after an answer. */
export type Outcome =
  | {
      readonly permitted: true;
      /** Headers that the application gets in place of the client's, and those that it does not get. */
      readonly set: Readonly<Record<string, string>>;
      readonly remove: readonly string[];
      /** What is left to do with the response or on the connection, as sent to the proxy. */
      readonly plan?: string;
    }
  | { readonly permitted: false; readonly status: number; readonly body: string };

export interface TestedDoor<Message, Answer> {
  readonly door: Door<Message, Answer>;
  /** The proxy's message about a request whose body it did not send. */
  readonly message: (path: string, headers: Headers) => Message;
  /** A message that `decode` cannot read. */
  readonly unreadable: Message;
  /** Reads an answer as the proxy does. */
  readonly read: (answer: Answer) => Outcome;
  /** The status with which the proxy refuses in place of another. */
  readonly statusOf?: (status: number) => number;
}

/** The contract of every door. What a door says that its proxy `carries`, its answers must contain. */
export function describeDoor<Message, Answer>(name: string, tested: TestedDoor<Message, Answer>): void {
  const { door, message, unreadable, read, statusOf = (status) => status } = tested;

  describe(`decision: the contract of a door: ${name}`, () => {
    const idp = useIssuer();
    const serve = useServedDoors(idp);
    const token = async (claims: Record<string, unknown> = {}) => bearer(await idp.token(claims));

    it("a permit says who is asking", async () => {
      const { ask, recorded } = serve(door);
      const outcome = read(await ask(message("/me", [await token({ sub: "u-1" })])));
      assert.ok(outcome.permitted);
      assert.equal(outcome.set["x-user-id"], "u-1");
      assert.ok(read(await ask(message("/public", []))).permitted);
      assert.deepEqual(await recorded(), ["ALLOW CONDITION_TRUE", "ALLOW CONDITION_TRUE"]);
    });

    it("a denial keeps its status and body; a body that was not sent is unknown, not empty", async () => {
      const { ask, recorded } = serve(door);
      const expected = [
        ["/me", 401],
        ["/nothing", 403],
        ["/a/..%2fb", 400],
        ["/body", 503],
      ] as const;
      for (const [path, status] of expected) {
        const outcome = read(await ask(message(path, [])));
        assert.ok(!outcome.permitted);
        assert.equal(outcome.status, statusOf(status));
        assert.match(outcome.body, /"success":false/);
      }
      assert.deepEqual(await recorded(), [
        "DENY IDENTITY_REQUIRED",
        "DENY NO_MATCHING_RULE",
        "DENY AMBIGUOUS_PATH",
        "DENY BODY_UNAVAILABLE",
      ]);
    });

    it("repeated headers stay apart", async () => {
      const { ask, recorded } = serve(door);
      const headers = [await token(), await token({ sub: "u-2" })];
      assert.ok(!read(await ask(message("/me", headers))).permitted);
      assert.deepEqual(await recorded(), ["DENY AMBIGUOUS_HEADERS"]);
    });

    it("no header that only the gateway may set reaches the application", async () => {
      const { ask, recorded } = serve(door);
      const outcome = read(await ask(message("/public", [["x-user-id", "forged"]])));
      if (outcome.permitted) assert.ok(outcome.remove.includes("x-user-id"));
      else assert.deepEqual(await recorded(), ["DENY PLAN_NOT_ENFORCEABLE"]);
    });

    it("a permit with a plan contains the plan", async () => {
      const handshake = [
        ["upgrade", "websocket"],
        ["connection", "Upgrade"],
      ] as const;
      const masked = serve(door);
      const sockets = serve(door, { policies: SOCKETS });
      const response = await masked.ask(message("/masked", [await token({ role: "viewer" })]));
      const connection = await sockets.ask(message("/feed", handshake));
      for (const [{ recorded }, answer, part] of [
        [masked, response, /"ssn"/],
        [sockets, connection, /"ping"/],
      ] as const) {
        const outcome = read(answer);
        if (outcome.permitted) assert.match(outcome.plan ?? "", part);
        else assert.deepEqual(await recorded(), ["DENY PLAN_NOT_ENFORCEABLE"]);
      }
    });

    it("a message that cannot be read is a recorded denial, and the last resort is a denial", async () => {
      const { ask, recorded } = serve(door);
      assert.ok(!read(await ask(unreadable)).permitted);
      assert.deepEqual(await recorded(), ["DENY INTERNAL_ERROR"]);
      assert.ok(!read(door.encode.lastResort).permitted);
    });
  });
}
