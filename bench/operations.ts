/** How an operation of a benchmark is written and evaluated. */
export interface Shape {
  /** The policy set has an SDL file. */
  readonly schema: boolean;
  /** Leaves are selected through a fragment. */
  readonly fragments: boolean;
}

/** Root fields `r0`…, each a Group with `g0`…, each an Item with `i0`… */
const WIDE = 10;

const names = (letter: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${letter}${index}`);

export const SDL = `
type Item { ${names("i", WIDE).join(": String ")}: String secret: String }
type Group { ${names("g", WIDE).join(": Item ")}: Item }
type Query { ${names("r", WIDE)
  .map((name) => `${name}(customer_id: ID!): Group`)
  .join(" ")} }
`;

/** Rules for every root field and for some leaves, of which one is never asked for. */
export function policiesFor({ schema }: Shape): string {
  // without a schema a parent is called by its field
  const parents = schema ? ["Item"] : names("g", WIDE);
  const rules = [
    ...names("r", WIDE).map((name) => rule(name, "args.customer_id == user.customer_id")),
    ...parents.flatMap((parent) => [
      rule(`${parent}.i3`, 'user.role in ["viewer", "admin"]'),
      rule(`${parent}.secret`, 'user.role == "admin"'),
    ]),
  ];
  const head = schema ? "graphql: { schema: api.graphql }\n" : "";
  return `${head}graphql_policies:\n${rules.join("")}`;
}

function rule(query: string, condition: string): string {
  return `  - { query: ${query}, condition: '${condition}' }\n`;
}

/** @returns a query with `leaves` (10, 100 or 1000) fields that have none below them; all of them are permitted */
export function operationWith(leaves: number, { fragments }: Shape): string {
  const [roots, groups] = [Math.max(1, leaves / 100), Math.min(WIDE, leaves / 10)];
  const items = names("i", WIDE).join(" ");
  const group = names("g", groups).map((name) => `${name} { ${fragments ? "...F" : items} }`);
  const root = names("r", roots).map((name) => `${name}(customer_id: $customer) { ${group.join(" ")} }`);
  const fragment = fragments ? ` fragment F on Item { ${items} }` : "";
  return `query Q($customer: ID!) { ${root.join(" ")} }${fragment}`;
}
