import assert from "node:assert/strict";
import fc from "fast-check";
import { maskDocument } from "../../../src/policy/mask/index.ts";
import { runs } from "../../support/runs.ts";
import type { LuaRunner } from "../../support/lua.ts";
import {
  clientEvents,
  FIELDS,
  isStrictStream,
  startStreams,
  type Streamed,
  type StreamRequest,
} from "./events-support.ts";

function masked(document: string): string | undefined {
  const result = maskDocument(document, { fields: FIELDS }, {});
  return result.ok ? result.text : undefined;
}

/** Blank lines are not evaluated. */
const isBlank = (text: string) => /^[ \t\r\n]*$/.test(text);

describe("streams of documents in Lua", () => {
  let runner: LuaRunner;
  let stream: (requests: readonly StreamRequest[]) => Promise<Streamed[]>;
  before(async () => {
    ({ runner, stream } = await startStreams());
  });
  after(() => runner.close());

  const one = async (
    kind: "lines" | "sse",
    chunks: readonly (string | Buffer)[],
    rest: Partial<StreamRequest> = {},
  ) => (await stream([{ kind, chunks, ...rest }]))[0]!;
  /** The output of a stream in one chunk, and that byte by byte. */
  const both = async (kind: "lines" | "sse", text: string | Buffer) => {
    const bytes = Buffer.from(text);
    const results = await stream([
      { kind, chunks: [bytes] },
      { kind, chunks: [...Array.from(bytes, (byte) => Buffer.of(byte)), ""] },
    ]);
    const [whole, split] = results.map(({ dropped, refused, outputs }) => ({
      output: outputs.join(""),
      dropped,
      ...(refused !== undefined && { refused }),
    }));
    assert.deepEqual(split, whole);
    return whole!;
  };

  describe("lines", () => {
    it("are masked one by one", async () => {
      assert.deepEqual(await both("lines", '{"secret":1}\n{"a":[{"secret":2}]}\r\n 7 \n'), {
        output: '{"secret":"***"}\n{"a":[{"secret":"***"}]}\r\n 7 \n',
        dropped: 0,
      });
    });

    it("are dropped where they are no JSON, and the others pass", async () => {
      const text =
        '{"secret":1}\nsecret: 2\n{"secret":3\n\ufeff{"secret":4}\n{"secret":5}\r{"secret":6}\n{"a":7}\n';
      assert.deepEqual(await both("lines", text), { output: '{"secret":"***"}\n{"a":7}\n', dropped: 4 });
      const others = [
        '\x1e{"secret":1}', // RFC 7464
        "# 123-45-6789",
        "// 123-45-6789",
        '{"a":1}{"secret":2}',
        '{"a":1},',
        "[",
        "data: 1",
        '{"a":1}\0',
        '{"a":1}\x0b',
        "\u2028",
        "\xa0",
        "'123'",
        "NaN",
      ];
      for (const other of others) {
        const output = await both("lines", `1\n${other}\n2\n${other}`);
        assert.deepEqual(output, { output: "1\n2\n", dropped: 2 }, other);
      }
    });

    it("pass where they are blank", async () => {
      assert.deepEqual(await both("lines", "\n\r\n \t\n1\n\n"), { output: "\n\r\n \t\n1\n\n", dropped: 0 });
    });

    it("count without a line feed at the end of the stream, and only there", async () => {
      assert.deepEqual(await both("lines", '1\n{"secret":2}'), { output: '1\n{"secret":"***"}', dropped: 0 });
      assert.deepEqual(await both("lines", '1\n{"secret":'), { output: "1\n", dropped: 1 });
      assert.deepEqual((await one("lines", ['1\n{"secret":2}'], { open: true })).outputs, ["1\n"]);
    });

    it("leave as soon as they are complete", async () => {
      assert.deepEqual((await one("lines", ['{"secret"', ":1", "}", "\n2", "\n", "3"])).outputs, [
        "",
        "",
        "",
        '{"secret":"***"}\n',
        "2\n",
        "3",
      ]);
    });
  });

  describe("events", () => {
    const NOTHING: readonly (readonly [what: string, event: string])[] = [
      ["data that are no JSON", "id: 1\ndata: [DONE]"],
      ["data that are two documents", 'event: x\ndata: {"secret":2}\ndata: {"secret":3}'],
      ["another field", 'data: {"a":1}\nx-other: 123-45-6789'],
      ["a line of text", "ssn:123-45-6789"],
      ["a line without a colon", "123-45-6789"],
      ["a whole document", '{"secret":1}'],
      ["a document on several lines", '{\n"secret": 1\n}'],
      ["a name in capitals", 'Data: {"secret":1}'],
      ["an event name in capitals", "EVENT: x\ndata: 1"],
      ["a blank behind the name", 'data : {"secret":1}'],
      ["a blank before the name", ' data: {"secret":1}'],
      ["a tab before the name", '\tdata: {"secret":1}'],
      ["a longer name", 'xdata: {"secret":1}'],
      ["a byte order mark behind the beginning", '\ufeffdata: {"secret":1}'],
      ["NUL before the name", '\0data: {"secret":1}'],
      ["NUL in the data", 'data: {"secret":1}\0'],
      ["NUL in the id", "id: 1\0\ndata: 1"],
      ["other separators of lines", 'data: 1\u2028data: {"secret":1}'],
      ["an id with blanks", "id: Jane Doe\ndata: 1"],
      ["an id that is a document", 'id: {"secret":1}\ndata: 1'],
      ["an id that is an address", "id: jane@example.com\ndata: 1"],
      ["an id with letters of another alphabet", "id: Zoë\ndata: 1"],
      ["a long id", `id: ${"x".repeat(65)}\ndata: 1`],
      ["a long event name", `event: ${"x".repeat(65)}\ndata: 1`],
      ["two ids", "id: 1\nid: 2\ndata: 1"],
      ["two event names", "event: a\ndata: 1\nevent: a"],
      ["two delays", "retry: 1\nretry: 2"],
      ["a delay that is no number", "retry: 123-45-6789"],
      ["a long delay", "retry: 1234567890"],
      ["no delay", "retry\ndata: 1"],
      ["no name", " :x\ndata: 1"],
    ];
    for (const [what, event] of NOTHING) {
      it(`are dropped whole, and the stream lives on: ${what}`, async () => {
        for (const end of ["\n", "\r", "\r\n"]) {
          const text = `data: 1\n\n${event}\n\ndata: {"secret":4}\n\n`.replaceAll("\n", end);
          assert.deepEqual(await both("sse", text), {
            output: 'data: 1\n\ndata: {"secret":"***"}\n\n',
            dropped: 1,
          });
        }
        assert.equal((await both("sse", `data: 1\n\n${event}`)).output, "data: 1\n\n");
      });
    }

    it("have their data masked, and keep name, id and delay", async () => {
      const text =
        'event: change\nid: 7\ndata: {"secret":1}\nretry: 10\n\ndata:{"secret":2}\nid:a_b-c.D9:/+=\nevent\n\n';
      assert.deepEqual(await both("sse", text), {
        output:
          'event: change\nid: 7\nretry: 10\ndata: {"secret":"***"}\n\nid: a_b-c.D9:/+=\nevent: \ndata: {"secret":"***"}\n\n',
        dropped: 0,
      });
    });

    it("are printed in one way, also where nothing is masked", async () => {
      const text = 'data:{"a":1}\n\ndata: {"a":\rdata:2}\r\n\r\nid\ndata:  [\ndata\ndata: ]\n\n';
      assert.deepEqual(await both("sse", text), {
        output: 'data: {"a":1}\n\ndata: {"a":\ndata: 2}\n\nid: \ndata:  [\ndata: \ndata: ]\n\n',
        dropped: 0,
      });
    });

    it("end their lines with CR, LF or CRLF", async () => {
      for (const end of ["\n", "\r", "\r\n"]) {
        assert.deepEqual(
          await both("sse", `event: a${end}data: {"secret":1}${end}${end}data: 2${end}${end}`),
          { output: 'event: a\ndata: {"secret":"***"}\n\ndata: 2\n\n', dropped: 0 },
        );
      }
      assert.deepEqual(await both("sse", 'data: {"secret":\r\ndata:1}\rid:1\n\rdata: 2\n\r\n'), {
        output: 'id: 1\ndata: {"secret":\ndata: "***"}\n\ndata: 2\n\n',
        dropped: 0,
      });
    });

    it("join their data by line feeds, and have them on as many lines or fewer", async () => {
      const text =
        'data: {\nid: 1\ndata:   "secret": [\ndata: 1, 2],\ndata:   "a": 3,\ndata:   "gone":\ndata: 4\ndata: }\n\n';
      const expected = 'id: 1\ndata: {\ndata:   "secret": "***",\ndata:   "a": 3\ndata: }\n\n';
      assert.deepEqual(await both("sse", text), { output: expected, dropped: 0 });
    });

    it("lose their comments, and pass without them", async () => {
      const text = ': 123-45-6789\ndata: {"secret":1}\n: {"secret":2}\nid: 1\n:\n\n:data: 3\n\n';
      assert.deepEqual(await both("sse", text), {
        output: '\nid: 1\ndata: {"secret":"***"}\n\n\n\n',
        dropped: 0,
      });
    });

    it("pass without data: fields alone, and blank lines for comments, which keep the connection alive", async () => {
      const text =
        "\n: ping\n\n:\r\n\r\nevent: x\n\nid: 1\n\nretry: 5\n\ndata\n\ndata:\n\ndata: \ndata:\t\n\n";
      assert.deepEqual(await both("sse", text), {
        output: "\n\n\n\n\nevent: x\n\nid: 1\n\nretry: 5\n\ndata: \n\ndata: \n\ndata: \ndata: \t\n\n",
        dropped: 0,
      });
    });

    it("may have a byte order mark before them, which goes", async () => {
      const first = 'data: {"secret":"***"}\n\n';
      assert.deepEqual(await both("sse", '\ufeffdata: {"secret":1}\n\ndata: 2\n\n'), {
        output: `${first}data: 2\n\n`,
        dropped: 0,
      });
      const pieces = [Buffer.of(0xef), Buffer.of(0xbb), Buffer.of(0xbf), 'data: {"secret":1}\n\n'];
      assert.deepEqual((await one("sse", pieces)).outputs, ["", "", "", first]);
      assert.deepEqual(await both("sse", "\ufeff\ufeffdata: 1\n\n"), { output: "", dropped: 1 });
      assert.deepEqual(await both("sse", "\ufeff: 1\n"), { output: "\n", dropped: 0 });
    });

    it("leave as soon as they are complete; blank lines between them at once", async () => {
      const chunks = [": ping\n", "\n", "data: 1\n", "\r", "\n", ": a\r", "\ndata: 2\r", "\r", "\n:b\n"];
      assert.deepEqual((await one("sse", chunks)).outputs, [
        "\n",
        "\n",
        "",
        "data: 1\n\n",
        "",
        "\n",
        "",
        "data: 2\n\n",
        "\n",
      ]);
    });

    it("are none where the stream ends before their blank line", async () => {
      assert.deepEqual(await both("sse", 'data: 1\n\nid: 2\ndata: {"secret":1}\n'), {
        output: "data: 1\n\n",
        dropped: 1,
      });
      assert.deepEqual(await both("sse", 'data: {"secret":1}'), { output: "", dropped: 1 });
      assert.deepEqual(await both("sse", ": pin"), { output: "", dropped: 0 });
    });
  });

  it("end where a line or an event is too large, however it comes, and stay ended", async () => {
    const exactly = `${"1".repeat(100)}\n`;
    const results = await stream([
      { kind: "lines", limit: 100, chunks: [exactly, exactly] },
      { kind: "lines", limit: 99, chunks: ["1\n", exactly, "1\n"] },
      { kind: "lines", limit: 99, chunks: ["1".repeat(99), "1", "\n1\n"] },
      { kind: "sse", limit: 107, chunks: [`data: ${exactly}\n`, "data: 1\n\n"] },
      { kind: "sse", limit: 105, chunks: ["data: 1\n\n", `data: ${exactly}\n`, "data: 1\n\n"] },
      { kind: "sse", limit: 99, chunks: [...Array.from({ length: 34 }, () => "id\n"), "\n"] },
      { kind: "sse", limit: 10, chunks: Array.from({ length: 50 }, () => ": ping\n\n") },
    ]);
    const refused = "too_large";
    assert.deepEqual(results, [
      { outputs: [exactly, exactly], dropped: 0 },
      { outputs: ["1\n", "", ""], dropped: 0, refused },
      { outputs: ["", "", ""], dropped: 0, refused },
      { outputs: [`data: ${exactly}\n`, "data: 1\n\n"], dropped: 0 },
      { outputs: ["data: 1\n\n", "", ""], dropped: 0, refused },
      { outputs: Array.from({ length: 35 }, () => ""), dropped: 0, refused },
      { outputs: Array.from({ length: 50 }, () => "\n\n"), dropped: 0 },
    ]);
  });

  const piece = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        'data: {"secret":1}\n\n',
        'id: 2\rdata:{"secret":\rdata:"é"}\r\r',
        "data: no\r\nevent: x\r\n\r\n",
        '{"secret":1}\n',
      ),
    },
    { weight: 3, arbitrary: fc.constantFrom("\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n") },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        ...["data: ", "data:", "\ndata:", "data", "id: 1", "event: x", ": c", "\nid:"],
        ...["\nid: 1\n", "\nretry: 5\n", "\nevent: x\n", "Data:", "\nid: a b\n", "\nssn:1\n"],
      ),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '{"secret":1}',
        '{"a":\ndata: 2,"gone":1}',
        "[",
        "]",
        "1",
        '{"secret":',
        '"é"}',
      ),
    },
    fc.constantFrom(" ", "\t", ":", "\ufeff", "[DONE]", '"', "{", "}", ","),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
  const cuts = fc.array(fc.nat(60), { maxLength: 12 });
  const chunksOf = (whole: string, places: readonly number[]) => {
    const bytes = Buffer.from(whole);
    const at = [0, ...[...places].sort((a, b) => a - b), bytes.length];
    return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
  };

  it("are the same for a client, however they are cut into chunks", async () => {
    let events = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ text, cuts }), { minLength: 30, maxLength: 60 }), async (all) => {
        const results = await stream(
          all.flatMap((each): StreamRequest[] => [
            { kind: "sse", chunks: [each.text] },
            { kind: "sse", chunks: chunksOf(each.text, each.cuts) },
          ]),
        );
        for (const [index, each] of all.entries()) {
          const [whole, split] = results.slice(2 * index, 2 * index + 2);
          const output = whole!.outputs.join("");
          assert.equal(split!.outputs.join(""), output);
          assert.equal(split!.dropped, whole!.dropped);
          const expected = clientEvents(each.text, (data) => (isBlank(data) ? data : masked(data)));
          assert.deepEqual(clientEvents(output), expected, JSON.stringify(each.text));
          assert.ok(isStrictStream(output), JSON.stringify([each.text, output]));
          events += expected.filter(({ data }) => data.includes("***")).length;
        }
      }),
      { numRuns: runs(25) },
    );
    assert.ok(events > 50, `${events} events were masked`);
  });

  it("are lines whose meaning is the same, however they are cut into chunks", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ text, cuts }), { minLength: 30, maxLength: 60 }), async (all) => {
        const results = await stream(
          all.map((each) => ({ kind: "lines", chunks: chunksOf(each.text, each.cuts) })),
        );
        for (const [index, each] of all.entries()) {
          const lines = each.text.split("\n");
          const last = lines.pop()!;
          const kept = (line: string, end: string) => {
            const evaluated = isBlank(line) ? line : masked(line);
            return evaluated === undefined ? "" : evaluated + end;
          };
          const expected = lines.map((line) => kept(line, "\n")).join("") + kept(last, "");
          assert.equal(results[index]!.outputs.join(""), expected);
        }
      }),
      { numRuns: runs(25) },
    );
  });
});
