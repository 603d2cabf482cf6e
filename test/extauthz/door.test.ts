import { createCheckEncoder } from "../../src/extauthz/answer-check.ts";
import { createCheckReader } from "../../src/extauthz/read-check.ts";
import { describeDoor } from "../decision/point/support/door-contract.ts";
import { silentLog } from "../decision/support.ts";
import { checkRequest } from "../support/check-request.ts";
import { allowed, denied, envoys, type Answer } from "./support/check-world.ts";
import { CHECK_RESPONSE, decodeWith } from "./support/protos.ts";

for (const [filters, plans] of [
  ["with our filters", "1"],
  ["without them", ""],
] as const)
  describeDoor(`Envoy ${filters}`, {
    door: {
      decode: createCheckReader({ log: silentLog }),
      encode: createCheckEncoder({ place: { file: "/run/state.json", epoch: "e-1" } }),
    },
    message: (path, headers) => checkRequest({ path, headers, plans, bodies: "unknown" }),
    unreadable: Buffer.from("not a CheckRequest"),
    read: (bytes) => {
      const answer: Answer = decodeWith(envoys, CHECK_RESPONSE, bytes);
      if (answer.denied_response !== undefined) return { permitted: false, ...denied(answer) };
      const plan = answer.dynamic_metadata?.fields?.["plan"]?.stringValue;
      return { permitted: true, ...allowed(answer), ...(plan !== undefined && { plan }) };
    },
  });
