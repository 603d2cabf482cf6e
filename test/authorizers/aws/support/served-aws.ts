import assert from "node:assert/strict";
import { awsAnswer, awsDoor, type AwsSettings } from "../../../../src/authorizers/aws/index.ts";
import type { JsonValue } from "../../../../src/json/index.ts";
import type { useServedDoors } from "../../../decision/point/support/served-doors.ts";
import type { DoorWorld } from "../../../decision/point/support/served-doors.ts";

export const STATED: AwsSettings = {
  uncached: true,
  decodedPaths: true,
  tokenAuthorizers: true,
  simpleResponses: false,
  basePaths: [],
};

/** The door for authorizers, over real parts. */
export function serveAws(
  serve: ReturnType<typeof useServedDoors>,
  change: Partial<AwsSettings> = {},
  world: DoorWorld = {},
) {
  const settings = { ...STATED, ...change };
  const { ask, recorded, log } = serve(awsDoor(settings), world);
  return {
    settings,
    recorded,
    log,
    ask: async (event: JsonValue) => awsAnswer(await ask(event), event, settings),
    /** The answer's document. */
    document: async (event: JsonValue): Promise<Record<string, unknown>> => {
      const answer = awsAnswer(await ask(event), event, settings);
      assert.equal(answer.kind, "answer", JSON.stringify(answer));
      return answer.document as Record<string, unknown>;
    },
  };
}
