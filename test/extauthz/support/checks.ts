import assert from "node:assert/strict";
import protobuf from "protobufjs";
import { decodeCheck, DecodeError } from "../../../src/extauthz/decode.ts";
import { CHECK_REQUEST, encodeWith, loadProtos } from "./protos.ts";

/** A check of `GET /x?y=1` as Envoy 1.40 sent it, with `encode_raw_headers`. */
export const RECORDED = Buffer.from(
  `CpoDChMKEQoPEgkxMjcuMC4wLjEYgKIDEhMKEQoPEgkxMjcuMC4wLjEYy40BIukCCgwIs/KF2AYQgOyftwIS2AIKFDE1MDQ1ODgxNTg1MzA4Mzg2Njk3EgNHRVQiBi94P3k9MSoPMTI3LjAuMC4xOjE4MTIzMgRodHRwUghIVFRQLzEuMWqRAgodCgo6YXV0aG9yaXR5Gg8xMjcuMC4wLjE6MTgxMjMKDwoFOnBhdGgaBi94P3k9MQoOCgc6bWV0aG9kGgNHRVQKDwoHOnNjaGVtZRoEaHR0cAoZCgp1c2VyLWFnZW50GgtjdXJsLzcuODguMQoNCgZhY2NlcHQaAyovKgoNCgh4LWZvcmdlZBoBMQoRCgl4LXVzZXItaWQaBGV2aWwKCAoDeC1yGgExCggKA3gtchoBMgoNCgV4LWJpbhoEYf/pYgoZChF4LWZvcndhcmRlZC1wcm90bxoEaHR0cAo0Cgx4LXJlcXVlc3QtaWQaJDk1ODU3MGE0LTI5ODgtNDFkYS1iYzY3LWY5MWY0Y2YxYTM1NVoAagA=`,
  "base64",
);

const envoys = loadProtos("envoys");

export interface Attributes {
  source?: object;
  time?: { seconds: number; nanos?: number };
  http?: Record<string, unknown>;
  rest?: object;
}

export const encode = ({ source, time, http = {}, rest }: Attributes) =>
  encodeWith(envoys, CHECK_REQUEST, {
    attributes: { ...(source && { source }), request: { ...(time && { time }), http }, ...rest },
  });
export const decode = (attributes: Attributes) => decodeCheck(encode(attributes));

const bytesOf = (text: string) => Buffer.from(text, "latin1");
export const rawHeaders = (...headers: (readonly [string, string])[]) => ({
  header_map: { headers: headers.map(([key, value]) => ({ key, raw_value: bytesOf(value) })) },
});

/** Writes fields by hand, for what no encoder would. */
export const write = (fill: (writer: protobuf.Writer) => unknown) => {
  const writer = protobuf.Writer.create();
  fill(writer);
  return Buffer.from(writer.finish());
};
export const inHttp = (fields: Uint8Array) =>
  write((w) => w.uint32(10).fork().uint32(34).fork().uint32(18).bytes(fields).ldelim().ldelim());

export const malformed = (bytes: Buffer) => {
  assert.throws(() => decodeCheck(bytes), DecodeError);
};
