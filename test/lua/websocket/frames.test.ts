import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import type { LuaRunner } from "../../support/lua.ts";
import { bytewise, startReaders, type LuaReaders } from "./frames-support.ts";
import { closing, said, saidClose, startCases, wire, wsReading, type LuaCases } from "./support.ts";

const KEY = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);
const hex = (digits: string) => Buffer.from(digits.replaceAll(" ", ""), "hex");
const client = (opcode: number, payload: Buffer | string, more: Partial<Parameters<typeof wire>[0]> = {}) =>
  wire({ opcode, payload, key: KEY, ...more });
const server = (opcode: number, payload: Buffer | string, more: Partial<Parameters<typeof wire>[0]> = {}) =>
  wire({ opcode, payload, ...more });

const BEFORE = client(1, "before");
const START = client(1, "start", { fin: false });
const LIMIT = 100_000;

/** What a client sends, and the code that it gets for it. */
const BROKEN: readonly (readonly [name: string, bytes: Buffer, code: number])[] = [
  ["RSV1", client(1, "x", { reserved: 4 }), 1002],
  ["RSV2", client(1, "x", { reserved: 2 }), 1002],
  ["RSV3", client(1, "x", { reserved: 1 }), 1002],
  ["RSV1 in a control frame", client(9, "x", { reserved: 4 }), 1002],
  ["RSV1 in a continuation", Buffer.concat([START, client(0, "x", { reserved: 4 })]), 1002],
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map(
    (opcode) => [`opcode ${opcode}`, client(opcode, "x"), 1002] as const,
  ),
  ["a frame that is not masked", server(1, "x"), 1002],
  ["an empty frame that is not masked", server(1, ""), 1002],
  ["a ping that is not masked", server(9, ""), 1002],
  ["a continuation without a start", client(0, "x"), 1002],
  ["a continuation after the end", Buffer.concat([START, client(0, "x"), client(0, "x")]), 1002],
  ["a text within a message", Buffer.concat([START, client(1, "x")]), 1002],
  ["a binary within a message", Buffer.concat([START, client(2, "x")]), 1002],
  ["a text within an empty start", Buffer.concat([client(1, "", { fin: false }), client(1, "x")]), 1002],
  ["a fragmented ping", client(9, "x", { fin: false }), 1002],
  ["a fragmented pong", client(10, "x", { fin: false }), 1002],
  ["a fragmented close", client(8, closing(1000), { fin: false }), 1002],
  ["a ping of 126 bytes", client(9, Buffer.alloc(126)), 1002],
  ["a ping that declares 2^16 bytes", client(9, "", { declared: 65_536n }).subarray(0, 2), 1002],
  ["a close of 126 bytes", client(8, closing(1000, "x".repeat(124))), 1002],
  ["2 bytes for the length 125", client(1, Buffer.alloc(125), { lengthBytes: 2 }), 1002],
  ["2 bytes for the length 0", client(1, "", { lengthBytes: 2 }), 1002],
  ["8 bytes for the length 65535", client(1, Buffer.alloc(65_535, 32), { lengthBytes: 8 }), 1002],
  ["8 bytes for the length 5", client(1, "hello", { lengthBytes: 8 }), 1002],
  ["a length of 2^63", client(1, "", { declared: 1n << 63n }), 1002],
  ["a length of 2^64 - 1", client(1, "", { declared: (1n << 64n) - 1n }), 1002],
  ["a close of one byte", client(8, "x"), 1002],
  ...[0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1999, 2000, 2999, 5000, 65_535].map(
    (code) => [`the close code ${code}`, client(8, closing(code)), 1002] as const,
  ),
  ["a close reason that is not UTF-8", client(8, closing(1000, hex("ff"))), 1007],
  ["a close reason that is cut in a character", client(8, closing(1000, hex("e282"))), 1007],
  ["a text that is not UTF-8", client(1, hex("ceba e1bdb9 cf83 cebc ceb5 eda080")), 1007],
  [
    "a text that is not UTF-8 in its second part",
    Buffer.concat([START, client(9, "x"), client(0, hex("f4908080"))]),
    1007,
  ],
  [
    "a text that ends within a character",
    Buffer.concat([client(1, hex("e2"), { fin: false }), client(0, hex("82"))]),
    1007,
  ],
  [
    "a message that is declared too big",
    client(1, "", { declared: BigInt(LIMIT) + 1n }).subarray(0, 10),
    1009,
  ],
  ["a message of 2^62 bytes", client(2, "", { declared: 1n << 62n }).subarray(0, 10), 1009],
  [
    "parts that are too big together",
    Buffer.concat([
      client(1, Buffer.alloc(LIMIT, 32), { fin: false }),
      client(0, "", { fin: false }),
      client(0, "x").subarray(0, 2),
    ]),
    1009,
  ],
];

/** What is only found where messages are collected. */
const OF_TEXTS = new Set(BROKEN.filter(([name]) => name.startsWith("a text that")).map(([name]) => name));

