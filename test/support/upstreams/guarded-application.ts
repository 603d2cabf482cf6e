import { startGateway, type RunningGateway } from "../gateway.ts";
import { startIssuer, type TestIssuer } from "../providers/issuer.ts";
import { sendRaw, type RawAnswer } from "../raw-http.ts";
import { startRecordingUpstream, type RecordingUpstream } from "./recording-upstream.ts";

/** An application behind a gateway, for requests that should not get through. */
export interface GuardedApplication {
  readonly gateway: RunningGateway;
  readonly upstream: RecordingUpstream;
  readonly issuer: TestIssuer;
  /** Sends raw bytes; gives the answer and how many requests got through. */
  send(request: string): Promise<RawAnswer & { readonly passed: number }>;
  stop(): Promise<void>;
}

const POLICIES = `
policies:
  - resource: "GET /public/**"
    condition: "true"
  - resource: "* /admin/**"
    condition: user.role == "admin"
  - resource: "GET /customers/{id}"
    condition: user.customer_id == path.id
  - resource: "GET /beta"
    condition: request.headers["x-beta"].includes("yes")
  - resource: "POST /orders"
    condition: request.body.amount < 100
`;

export async function startGuardedApplication(): Promise<GuardedApplication> {
  const [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
  const gateway = await startGateway({
    backend: upstream.url,
    issuer,
    policies: { "default.yaml": POLICIES },
  });
  return {
    gateway,
    upstream,
    issuer,
    async send(request) {
      const before = upstream.seen.length;
      const answer = await sendRaw(gateway.port, request);
      return { ...answer, passed: upstream.seen.length - before };
    },
    async stop() {
      await Promise.all([gateway.stop(), issuer.close()]);
      await upstream.close();
    },
  };
}

/** The header line that carries a token. */
export function bearer(token: string): string {
  return `Authorization: Bearer ${token}`;
}
