import type { TestIssuer } from "../test/support/providers/issuer.ts";

/** The most that Envoy lets through to the service: 64 KiB of headers, 100 of them, and 1 MiB of a body. */
const HEADER_BYTES = 60_000;
const BODY_BYTES = 1_048_576;
/** `MAX_VALUES` of src/json. */
const VALUES = 10_000;

/** A request that is meant to keep the service busy for as long as may be. */
export interface WorstInput {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

/** Sets of rules that read everything that a request may hold. */
export const POLICIES = `
policies:
  - resource: "POST /read"
    condition: request.body.id == "1" and request.headers["x-a"].includes("2") and not exists(request.query.admin)
  - resource: "GET /read/**"
    condition: request.headers["x-a"].includes("1") and not exists(request.query.admin)
  - resource: "GET /mine/{id}"
    condition: path.id == user.id and user.permissions.includes("a")
graphql_policies:
  - query: a
    condition: args.x == "1"
  - query: customers
    condition: args.filter.region == "eu" and args.filter.zone != "b"
  - query: T.b
    condition: args.y == user.id
  - mutation: c
    condition: user.role == "admin"
`;

export async function worstInputs(issuer: TestIssuer): Promise<readonly WorstInput[]> {
  return [...json(), ...contentTypes(), ...targets(), ...headers(), ...(await tokens(issuer)), ...graphql()];
}

function json(): readonly WorstInput[] {
  const bodies: Readonly<Record<string, string>> = {
    "numbers, as many as are read": list("1", VALUES - 1),
    "numbers, 1 MiB": list("1", BODY_BYTES / 2 - 1),
    "members, as many as are read": members((index) => `m${index.toString(36)}`, VALUES - 1),
    "members in capitals, as many as are read": members((index) => `M${index.toString(36)}`, VALUES - 1),
    "members of long names": members((index) => `${index}${"n".repeat(40)}`, VALUES - 1),
    "members of names of many parts": members((index) => `${"a.".repeat(46)}${index}`, VALUES - 1),
    "members of names beyond ASCII": members(
      (index) => `\xc3\x89.${"i.\xc3\x89".repeat(16)}${index}`,
      VALUES - 1,
    ),
    "a name of 1 MB in parts": `{"${"i.".repeat(BODY_BYTES / 2 - 10)}":1}`,
    "a name of 1 MB that is set aside": `{"i${"_".repeat(BODY_BYTES - 20)}d":1}`,
    "a name of 1 MB of blanks beyond ASCII": `{"i${"\xc2\xa0".repeat(BODY_BYTES / 2 - 10)}d":1}`,
    "a name of 1 MB of numbers of items": `{"id${".0".repeat(BODY_BYTES / 2 - 10)}x":1}`,
    "names beyond ASCII beside an inexact number": `{"n":9007199254740993,${members((index) => `\xc3\x89.${"i.\xc3\x89".repeat(16)}${index}`, VALUES - 2).slice(1)}`,
    "members with escapes": members((index) => `\\u0041${index}`, VALUES - 1),
    "objects, as many as are read": list('{"a":1}', VALUES / 2 - 1),
    "fractions of 17 digits": list("0.12345678901234567e1", VALUES - 1),
    exponents: list("1e299", VALUES - 1),
    "inexact numbers": list("9007199254740993", VALUES - 1),
    "strings of escapes": list('"\\n\\u0041"', VALUES - 1),
    "a long string": `"${"a".repeat(BODY_BYTES - 2)}"`,
    "a long string of escapes": `"${"\\u0041".repeat(BODY_BYTES / 6 - 1)}"`,
    "a long string of surrogates": `"${"\xf0\x9f\x98\x80".repeat(BODY_BYTES / 4 - 1)}"`,
    "a long number": "1".repeat(BODY_BYTES),
    "a long fraction": `0.${"1".repeat(BODY_BYTES - 2)}`,
    blanks: `${" ".repeat(BODY_BYTES - 1)}1`,
    "a string that does not end": `"${"\\\\".repeat(BODY_BYTES / 2 - 1)}`,
    levels: "[".repeat(BODY_BYTES),
    "bytes that are not UTF-8": `"${"\xff".repeat(1000)}"`,
  };
  return Object.entries(bodies).map(([name, body]) => ({
    name: `JSON: ${name}`,
    method: "POST",
    path: "/read",
    headers: [["content-type", "application/json"]],
    body,
  }));
}

function contentTypes(): readonly WorstInput[] {
  const values: Readonly<Record<string, string>> = {
    "blanks before a malformed parameter": `application/json;${" ".repeat(HEADER_BYTES)}(`,
    "blanks and a malformed end": `application/json${" ".repeat(HEADER_BYTES)}(`,
    parameters: `application/json${";a=b".repeat(HEADER_BYTES / 4)}`,
    "a string of escapes": `application/json;a="${'\\"'.repeat(HEADER_BYTES / 2)}`,
  };
  return Object.entries(values).flatMap(([name, value]) =>
    ["/read", "/graphql"].map((path) => ({
      name: `Content-Type of ${path}: ${name}`,
      method: "POST",
      path,
      headers: [["content-type", value]] as const,
      body: "{}",
    })),
  );
}

function targets(): readonly WorstInput[] {
  const paths: Readonly<Record<string, string>> = {
    "a path of encoded letters": `/read/${"%41".repeat(HEADER_BYTES / 3)}`,
    "a path of encoded UTF-8": `/read/${"%F0%9F%98%80".repeat(HEADER_BYTES / 12)}`,
    "a path of double encodings": `/read/${"%25".repeat(HEADER_BYTES / 3)}41`,
    "a path of 256 segments": `/read${"/a".repeat(255)}`,
    "a path of segments": `/read${"/a".repeat(HEADER_BYTES / 2)}`,
    "a path of full stops": `/read${"/%2e%2e".repeat(250)}`,
    "1,000 parameters": `/read/x?${Array.from({ length: 1000 }, (_, index) => `p${index}=%41`).join("&")}`,
    "1,000 parameters of similar names": `/read/x?${Array.from({ length: 1000 }, (_, index) => `P.${index}[]=1`).join("&")}`,
    parameters: `/read/x?${"a=1&".repeat(HEADER_BYTES / 4)}`,
    "a parameter of encodings": `/read/x?a=${"%41".repeat(HEADER_BYTES / 3)}`,
    "a value of parameters": `/read/x?a=${";a.x".repeat(HEADER_BYTES / 4)}`,
    "a value of parameters, encoded": `/read/x?a=${"%26a.x".repeat(HEADER_BYTES / 6)}`,
    brackets: `/read/x?${"[".repeat(HEADER_BYTES)}=1`,
    "user information": `http://${"a".repeat(HEADER_BYTES)}@app.test/read`,
    colons: `http://${"a:".repeat(HEADER_BYTES / 2)}/read`,
  };
  return Object.entries(paths).map(([name, path]) => ({ name: `target: ${name}`, path }));
}

function headers(): readonly WorstInput[] {
  const many = (value: string) =>
    Array.from(
      { length: 90 },
      (_, index) => [`x-h${index}`, value.repeat(HEADER_BYTES / 90 / value.length)] as const,
    );
  const one = (name: string, value: string) => [[name, value.repeat(HEADER_BYTES / value.length)]] as const;
  const cases: Readonly<Record<string, WorstInput["headers"]>> = {
    "90 headers": many("a"),
    "90 headers beyond ASCII": many("\xc3\xa9"),
    "one name, 90 times": many("a").map(([, value]) => ["x-a", value] as const),
    "a value of blanks": one("x-a", " \t"),
    "a list of schemes": one("authorization", "a=b, "),
    "a list of quoted strings": one("authorization", '"\\"",'),
    cookies: one("cookie", "a=b; "),
    "a list of connection options": one("connection", "close, "),
    "content codings": one("content-encoding", "identity,"),
    "accepted types": one("accept", "text/html;q=0.1,"),
    "forwarded addresses": one("x-forwarded-for", "127.0.0.1, "),
    "a host of dots": one("host", "a."),
  };
  return Object.entries(cases).map(([name, headers]) => ({
    name: `headers: ${name}`,
    path: "/read/x",
    headers: headers ?? [],
  }));
}

async function tokens(issuer: TestIssuer): Promise<readonly WorstInput[]> {
  const encode = (text: string) => Buffer.from(text, "latin1").toString("base64url");
  const good = await issuer.token();
  const [header = "", , signature = ""] = good.split(".");
  const named = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`c${index}`, index]));
  const cases: Readonly<Record<string, string>> = {
    "signed, of 900 claims": await issuer.token(named),
    "signed, of a long list": await issuer.token({ permissions: Array<string>(3_000).fill("a") }),
    nested: `${header}.${encode("[".repeat(9_000))}.${signature}`,
    "a header of members": `${encode(`{${Array.from({ length: 1_000 }, (_, index) => `"${index}":1`).join()}}`)}.e30.${signature}`,
    "a header of inexact numbers": `${encode(`{"alg":"ES256","x":[${"0.12345678901234567e1,".repeat(400)}1]}`)}.e30.${signature}`,
    "16 KB with a wrong signature": `${header}.${encode("x".repeat(11_000))}.${signature}`,
    "60 KB": `${header}.${"A".repeat(HEADER_BYTES - 1_000)}.${signature}`,
    "full stops": ".".repeat(HEADER_BYTES),
    "equals signs": `a${"=".repeat(HEADER_BYTES)}(`,
  };
  return Object.entries(cases).map(([name, token]) => ({
    name: `token: ${name}`,
    path: "/mine/1",
    headers: [["authorization", `Bearer ${token}`]],
  }));
}

