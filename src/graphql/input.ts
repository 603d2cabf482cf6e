import { isObject } from "../json/index.ts";
import type { InputValue } from "./types.ts";

/** @returns the own member of an object; `undefined` if there is none with that name */
export function memberOf(value: InputValue | undefined, name: string): InputValue | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
