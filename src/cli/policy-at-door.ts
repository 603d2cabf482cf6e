import { DOOR_ABILITIES } from "../authorizers/index.ts";
import { findUnenforceable, type Unenforceable } from "../decision/point/index.ts";
import type { Diagnostic, SourcePosition } from "../policy/index.ts";
import type { CompiledSet } from "./policy-sets.ts";

/** @returns the rules of a set that cannot be enforced at a door; none of a set with errors */
export function atDoor({ ir, files }: CompiledSet, door: string): readonly Diagnostic[] {
  const abilities = DOOR_ABILITIES[door];
  if (abilities === undefined) throw new Error(`no door is called \`${door}\``);
  if (ir === undefined) return [];
  return findUnenforceable(ir, abilities, headPosition(files, "preflight")).map((found) => ({
    severity: "error",
    code: "not-enforceable",
    message: `${WHAT[found.lack]} ${WHERE[door] ?? `behind ${door}`}`,
    ...found.at,
    length: 1,
    hint: hintOf(found),
  }));
}

/** Doors that are no proxies of that name. */
const WHERE: Readonly<Record<string, string>> = {
  aws: "behind API Gateway",
  authzen: "for callers of the Authorization API",
};

const WHAT = {
  response: "responses cannot be masked",
  preflight: "answers to CORS preflights cannot be reduced to their CORS headers",
  messages: "WebSocket messages cannot be evaluated",
  connection: "WebSocket connections cannot be closed when their permission ends",
  request_headers: "headers of requests cannot be removed",
  body: "bodies of requests are not known",
  protocol: "which protocol the client speaks is not known",
} as const satisfies Record<Unenforceable["lack"], string>;

function hintOf({ lack, rule }: Unenforceable): string {
  if (lack === "body")
    return rule?.section === "graphql_policies"
      ? "no operation in a body is permitted there"
      : "what the condition reads of the body is unknown there, and unknown never permits";
  if (lack === "protocol")
    return "what the condition reads of it is unknown there, and unknown never permits";
  return "requests that need it are denied there";
}

/** The line of a key at the head of a set; the beginning of its first file if it is written in another way. */
function headPosition(files: CompiledSet["files"], key: string): SourcePosition {
  for (const { name: file, text } of files) {
    const line = text.split("\n").findIndex((one) => one.startsWith(`${key}:`));
    if (line >= 0) return { file, line: line + 1, column: 1 };
  }
  return { file: files[0]?.name ?? "", line: 1, column: 1 };
}