function graphql(): readonly WorstInput[] {
  const fragments = Array.from(
    { length: 60 },
    (_, index) => `fragment f${index} on T { ...f${index + 1} ...f${index + 1} }`,
  );
  const documents: Readonly<Record<string, string>> = {
    "names, as many as are read": `{ a { ${"b ".repeat(990)}} }`,
    "names, 1 MiB": `{ a { ${"b ".repeat(500_000)}} }`,
    levels: `${"{ a ".repeat(300)}${"}".repeat(300)}`,
    aliases: `{ a { ${Array.from({ length: 300 }, (_, index) => `x${index}: b`).join(" ")} } }`,
    "fragments that multiply": `{ a { ...f0 } } ${fragments.join(" ")} fragment f60 on T { b }`,
    "a chain of fragments": `{ a { ...f0 } } ${Array.from({ length: 150 }, (_, index) => `fragment f${index} on T { ...f${index + 1} }`).join(" ")} fragment f150 on T { b }`,
    "inline fragments": `{ a { ${"... on T { ".repeat(190)}b${" }".repeat(190)} } }`,
    arguments: `{ a(${Array.from({ length: 300 }, (_, index) => `x${index}: 1`).join(" ")}) { b } }`,
    "a list as an argument": `{ a(x: [${"1 ".repeat(990)}]) { b } }`,
    "nested lists as an argument": `{ a(x: ${"[".repeat(190)}${"]".repeat(190)}) { b } }`,
    directives: `{ a ${"@d ".repeat(480)} { b } }`,
    "a long comment": `#${"c".repeat(1_000_000)}\n{ a { b } }`,
    "a long string": `{ a(x: "${"s".repeat(1_000_000)}") { b } }`,
    "a long block string": `{ a(x: """${"\n s".repeat(300_000)}""") { b } }`,
    commas: `{ a ${",".repeat(1_000_000)} { b } }`,
    operations: Array.from({ length: 150 }, (_, index) => `query q${index} { a { b } }`).join(" "),
  };
  const posted = (name: string, payload: unknown): WorstInput => ({
    name: `GraphQL: ${name}`,
    method: "POST",
    path: "/graphql",
    headers: [["content-type", "application/json"]],
    body: JSON.stringify(payload),
  });
  const query = "query($x: [Int]) { a(x: $x) { b } }";
  const batch = Array.from({ length: 10 }, () => ({ query: `{ a { ${"b ".repeat(90)}} }` }));
  return [
    ...Object.entries(documents).map(([name, text]) =>
      posted(name, { query: text, ...(name === "operations" && { operationName: "q1" }) }),
    ),
    posted("variables, as many as are read", { query, variables: { x: Array<number>(VALUES - 10).fill(1) } }),
    posted("variables of inexact numbers", { query, variables: { x: ["@"] } }),
    posted("a batch", batch),
    ...Object.entries(manyNames()).map(([name, payload]) => posted(name, payload)),
    {
      name: "GraphQL: in the URL",
      path: `/graphql?query=${encodeURIComponent(`{ a { ${"b ".repeat(990)}} }`)}`,
    },
    multipart(),
  ].map((input) =>
    input.name.endsWith("inexact numbers")
      ? { ...input, body: (input.body ?? "").replace('"@"', "9007199254740993,".repeat(VALUES - 20) + "1") }
      : input,
  );
}

