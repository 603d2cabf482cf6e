import type { Asked, DoorCall, Task } from "../../../../src/decision/point/index.ts";
import { NO_BODY } from "../../../../src/request/index.ts";

/** A proxy's question about a request, as a request of its own: what is asked about is in headers. */
export interface Question {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly peer: string;
  /** What the proxy does besides; a real door knows it from its configuration. */
  readonly carries?: ReadonlySet<Task>;
  /** The proxy vouches that the request has no body. */
  readonly bodiless?: true;
}

const ABOUT = "x-original-";
const NOTHING: ReadonlySet<Task> = new Set();

/** @throws where it is not said once what is asked about */
export function decode(
  { headers, peer, carries = NOTHING, bodiless }: Question,
  { deadline }: DoorCall,
): Asked {
  const about = (name: string): string => {
    const [value, ...more] = headers.flatMap(([header, text]) => (header === ABOUT + name ? [text] : []));
    if (value === undefined || more.length > 0) throw new Error(`${ABOUT}${name} has to be there once`);
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
        // the question's own host is the door's
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
