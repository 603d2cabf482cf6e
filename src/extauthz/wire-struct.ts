import type protobuf from "protobufjs/minimal.js";
import { isList } from "../json/index.ts";
import { EncodeError } from "./wire-headers.ts";
import { lengthField, varintField } from "./wire.ts";

/** What google.protobuf.Struct can represent: JSON. Members that are `undefined` are omitted. */
export type MetadataValue = string | number | boolean | null | readonly MetadataValue[] | MetadataObject;
export interface MetadataObject {
  readonly [key: string]: MetadataValue | undefined;
}

/** The nesting limit of protobuf's own parsers, in JSON levels (each is three messages). */
const MAX_DEPTH = 30;

// Struct and its map entries
const FIELDS = lengthField(1);
const KEY = lengthField(1);
const ENTRY_VALUE = lengthField(2);
// Value
const NULL_VALUE = varintField(1);
const FIXED64 = 1;
const NUMBER_VALUE = (2 << 3) | FIXED64;
const STRING_VALUE = lengthField(3);
const BOOL_VALUE = varintField(4);
const STRUCT_VALUE = lengthField(5);
const LIST_VALUE = lengthField(6);
// ListValue
const VALUES = lengthField(1);

/**
 * Writes the fields of a google.protobuf.Struct.
 *
 * @throws {@link EncodeError} for a number that JSON cannot represent, and for too many levels
 */
export function writeStruct(writer: protobuf.Writer, object: MetadataObject, depth = 0): void {
  if (depth >= MAX_DEPTH) throw new EncodeError("metadata nested too deeply");
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    writer.uint32(FIELDS).fork();
    writer.uint32(KEY).string(key.toWellFormed());
    writer.uint32(ENTRY_VALUE).fork();
    writeValue(writer, value, depth);
    writer.ldelim().ldelim();
  }
}

function writeValue(writer: protobuf.Writer, value: MetadataValue, depth: number): void {
  switch (typeof value) {
    case "string":
      writer.uint32(STRING_VALUE).string(value.toWellFormed());
      return;
    case "boolean":
      writer.uint32(BOOL_VALUE).bool(value);
      return;
    case "number":
      if (!Number.isFinite(value)) throw new EncodeError("the metadata contains a number that is not finite");
      writer.uint32(NUMBER_VALUE).double(value);
      return;
    default:
  }
  if (value === null) writer.uint32(NULL_VALUE).uint32(0);
  else if (isList(value)) {
    if (depth + 1 >= MAX_DEPTH) throw new EncodeError("metadata nested too deeply");
    writer.uint32(LIST_VALUE).fork();
    for (const item of value) {
      writer.uint32(VALUES).fork();
      writeValue(writer, item, depth + 1);
      writer.ldelim();
    }
    writer.ldelim();
  } else {
    writer.uint32(STRUCT_VALUE).fork();
    writeStruct(writer, value, depth + 1);
    writer.ldelim();
  }
}
