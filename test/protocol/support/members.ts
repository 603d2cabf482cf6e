import type * as z from "zod";

/** The members of a value that are there, by their path; items of a list are alike. */
export function membersOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => membersOf(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    `${path}.${name}`,
    ...membersOf(member, `${path}.${name}`),
  ]);
}

/** The members that a schema names, in the same way. */
export function membersNamed(schema: z.ZodType): string[] {
  const walk = (part: Json, path: string): string[] => [
    ...Object.entries(part.properties ?? {}).flatMap(([name, member]) => [
      `${path}.${name}`,
      ...walk(member, `${path}.${name}`),
    ]),
    ...(part.items === undefined ? [] : walk(part.items, `${path}[]`)),
  ];
  return walk(schema.toJSONSchema({ io: "input", unrepresentable: "any" }) as Json, "");
}
interface Json {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly items?: Json;
}

/** @returns the value, with a member in each of its objects that no release knows */
export function withMore(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMore);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withMore(member)]);
  return { ...Object.fromEntries(members), newer: { n: 1 } };
}
