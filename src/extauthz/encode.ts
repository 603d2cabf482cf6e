import { isUtf8 } from "node:buffer";
import protobuf from "protobufjs/minimal.js";
import { DECISION } from "../envoy-contract.ts";
import { assertHeaderName, assertHeaderValue, EncodeError, type HeaderList } from "./wire-headers.ts";
import { writeStruct, type MetadataObject } from "./wire-struct.ts";
import { lengthField, varintField } from "./wire.ts";

export { EncodeError } from "./wire-headers.ts";

/** How an allowed request is forwarded. */
export interface AllowAnswer {
  /** Replace any headers of the client with these names. */
  readonly setHeaders: HeaderList;
  readonly removeHeaders: readonly string[];
  /** For the filters that follow, under NAMESPACE.decision. */
  readonly dynamicMetadata?: MetadataObject;
}

/** The response to a denied client. */
export interface DenialAnswer {
  readonly httpStatus: number;
  /** PERMISSION_DENIED or UNAUTHENTICATED: Envoy treats any other code as a failure of the service. */
  readonly grpcStatus: 7 | 16;
  readonly headers: HeaderList;
  /** UTF-8. */
  readonly body: string | Buffer;
  readonly dynamicMetadata?: MetadataObject;
}

// CheckResponse
const STATUS = lengthField(1);
const DENIED_RESPONSE = lengthField(2);
const OK_RESPONSE = lengthField(3);
const DYNAMIC_METADATA = lengthField(4);
// google.rpc.Status and HttpStatus
const CODE = varintField(1);
// OkHttpResponse
const OK_HEADERS = lengthField(2);
const HEADERS_TO_REMOVE = lengthField(5);
// DeniedHttpResponse
const DENIED_STATUS = lengthField(1);
const DENIED_HEADERS = lengthField(2);
const DENIED_BODY = lengthField(3);
// HeaderValueOption and HeaderValue
const HEADER = lengthField(1);
const APPEND_ACTION = varintField(3);
const KEY = lengthField(1);
const VALUE = lengthField(2);

const OVERWRITE_IF_EXISTS_OR_ADD = 2;

/**
 * The CheckResponse that permits a request.
 *
 * @throws {@link EncodeError} if a header cannot be sent unchanged, or is named twice
 */
export function encodeAllow(answer: AllowAnswer): Buffer {
  const { setHeaders, removeHeaders, dynamicMetadata } = answer;
  const writer = new protobuf.BufferWriter();
  writer.uint32(STATUS).uint32(0);
  writer.uint32(OK_RESPONSE).fork();
  writeHeaders(writer, OK_HEADERS, setHeaders);
  for (const name of removeHeaders) {
    assertHeaderName(name);
    if (setHeaders.some(([set]) => set === name)) throw new EncodeError(`header ${name} is set and removed`);
    writer.uint32(HEADERS_TO_REMOVE).string(name);
  }
  writer.ldelim();
  return finish(writer, dynamicMetadata);
}

/**
 * The CheckResponse that denies a request, with the response for the client.
 *
 * @throws {@link EncodeError} if the status is not one for a denial, a header cannot be sent unchanged or is named twice, or
 * the body is not UTF-8
 */
export function encodeDenial(answer: DenialAnswer): Buffer {
  const { httpStatus, grpcStatus, headers, body, dynamicMetadata } = answer;
  if (!Number.isInteger(httpStatus) || httpStatus < 200 || httpStatus > 599) {
    throw new EncodeError(`status ${httpStatus} is not valid for a denial`);
  }
  const writer = new protobuf.BufferWriter();
  // Checked at run time, too: any other status would permit the request or would not be a denial.
  writer
    .uint32(STATUS)
    .fork()
    .uint32(CODE)
    .uint32(grpcStatus === 16 ? 16 : 7)
    .ldelim();
  writer.uint32(DENIED_RESPONSE).fork();
  writer.uint32(DENIED_STATUS).fork().uint32(CODE).uint32(httpStatus).ldelim();
  writeHeaders(writer, DENIED_HEADERS, headers);
  if (typeof body === "string") writer.uint32(DENIED_BODY).string(body.toWellFormed());
  else {
    if (!isUtf8(body)) throw new EncodeError("the body is not valid UTF-8");
    writer.uint32(DENIED_BODY).bytes(body);
  }
  writer.ldelim();
  return finish(writer, { ...dynamicMetadata, [DECISION.denied]: true });
}

/** The CheckResponse that passes a request on to the filter that asks again with the body. It decides nothing. */
export function encodeBodyRequest(): Buffer {
  const writer = new protobuf.BufferWriter();
  writer.uint32(STATUS).uint32(0);
  writer.uint32(OK_RESPONSE).uint32(0);
  return writer.finish() as Buffer;
}

/** Appended to a response, it adds to its metadata, because protobuf merges the fields of a repeated message. */
export function encodeMetadata(metadata: MetadataObject): Buffer {
  const writer = new protobuf.BufferWriter();
  writer.uint32(DYNAMIC_METADATA).fork();
  writeStruct(writer, metadata);
  writer.ldelim();
  return writer.finish() as Buffer;
}

function writeHeaders(writer: protobuf.Writer, field: number, headers: HeaderList): void {
  for (const [index, [name, value]] of headers.entries()) {
    assertHeaderName(name);
    assertHeaderValue(name, value);
    // With OVERWRITE the second would silently replace the first.
    if (headers.findIndex(([other]) => other === name) !== index)
      throw new EncodeError(`header ${name} is set twice`);
    writer.uint32(field).fork();
    writer.uint32(HEADER).fork().uint32(KEY).string(name).uint32(VALUE).string(value).ldelim();
    writer.uint32(APPEND_ACTION).uint32(OVERWRITE_IF_EXISTS_OR_ADD);
    writer.ldelim();
  }
}

/** Marks the response as a decision in the metadata: without the mark, Envoy asks again with the body. */
function finish(writer: protobuf.BufferWriter, metadata: MetadataObject | undefined): Buffer {
  writer.uint32(DYNAMIC_METADATA).fork();
  writeStruct(writer, { ...metadata, [DECISION.final]: true });
  writer.ldelim();
  // A BufferWriter allocates Buffers; its types are less specific.
  return writer.finish() as Buffer;
}
