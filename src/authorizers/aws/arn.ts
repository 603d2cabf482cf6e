/** The parts of `arn:aws:execute-api:<region>:<account>:<api>/<stage>/<method>/<path>` that say what is asked for. */
export interface MethodArn {
  readonly text: string;
  readonly method: string;
  /** With its leading slash. */
  readonly path: string;
}

const ARN =
  /^arn:aws[a-z-]{0,20}:execute-api:[a-z0-9-]{1,40}:[0-9]{12}:[A-Za-z0-9]{1,64}\/[^/]{1,128}\/([A-Z]{1,32})(\/.*)?$/s;

/** API Gateway takes no longer resource in a policy. */
const LONGEST = 512;

/** @throws Error if it is not the ARN of an HTTP method: those of WebSocket APIs have none */
export function readArn(text: string): MethodArn {
  const [, method, path = "/"] = ARN.exec(text) ?? [];
  if (method === undefined) throw new Error("the event's ARN is not one of an HTTP method");
  return { text, method, path };
}

/**
 * In the resource of a policy, `*` and `?` stand for other characters, and `${` begins a variable. A client chooses the
 * path, so it could choose them.
 *
 * @returns why a policy with this resource would be about something else; `undefined` if it would not
 */
export function whyNoResource({ text }: MethodArn): string | undefined {
  if (/[*?]|\$\{/.test(text)) return "the request's ARN has characters that are wildcards in a policy";
  return text.length > LONGEST ? `the request's ARN is longer than ${LONGEST} characters` : undefined;
}
