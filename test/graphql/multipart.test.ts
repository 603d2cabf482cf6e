import assert from "node:assert/strict";
import { UNAVAILABLE } from "../../src/policy/index.ts";
import { outcomeOf, readSent } from "./support/requests.ts";

const MALFORMED = "GRAPHQL_MALFORMED";
const TYPE = "multipart/form-data; boundary=b";

type Headers = readonly string[];
const field = (name: string, content: string, more: Headers = []): string =>
  [`Content-Disposition: form-data; name="${name}"`, ...more, "", content].join("\r\n");
const file = (name: string, content = "bytes\r\n\0\xff", filename = "a.txt"): string =>
  [
    `Content-Disposition: form-data; name="${name}"; filename="${filename}"`,
    "Content-Type: text/plain",
    "",
    content,
  ].join("\r\n");
const form = (...parts: readonly string[]): string =>
  `${parts.map((part) => `--b\r\n${part}\r\n`).join("")}--b--\r\n`;

const OPERATIONS = '{"query":"mutation ($f: Upload) { save(file: $f) }","variables":{"f":null}}';
const operations = field("operations", OPERATIONS);
const map = field("map", '{"0":["variables.f"]}');
const GOOD = form(operations, map, file("0"));

const read = (body: string, type = TYPE, multipart: "allow" | "deny" = "allow") =>
  outcomeOf(readSent({ type, body, multipart }));

function accepted(body: string, type = TYPE) {
  const payloads = read(body, type);
  assert.ok(typeof payloads !== "string", body);
  return payloads;
}

