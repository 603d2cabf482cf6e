import { readFileSync } from "node:fs";
import type { GatewayConfig } from "../../config/index.ts";
import { createInputHash, createInputProtection, type InputProtection } from "../../decision/inputs/index.ts";
import { parseAttributePath } from "../../policy/evaluation.ts";
import { errorMessage } from "../../text/index.ts";

/**
 * @returns what records keep of the values that rules read; `undefined` if they carry no inputs
 * @throws Error if the file with the key of the hashes is not usable; the message does not contain its content
 */
export function inputProtection({ audit }: Pick<GatewayConfig, "audit">): InputProtection | undefined {
  if (!audit.enabled || !audit.inputs) return undefined;
  const keep = audit.inputs_values.flatMap((text) => {
    const path = parseAttributePath(text);
    return path === undefined ? [] : [path];
  });
  const { inputs_others: others, inputs_key_file: file } = audit;
  if (others !== "hash" || file === undefined) return createInputProtection({ keep });
  return createInputProtection({ keep, hash: inputHashIn("audit.inputs_key_file", file) });
}

/**
 * Reads the key with which values are hashed.
 *
 * @param name - of the key or option that names the file, for messages
 * @throws Error if the file is not readable, or its content too short
 */
export function inputHashIn(name: string, file: string) {
  try {
    return createInputHash(readFileSync(file, "utf8").trim());
  } catch (error) {
    throw new Error(`\`${name}\`: cannot use \`${file}\`: ${errorMessage(error)}`, { cause: error });
  }
}