/** RFC 6455, section 5.7, and the edges of what is allowed. */
const SOUND: readonly (readonly [name: string, masked: boolean, bytes: Buffer, events: readonly string[]])[] =
  [
    ["an unmasked text", false, hex("81 05 48 65 6c 6c 6f"), [said("text", "Hello")]],
    ["a masked text", true, hex("81 85 37 fa 21 3d 7f 9f 4d 51 58"), [said("text", "Hello")]],
    ["a fragmented text", false, hex("01 03 48 65 6c 80 02 6c 6f"), [said("text", "Hello")]],
    ["an unmasked ping", false, hex("89 05 48 65 6c 6c 6f"), [said("ping", "Hello")]],
    ["a masked pong", true, hex("8a 85 37 fa 21 3d 7f 9f 4d 51 58"), [said("pong", "Hello")]],
    [
      "256 bytes",
      false,
      Buffer.concat([hex("82 7e 01 00"), Buffer.alloc(256, 7)]),
      [said("binary", Buffer.alloc(256, 7))],
    ],
    [
      "64 KB",
      false,
      Buffer.concat([hex("82 7f 00 00 00 00 00 01 00 00"), Buffer.alloc(65_536, 7)]),
      [said("binary", Buffer.alloc(65_536, 7))],
    ],
    ["an empty text", true, client(1, ""), [said("text", "")]],
    ["an empty binary", true, client(2, ""), [said("binary", "")]],
    [
      "nothing but empty parts",
      true,
      Buffer.concat([client(1, "", { fin: false }), client(0, "")]),
      [said("text", "")],
    ],
    [
      "as much as is allowed",
      true,
      client(1, Buffer.alloc(LIMIT, 32)),
      [said("text", Buffer.alloc(LIMIT, 32))],
    ],
    [
      "twice as much as is allowed for one",
      true,
      Buffer.concat([client(2, Buffer.alloc(LIMIT)), client(2, Buffer.alloc(LIMIT))]),
      [said("binary", Buffer.alloc(LIMIT)), said("binary", Buffer.alloc(LIMIT))],
    ],
    [
      "a character over two parts, and a ping between",
      true,
      Buffer.concat([client(1, hex("e282"), { fin: false }), client(9, "p"), client(0, hex("ac"))]),
      [said("ping", "p"), said("text", "€")],
    ],
    ["a binary that is not UTF-8", true, client(2, hex("ff")), [said("binary", hex("ff"))]],
    ["a ping of 125 bytes", true, client(9, Buffer.alloc(125, 1)), [said("ping", Buffer.alloc(125, 1))]],
    ["a close without a code", true, client(8, ""), [saidClose()]],
    [
      "a close with a reason",
      true,
      client(8, closing(4999, "x".repeat(123))),
      [saidClose(4999, "x".repeat(123))],
    ],
    [
      "what follows a close",
      true,
      Buffer.concat([client(8, closing(1000)), client(1, "x"), hex("ff")]),
      [saidClose(1000)],
    ],
    ...[1000, 1003, 1007, 1014, 3000].map(
      (code) => [`the close code ${code}`, true, client(8, closing(code)), [saidClose(code)]] as const,
    ),
  ];

describe("frames.lua", () => {
  let runner: LuaRunner;
  let read: LuaReaders;
  before(async () => {
    ({ runner, read } = await startReaders());
  });
  after(() => runner.close());

  for (const [name, bytes, code] of BROKEN) {
    it(`refuses ${name}`, async () => {
      // a break takes nothing back: what came whole before it was said already
      const whole = Buffer.concat([BEFORE, bytes, client(1, "after")]);
      const common = { masked: true, limit: LIMIT };
      const [atOnce, byBytes] = await read([
        { ...common, chunks: [whole] },
        { ...common, chunks: bytewise(whole) },
      ]);
      assert.equal(atOnce!.broken, code);
      assert.equal(atOnce!.events[0], said("text", "before"));
      assert.ok(!atOnce!.events.includes(said("text", "after")));
      assert.deepEqual(byBytes, atOnce);
      if (OF_TEXTS.has(name)) return;
      const [passing] = await read([{ ...common, collect: false, chunks: [whole] }]);
      assert.equal(passing!.broken, code);
    });
  }

  for (const [name, masked, bytes, events] of SOUND) {
    it(`reads ${name}`, async () => {
      const readings = await read([
        { masked, limit: LIMIT, chunks: [bytes] },
        {
          masked,
          limit: LIMIT,
          chunks: bytewise(bytes.length > 1000 ? bytes.subarray(0, 1000) : bytes).concat(
            bytes.subarray(1000),
          ),
        },
      ]);
      for (const reading of readings) assert.deepEqual(reading, { events });
    });
  }

  it("refuses frames of a server that are masked", async () => {
    const cases = [client(1, "x"), client(9, ""), client(8, "")].map((bytes) => ({
      masked: false,
      chunks: [bytes],
    }));
    assert.deepEqual(
      await read(cases),
      cases.map(() => ({ events: [], broken: 1002 })),
    );
  });

  it("refuses by the declared length, before the bytes come", async () => {
    const head = client(1, "", { declared: 1_001n }).subarray(0, 4);
    const [before, declared] = await read([
      { masked: true, limit: 1_000, chunks: [head.subarray(0, 3)] },
      { masked: true, limit: 1_000, chunks: [head] },
    ]);
    assert.deepEqual(before, { events: [] });
    assert.deepEqual(declared, { events: [], broken: 1009 });
  });

  it("without a limit takes only empty messages", async () => {
    const chunks = [client(1, ""), client(1, "x")];
    const readings = await read(
      ["nil", "nan", "-1", "0"].map((limit) => ({ masked: true, limit: limit as unknown as number, chunks })),
    );
    for (const reading of readings) assert.deepEqual(reading, { events: [said("text", "")], broken: 1009 });
  });
});

