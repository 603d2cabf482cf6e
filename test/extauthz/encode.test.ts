import assert from "node:assert/strict";
import fc from "fast-check";
import {
  encodeAllow,
  encodeBodyRequest,
  encodeDenial,
  EncodeError,
  type DenialAnswer,
} from "../../src/extauthz/encode.ts";
import { CHECK_RESPONSE, decodeWith, loadProtos } from "./support/protos.ts";

const envoys = loadProtos("envoys");
const read = (bytes: Buffer) => decodeWith(envoys, CHECK_RESPONSE, bytes);

const OVERWRITE = 2;
const overwritten = (headers: readonly (readonly [string, string])[]) =>
  headers.map(([key, value]) => ({ header: { key, value }, append_action: OVERWRITE }));

const names = fc.uniqueArray(fc.stringMatching(/^x-[a-z0-9-]{1,20}$/), { maxLength: 8 });
const text = fc.string({ unit: "grapheme" }).filter((value) => !/[\0-\x08\x0a-\x1f\x7f]/.test(value));

/** What google.protobuf.Struct makes of JSON, in the names of protobufjs' own copy. */
function structOf(object: object): object {
  const fields = Object.entries(object).filter(([, value]) => value !== undefined);
  return fields.length === 0
    ? {}
    : { fields: Object.fromEntries(fields.map(([key, value]) => [key, valueOf(value)])) };
}
function valueOf(value: unknown): object {
  if (value === null) return { nullValue: 0 };
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { numberValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (Array.isArray(value)) return { listValue: value.length === 0 ? {} : { values: value.map(valueOf) } };
  return { structValue: structOf(value as object) };
}

/** Every answer that is a decision says so, and a denial that it is one. */
const FINAL = structOf({ final: true });
const DENIED = structOf({ denied: true, final: true });

describe("extauthz: encode", () => {
  const denial: DenialAnswer = { httpStatus: 403, grpcStatus: 7, headers: [], body: "" };

  it("an allow is what Envoy reads as OK, every header overwriting", () => {
    fc.assert(
      fc.property(names, fc.array(text, { minLength: 8, maxLength: 8 }), fc.nat(8), (all, values, cut) => {
        const setHeaders = all.slice(0, cut).map((name, index) => [name, values[index] ?? ""] as const);
        const removeHeaders = all.slice(cut);
        const answer = read(encodeAllow({ setHeaders, removeHeaders }));
        assert.deepEqual(answer, {
          status: {},
          dynamic_metadata: FINAL,
          ok_response: {
            ...(setHeaders.length > 0 && { headers: overwritten(setHeaders) }),
            ...(removeHeaders.length > 0 && { headers_to_remove: removeHeaders }),
          },
        });
      }),
    );
  });

  it("a request for the body is what Envoy reads as OK, and no decision", () => {
    assert.deepEqual(read(encodeBodyRequest()), { status: {}, ok_response: {} });
  });

  it("is never empty: Envoy takes no bytes for OK", () => {
    assert.ok(encodeAllow({ setHeaders: [], removeHeaders: [] }).length > 0);
    assert.deepEqual(read(Buffer.alloc(0)), {});
  });

  it("a denial is what Envoy reads as denied, with status, headers and body", () => {
    fc.assert(
      fc.property(
        names,
        fc.array(text, { minLength: 8, maxLength: 8 }),
        fc.string({ unit: "grapheme", minLength: 1 }),
        fc.constantFrom(7 as const, 16 as const),
        fc.integer({ min: 200, max: 599 }),
        fc.boolean(),
        (all, values, body, grpcStatus, httpStatus, asBytes) => {
          const headers = all.map((name, index) => [name, values[index] ?? ""] as const);
          const bytes = encodeDenial({
            httpStatus,
            grpcStatus,
            headers,
            body: asBytes ? Buffer.from(body) : body,
          });
          assert.deepEqual(read(bytes), {
            status: { code: grpcStatus },
            dynamic_metadata: DENIED,
            denied_response: {
              status: { code: httpStatus },
              ...(headers.length > 0 && { headers: overwritten(headers) }),
              body,
            },
          });
        },
      ),
    );
  });

  it("a denial has another status than 0, whatever it is called with", () => {
    const wrong = { ...denial, grpcStatus: 0 } as unknown as DenialAnswer;
    assert.deepEqual(read(encodeDenial(wrong))["status"], { code: 7 });
  });

  it("metadata is the Struct of its JSON", () => {
    const json = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.parse(JSON.stringify(value)) as never);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json, { noNullPrototype: true }), (dynamicMetadata) => {
        const allowed = read(encodeAllow({ setHeaders: [], removeHeaders: [], dynamicMetadata }));
        assert.deepEqual(allowed["dynamic_metadata"], structOf({ ...dynamicMetadata, final: true }));
        assert.deepEqual(
          read(encodeDenial({ ...denial, dynamicMetadata }))["dynamic_metadata"],
          structOf({ ...dynamicMetadata, denied: true, final: true }),
        );
      }),
    );
  });

  it("leaves undefined members of metadata out, and makes lone surrogates U+FFFD", () => {
    const dynamicMetadata = { a: undefined, b: "\ud800", "\udc00": [] };
    const { dynamic_metadata: metadata } = read(
      encodeAllow({ setHeaders: [], removeHeaders: [], dynamicMetadata }),
    );
    assert.deepEqual(metadata, structOf({ b: "\ufffd", "\ufffd": [], final: true }));
    assert.deepEqual(
      (read(encodeDenial({ ...denial, body: "a\ud800" }))["denied_response"] as { body: string }).body,
      "a\ufffd",
    );
  });

  describe("refuses", () => {
    const refused = (name: string, encode: () => Buffer) => {
      it(name, () => {
        assert.throws(encode, EncodeError);
      });
    };
    for (const value of [
      "a\rb",
      "a\nb",
      "a\0b",
      "\x01",
      "\x1f",
      "\x7f",
      "\ud800",
      "a\r\nx-user-role: admin",
    ]) {
      refused(`${JSON.stringify(value)} as a value`, () =>
        encodeAllow({ setHeaders: [["x-a", value]], removeHeaders: [] }),
      );
      refused(`${JSON.stringify(value)} as a value of a denial`, () =>
        encodeDenial({ ...denial, headers: [["x-a", value]] }),
      );
    }
    for (const name of ["", ":path", "host", "X-Upper", "a b", "a:b", "a\n", "é", "a,b"]) {
      refused(`${JSON.stringify(name)} as a name`, () =>
        encodeAllow({ setHeaders: [[name, ""]], removeHeaders: [] }),
      );
      refused(`${JSON.stringify(name)} as a name to remove`, () =>
        encodeAllow({ setHeaders: [], removeHeaders: [name] }),
      );
      refused(`${JSON.stringify(name)} as a name of a denial`, () =>
        encodeDenial({ ...denial, headers: [[name, ""]] }),
      );
    }
    refused("a header set twice", () =>
      encodeAllow({
        setHeaders: [
          ["a", "1"],
          ["a", "2"],
        ],
        removeHeaders: [],
      }),
    );
    refused("a header set and removed", () =>
      encodeAllow({ setHeaders: [["a", "1"]], removeHeaders: ["a"] }),
    );
    refused("a denial's header given twice", () =>
      encodeDenial({
        ...denial,
        headers: [
          ["a", "1"],
          ["a", "1"],
        ],
      }),
    );
    for (const httpStatus of [0, 100, 199, 600, 403.5, Number.NaN]) {
      refused(`status ${httpStatus}`, () => encodeDenial({ ...denial, httpStatus }));
    }
    refused("a body that is not UTF-8", () => encodeDenial({ ...denial, body: Buffer.from([0xff]) }));
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY]) {
      refused(`${number} in metadata`, () =>
        encodeAllow({ setHeaders: [], removeHeaders: [], dynamicMetadata: { a: [number] } }),
      );
    }
    for (const wrap of [(inner: object) => [inner], (inner: object) => ({ inner })]) {
      let deep: object = {};
      for (let level = 0; level < 100; level += 1) deep = wrap(deep);
      refused("metadata of 100 levels", () =>
        encodeAllow({ setHeaders: [], removeHeaders: [], dynamicMetadata: { deep } as never }),
      );
    }
  });

  it("keeps a tab, and an empty value", () => {
    const headers = [
      ["a", "x\ty"],
      ["b", ""],
    ] as const;
    assert.deepEqual(
      (read(encodeDenial({ ...denial, headers }))["denied_response"] as { headers: unknown }).headers,
      overwritten(headers),
    );
  });
});