describe("GraphQL over HTTP: multipart", () => {
  it("is refused unless it is allowed", () => {
    assert.equal(read(GOOD, TYPE, "deny"), MALFORMED);
    const [payload] = accepted(GOOD);
    assert.equal(payload?.query, "mutation ($f: Upload) { save(file: $f) }");
    assert.equal(payload.variables["f"], UNAVAILABLE);
  });

  it("puts files where the map says", () => {
    const lists = '{"query":"{ a }","variables":{"f":[{"x":null},null],"g":null}}';
    const paths = '{"a":["variables.f.0.x","variables.f.1"],"b":["variables.g"]}';
    const [payload] = accepted(form(field("operations", lists), field("map", paths), file("b"), file("a")));
    assert.deepEqual(payload?.variables["f"], [
      Object.assign(Object.create(null), { x: UNAVAILABLE }),
      UNAVAILABLE,
    ]);
    assert.equal(payload.variables["g"], UNAVAILABLE);
  });

  it("takes batches", () => {
    const batch = `[{"query":"{ a }"},${OPERATIONS}]`;
    const payloads = accepted(
      form(field("operations", batch), field("map", '{"0":["1.variables.f"]}'), file("0")),
    );
    assert.equal(payloads[1]?.variables["f"], UNAVAILABLE);
  });

  it("takes a form without files, types of JSON parts, no CRLF at the end, a boundary in quotes", () => {
    const json = ["Content-Type: application/json"];
    accepted(form(field("operations", OPERATIONS, json), field("map", "{}", json)));
    accepted(
      form(
        field("operations", OPERATIONS, ["content-type: application/json; charset=utf-8"]),
        map,
        file("0"),
      ),
    );
    accepted(GOOD.slice(0, -2));
    accepted(GOOD.replaceAll("--b", "--b:c"), 'multipart/form-data; boundary="b:c"');
    accepted(form(operations, map, file("0", "")));
  });

  it("refuses other content types than a boundary alone", () => {
    const types = [
      "multipart/form-data",
      "multipart/form-data;",
      "multipart/form-data; boundary=",
      "multipart/form-data; boundary=b; boundary=b",
      "multipart/form-data; boundary=b; charset=utf-8",
      "multipart/form-data; charset=utf-8; boundary=b",
      'multipart/form-data; boundary="b',
      'multipart/form-data; boundary="b c"',
      "multipart/form-data; boundary=b c",
      `multipart/form-data; boundary=${"b".repeat(71)}`,
      "multipart/mixed; boundary=b",
      "multipart/form-data, boundary=b",
    ];
    for (const type of types) assert.equal(read(GOOD, type), MALFORMED, type);
  });

  it("refuses every other framing", () => {
    const bodies: Readonly<Record<string, string>> = {
      nothing: "",
      "a preamble": `x\r\n${GOOD}`,
      "a line break before": `\r\n${GOOD}`,
      "an epilogue": `${GOOD}x`,
      "two line breaks after": `${GOOD}\r\n`,
      "no end": GOOD.slice(0, -6),
      "an end without parts": "--b--\r\n",
      "line feeds alone": GOOD.replaceAll("\r\n", "\n"),
      "a line feed before a boundary": GOOD.replace("\r\n--b--", "\n--b--"),
      "blanks after a boundary": GOOD.replace("--b\r\n", "--b \r\n"),
      "a longer boundary": GOOD.replace("bytes", "--bc"),
      "a boundary in a file": form(operations, map, file("0", `x\n--b\r\n${operations}`)),
      "an end in a file": form(operations, map, file("0", "x\r\n--b--\r\ny")),
      "no empty line": GOOD.replace("\r\n\r\n", "\r\n"),
      "no headers": form(operations, map, "\r\nx"),
      "a part that is nothing": form(operations, map, ""),
    };
    for (const [name, body] of Object.entries(bodies)) assert.equal(read(body), MALFORMED, name);
  });

  it("refuses other headers in a part", () => {
    const headers: Headers[] = [
      ["Content-Transfer-Encoding: base64"],
      ["Content-Type: application/json", "Content-Type: application/json"],
      ['Content-Disposition: form-data; name="map"'],
      ["X: y"],
      [" folded"],
      ["Content-Type : application/json"],
      ["Content-Type: text/html"],
      ["Content-Type: application/json\x01"],
    ];
    for (const more of headers) {
      assert.equal(read(form(field("operations", OPERATIONS, more), map, file("0"))), MALFORMED, more[0]);
    }
  });

  it("refuses other ways to name a part", () => {
    const dispositions = [
      "form-data",
      "form-data; name=operations",
      "form-data; name='operations'",
      'form-data; name="operations"; name="x"',
      'form-data; name="operations"; filename="x"',
      `form-data; name="operations"; filename*=utf-8''x`,
      'form-data; name="operation\\s"',
      'form-data; name*="operations"',
      'attachment; name="operations"',
      'form-data; name=""',
    ];
    for (const disposition of dispositions) {
      const part = `Content-Disposition: ${disposition}\r\n\r\n${OPERATIONS}`;
      assert.equal(read(form(part, map, file("0"))), MALFORMED, disposition);
    }
  });

  it("refuses parts in another order, and other parts", () => {
    const forms: Readonly<Record<string, readonly string[]>> = {
      "map first": [map, operations, file("0")],
      "a file first": [file("0"), operations, map],
      "no map": [operations, file("0")],
      "operations alone": [operations],
      "operations twice": [operations, operations, map, file("0")],
      "operations at the end, too": [operations, map, file("0"), operations],
      "operations as a file, too": [operations, map, file("0"), file("operations")],
      ...Object.fromEntries(
        ["operations", "map", "Operations"].flatMap((name) => {
          const mapped = field("map", `{"${name}":["variables.f"]}`);
          return ["", "a.txt"].map((filename) => [
            `a file of the map called ${name} (${filename})`,
            [operations, mapped, file(name, OPERATIONS, filename)],
          ]);
        }),
      ),
      "operations with an empty file name": [file("operations", OPERATIONS, ""), map, file("0")],
      "an empty file name": [operations, map, file("0", "x", "")],
      "map twice": [operations, map, map, file("0")],
      "a file that is not in the map": [operations, map, file("0"), file("1")],
      "a file twice": [operations, map, file("0"), file("0")],
      "a file twice in place of another": [
        operations,
        field("map", '{"0":["variables.f"],"1":[]}'),
        file("0"),
        file("0"),
      ],
      "no file": [operations, map],
      "a file without a name": [operations, map, field("0", "x")],
      query: [operations, map, file("0"), field("query", "{ a }")],
      "more than a hundred": [
        operations,
        map,
        ...Array.from({ length: 100 }, (_, index) => file(`${index}`)),
      ],
    };
    for (const [name, parts] of Object.entries(forms)) assert.equal(read(form(...parts)), MALFORMED, name);
  });

  it("refuses maps that lead elsewhere than to a null in the variables", () => {
    const maps = [
      "[]",
      "null",
      '"0"',
      '{"0":"variables.f"}',
      '{"0":null}',
      '{"0":[5]}',
      '{"0":["variables"]}',
      '{"0":["variables."]}',
      '{"0":["query"]}',
      '{"0":["operationName"]}',
      '{"0":["extensions.f"]}',
      '{"0":["variables.f.g"]}',
      '{"0":["variables.g"]}',
      '{"0":["variables.toString"]}',
      '{"0":["variables.__proto__.f"]}',
      '{"0":["variables[f]"]}',
      '{"0":["variables.[f]"]}',
      '{"0":["0.variables.f"]}',
      '{"0":["variables.f","variables.f"]}',
      '{"0":["variables.f"],"0":["variables.f"]}',
      '{"0":["variables.list.00"]}',
      '{"0":["variables.list.length"]}',
      '{"0":["variables.list.1"]}',
      '{"0":["variables.text"]}',
    ];
    const all = field(
      "operations",
      '{"query":"{ a }","variables":{"f":null,"list":[null],"text":"x"},"extensions":{"f":null}}',
    );
    accepted(form(all, field("map", '{"0":["variables.list.0"]}'), file("0")));
    for (const text of maps) assert.equal(read(form(all, field("map", text), file("0"))), MALFORMED, text);
  });

  it("refuses JSON that is read in several ways, and operations that are", () => {
    const bad = [
      '{"query":"{ a }","query":"{ a }"}',
      "{}",
      "[]",
      '{"query":"{ a }","id":"x"}',
      '{"query":"\xff"}',
      "",
    ];
    for (const text of bad)
      assert.equal(read(form(field("operations", text), field("map", "{}"))), MALFORMED, text);
  });

  it("refuses a body that is not whole", () => {
    const sent = { type: TYPE, body: GOOD, multipart: "allow" } as const;
    assert.equal(outcomeOf(readSent({ ...sent, complete: false })), MALFORMED);
    assert.equal(outcomeOf(readSent({ ...sent, headers: [["content-encoding", "gzip"]] })), MALFORMED);
  });
});
