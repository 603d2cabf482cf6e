import { isList, isObject } from "../../json/index.ts";
import { clip } from "../../text/index.ts";
import type { Value } from "../value.ts";
import type { ExpectedDocument } from "./types.ts";

/** The maximum number of differences to list. */
const MOST = 20;
const LONGEST = 120;

/**
 * @returns the differences between a text and the expected document, one line per position; nothing if they are equal
 */
export function documentDifferences(expected: ExpectedDocument, text: string): string[] {
  if ("text" in expected) {
    return expected.text === text ? [] : [`expected ${show(expected.text)}, got ${show(text)}`];
  }
  const actual = parsed(text);
  if (actual === undefined) return [`expected ${show(expected.json)}, got ${show(text)}, which is not JSON`];
  const found: string[] = [];
  compare(expected.json, actual, "$", found);
  return found.length <= MOST ? found : [...found.slice(0, MOST), `… ${found.length - MOST} more`];
}

/** @returns the names that are missing, and the names that were not expected */
export function setDifferences(expected: readonly string[], actual: readonly string[]): string[] {
  const missing = expected.filter((name) => !actual.includes(name));
  const surplus = actual.filter((name) => !expected.includes(name));
  return [
    ...missing.map((name) => `expected ${show(name)}, which is missing`),
    ...surplus.map((name) => `got ${show(name)}, which was not expected`),
  ];
}

function compare(
  expected: Value | undefined,
  actual: Value | undefined,
  path: string,
  found: string[],
): void {
  if (isList(expected) && isList(actual)) {
    for (let index = 0; index < Math.max(expected.length, actual.length); index++) {
      compare(expected[index], actual[index], `${path}[${index}]`, found);
    }
  } else if (isObject(expected) && isObject(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      compare(memberOf(expected, key), memberOf(actual, key), `${path}${step(key)}`, found);
    }
  } else if (expected !== actual) {
    found.push(`${path}: expected ${show(expected)}, got ${show(actual)}`);
  }
}

function step(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function show(value: Value | undefined): string {
  if (value === undefined) return "nothing";
  return clip(JSON.stringify(value), LONGEST);
}

function parsed(text: string): Value | undefined {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return undefined;
  }
}

function memberOf(object: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