/** Operations that all read the same variable, and as many names as there may be. */
function manyNames(): Readonly<Record<string, object>> {
  const names = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`r\xc3\x89${"r.\xc3\x89".repeat(14)}${index}`, 1]),
    );
  const operations = (count: number) =>
    Array.from(
      { length: count },
      (_, index) => `query q${index}($f: F) { customers(filter: $f) { id } }`,
    ).join(" ");
  const one = (count: number, variables: object) => ({
    query: operations(count),
    operationName: "q0",
    variables,
  });
  const filter = { region: "eu", zone: "a" };
  return {
    "a variable of 9,900 names, 60 operations": one(60, { f: { ...filter, ...names(9_900) } }),
    "a variable of 9,900 names, 200 operations": one(200, { f: { ...filter, ...names(9_900) } }),
    "9,900 variables, 5 operations": one(5, { f: filter, ...names(9_900) }),
    "9,900 variables, 200 operations": one(200, { f: filter, ...names(9_900) }),
  };
}

/** Boundaries as many as the body has room for. */
function multipart(): WorstInput {
  return {
    name: "GraphQL: multipart of boundaries",
    method: "POST",
    path: "/graphql",
    headers: [["content-type", "multipart/form-data; boundary=x"]],
    body: "--x".repeat(BODY_BYTES / 3),
  };
}

function list(item: string, length: number): string {
  return `[${Array<string>(Math.floor(length)).fill(item).join()}]`;
}

function members(name: (index: number) => string, length: number): string {
  const text = Array.from({ length }, (_, index) => `"${name(index)}":1`).join();
  return `{${text}}`.length <= BODY_BYTES
    ? `{${text}}`
    : `{${text.slice(0, text.lastIndexOf(",", BODY_BYTES - 2))}}`;
}