describe("frames.lua's writers", () => {
  let runner: LuaRunner;
  let cases: LuaCases;
  before(async () => {
    ({ runner, cases } = await startCases(`
local frames = require("gatehouse.frames")
function one(items)
  local kind, first, second, key = items[1], items[2], items[3], items[4]
  if key == "" then key = nil end
  if kind == "utf8" then return { tostring(frames.is_utf8(first)) } end
  if kind == "close" then return { frames.close(tonumber(first), second, key) } end
  return { frames[kind](first, key) }
end`));
  });
  after(() => runner.close());

  for (const [masked, key] of [
    [false, ""],
    [true, KEY],
  ] as const) {
    it(`write what ws reads, ${masked ? "to the server" : "to the client"}`, async () => {
      const sizes = [0, 1, 2, 3, 4, 5, 125, 126, 127, 65_535, 65_536, 70_001];
      const payloads = sizes.map((size) =>
        Buffer.from(Array.from({ length: size }, (_, index) => index % 128)),
      );
      const small = payloads.filter(({ length }) => length <= 125);
      const calls = [
        ...payloads.map((payload) => ["text", payload] as const),
        ...payloads.map((payload) => ["binary", payload] as const),
        ...small.flatMap((payload) => [["ping", payload] as const, ["pong", payload] as const]),
      ];
      const written = (await cases(calls.map((call) => [...call, "", key]))).map(([frame]) => frame!);
      const opcodes = { text: 1, binary: 2, ping: 9, pong: 10 };
      assert.deepEqual(
        written,
        calls.map(([kind, payload]) => wire({ opcode: opcodes[kind], payload, ...(masked && { key: KEY }) })),
      );
      assert.deepEqual(await wsReading(Buffer.concat(written), { masked }), {
        events: calls.map(([kind, payload]) => said(kind, payload)),
      });
    });
  }

  it("write a close with its code, and as much of the reason as fits", async () => {
    const reasons = [
      "",
      "bye",
      "x".repeat(123),
      "x".repeat(124),
      `${"x".repeat(122)}é`,
      `${"x".repeat(121)}é`,
      "😀".repeat(40),
    ];
    const written = await cases(reasons.map((reason) => ["close", "1008", reason, KEY]));
    const expected = [
      "",
      "bye",
      "x".repeat(123),
      "x".repeat(123),
      "x".repeat(122),
      `${"x".repeat(121)}é`,
      "😀".repeat(30),
    ];
    for (const [index, reason] of expected.entries()) {
      const reading = await wsReading(written[index]![0]!, { masked: true });
      assert.deepEqual(reading, { events: [saidClose(1008, reason)] }, reasons[index]);
    }
    const [[none], [broken]] = (await cases([
      ["close", "", "x", ""],
      ["close", "1000", hex("ff"), ""],
    ])) as [[Buffer], [Buffer]];
    assert.deepEqual(none, server(8, ""));
    assert.deepEqual(broken, server(8, closing(1000)));
  });

  it("know UTF-8 by its edges", async () => {
    const edges = [
      ..."00 7f c080 c1bf c280 dfbf e08080 e09fbf e0a080 ed9fbf eda080 edbfbf ee8080 efbfbf f0808080".split(
        " ",
      ),
      ..."f08fbfbf f0908080 f48fbfbf f4908080 f5808080 f8888080 ff fe 80 bf c2 e2 e282 e28241 f0 f09f f09f98 f09f9841".split(
        " ",
      ),
      ..."c241 c2c2 e2c282 f09fc2 61c280e282acf09f988061 6180".split(" "),
    ].map(hex);
    const answers = await cases(edges.map((bytes) => ["utf8", bytes, "", ""]));
    assert.deepEqual(
      answers.map(([answer]) => String(answer)),
      edges.map((bytes) => String(isUtf8(bytes))),
    );
  });
});
