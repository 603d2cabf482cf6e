import { Buffer as PageBuffer } from "buffer/";

/** The package has base64, and not the form of it that RFC 4648 has in section 5. */
const URL_SAFE = "base64url";

const from = Reflect.get(PageBuffer, "from") as (value: unknown, ...rest: readonly unknown[]) => PageBuffer;
type ToText = (encoding?: string, start?: number, end?: number) => string;
const toText: ToText = Reflect.get<PageBuffer, "toString">(PageBuffer.prototype, "toString");

Object.assign(PageBuffer, {
  from: (value: unknown, ...rest: readonly unknown[]) =>
    rest[0] === URL_SAFE ? from(value, "base64") : from(value, ...rest),
});
PageBuffer.prototype.toString = function (this: PageBuffer, ...given) {
  if (given[0] !== URL_SAFE) return toText.apply(this, given);
  return toText.call(this, "base64").replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

Object.defineProperty(globalThis, "Buffer", { value: PageBuffer });
