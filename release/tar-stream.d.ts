/** The part of tar-stream 3 that is used here: the package has no types. */
declare module "tar-stream" {
  import type { Readable } from "node:stream";

  interface Header {
    readonly name: string;
    readonly mode: number;
    readonly mtime: Date;
    readonly type: "file";
  }

  interface Pack extends Readable {
    entry(header: Header, content: Buffer): void;
    finalize(): void;
  }

  export function pack(): Pack;
}
