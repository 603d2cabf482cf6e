import assert from "node:assert/strict";
import fc from "fast-check";
import type protobuf from "protobufjs";
import { decodeCheck, DecodeError } from "../../src/extauthz/decode.ts";
import { RECORDED, encode, rawHeaders, write, inHttp, malformed } from "./support/checks.ts";
import { runs } from "../support/runs.ts";

describe("extauthz: decode, the wire format", () => {
  const http = (fill: (writer: protobuf.Writer) => unknown) => decodeCheck(inHttp(write(fill))).request;

  it("the last of a repeated field counts, and messages add up", () => {
    const one = encode({
      http: { method: "GET", path: "/1", ...rawHeaders(["a", "1"]) },
      time: { seconds: 5 },
    });
    const two = encode({
      http: { path: "/2", ...rawHeaders(["a", "2"]) },
      source: { address: { socket_address: { address: "::1", port_value: 1 } } },
    });
    const call = decodeCheck(Buffer.concat([one, two]));
    assert.equal(call.request.method, "GET");
    assert.equal(call.request.target, "/2");
    assert.deepEqual(call.request.headers, [
      ["a", "1"],
      ["a", "2"],
    ]);
    assert.equal(call.receivedAt, 5000);
    const pipe = encode({ source: { address: { pipe: { path: "/s" } } } });
    assert.deepEqual(decodeCheck(Buffer.concat([two, pipe])).source, { address: "", port: 0 });
    assert.deepEqual(decodeCheck(Buffer.concat([pipe, two])).source, { address: "::1", port: 1 });
  });

  it("of two entries of a map with one key the last counts", () => {
    const entry = (value: string) => write((w) => w.uint32(10).string("a").uint32(18).string(value));
    assert.deepEqual(http((w) => w.uint32(26).bytes(entry("1")).uint32(26).bytes(entry("2"))).headers, [
      ["a", "2"],
    ]);
  });

  it("unknown fields of every kind are passed over, groups too", () => {
    const request = http((w) => {
      w.uint32((90 << 3) | 0).uint64(1e15);
      w.uint32((90 << 3) | 1).fixed64(1);
      w.uint32((90 << 3) | 2).string("x");
      w.uint32((90 << 3) | 5).fixed32(1);
      w.uint32((90 << 3) | 3)
        .uint32((4 << 3) | 2)
        .string("/in")
        .uint32((5 << 3) | 3)
        .uint32((5 << 3) | 4)
        .uint32((90 << 3) | 4);
      w.uint32((4 << 3) | 0).uint32(7); // `path`, but no string
      w.uint32((536_870_911 << 3) >>> 0).uint32(1);
      w.uint32((4 << 3) | 2).string("/out");
    });
    assert.equal(request.target, "/out");
  });

  it("a message without an HTTP request is none to decide about", () => {
    malformed(Buffer.alloc(0));
    malformed(write((w) => w.uint32(10).fork().ldelim()));
    assert.equal(decodeCheck(inHttp(Buffer.alloc(0))).request.method, "");
  });

  const broken: Record<string, (writer: protobuf.Writer) => unknown> = {
    "a string that ends beyond its message": (w) => w.uint32(34).uint32(5),
    "a field of 4 GiB": (w) => w.uint32(34).uint32(0xffffffff),
    "a nested message that ends beyond the outer one": (w) =>
      w.uint32(106).uint32(3).uint32(10).uint32(9).uint32(0),
    "an unknown field that ends beyond its message": (w) => w.uint32((90 << 3) | 2).uint32(9),
    "a fixed value cut short": (w) => w.uint32((90 << 3) | 1).uint32(1),
    "a tag without a value": (w) => w.uint32(34),
    "field number 0": (w) => w.uint32(2).uint32(0),
    "wire type 6": (w) => w.uint32((90 << 3) | 6),
    "wire type 7": (w) => w.uint32((90 << 3) | 7),
    "a group that is only closed": (w) => w.uint32((90 << 3) | 4),
    "a group that is not closed": (w) => w.uint32((90 << 3) | 3),
    "a group closed by another": (w) => w.uint32((90 << 3) | 3).uint32((91 << 3) | 4),
    "groups of 1,000 levels": (w) => {
      for (let level = 0; level < 1_000; level += 1) w.uint32((90 << 3) | 3);
      for (let level = 0; level < 1_000; level += 1) w.uint32((90 << 3) | 4);
    },
    "20,000 empty headers": (w) => {
      w.uint32(106).fork();
      for (let count = 0; count < 20_000; count += 1) w.uint32(10).uint32(0);
      w.ldelim();
    },
    "20,000 unknown fields in a group": (w) => {
      w.uint32((90 << 3) | 3);
      for (let count = 0; count < 20_000; count += 1) w.uint32((90 << 3) | 0).uint32(0);
      w.uint32((90 << 3) | 4);
    },
  };
  for (const [name, fill] of Object.entries(broken)) {
    it(`refuses ${name}`, () => {
      malformed(inHttp(write(fill)));
    });
  }

  it("cut short anywhere, a message is refused or says less, but nothing else", () => {
    for (let length = 0; length < RECORDED.length; length += 1) malformed(RECORDED.subarray(0, length));
  });

  it("with any bytes changed, it is refused or read", () => {
    const change = fc.tuple(fc.nat(RECORDED.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const bytes = Buffer.from(RECORDED);
        for (const [at, byte] of changes) bytes[at] = byte;
        try {
          const { request } = decodeCheck(bytes);
          assert.ok(
            request.headers.every(([name, value]) => typeof name === "string" && typeof value === "string"),
          );
        } catch (error) {
          assert.ok(error instanceof DecodeError, String(error));
        }
      }),
      { numRuns: runs(2_000) },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodeCheck(inHttp(bytes));
        } catch (error) {
          assert.ok(error instanceof DecodeError, String(error));
        }
      }),
      { numRuns: runs(2_000) },
    );
  });
});
