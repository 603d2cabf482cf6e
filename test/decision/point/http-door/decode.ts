import type { DecodedCheck, DoorCall, Task } from "../../../../src/decision/point/index.ts";
import { NO_BODY } from "../../../../src/request/index.ts";

/** A proxy's sub-request: its headers describe the request that the decision is about. */
export interface Question {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly peer: string;
  /** What the proxy carries out; a real door knows this from its configuration. */
  readonly carries?: ReadonlySet<Task>;
  /** The proxy vouches that the request has no body. */
  readonly bodiless?: true;
}

const ABOUT = "x-original-";
const NOTHING: ReadonlySet<Task> = new Set();

/** @throws Error if a header about the request is missing or repeated */
export function decode(
  { headers, peer, carries = NOTHING, bodiless }: Question,
  { deadline }: DoorCall,
): DecodedCheck {
  const about = (name: string): string => {
    const [value, ...more] = headers.flatMap(([header, text]) => (header === ABOUT + name ? [text] : []));
    if (value === undefined || more.length > 0) throw new Error(`${ABOUT}${name} must be sent exactly once`);
    return value;
  };
  return {
    access: {
      raw: {
        method: about("method"),
        target: about("uri"),
        scheme: "https",
        host: about("host"),
        protocol: "HTTP/1.1",
        // `host` is the door's own
        headers: headers.filter(([name]) => !name.startsWith(ABOUT) && name !== "host"),
        ...(bodiless && { body: NO_BODY }),
      },
      peer,
      requestId: "request-1",
      receivedAt: Date.now(),
      deadline,
    },
    carries,
  };
}
