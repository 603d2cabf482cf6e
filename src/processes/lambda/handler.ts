import { loadGatewayConfig } from "../../config/index.ts";
import type { JsonValue } from "../../json/index.ts";
import { createLog } from "../../telemetry/log.ts";
import { createMetrics } from "../../telemetry/metrics.ts";
import { createLambdaAuthorizer, type LambdaAuthorizer } from "./lambda-authorizer.ts";

/** Options of {@link createHandler}. */
export interface HandlerOptions {
  /** Path of gateway.yaml. Default: that file in the working directory, where AWS Lambda unpacks a function. */
  readonly config?: string;
}

/** What AWS Lambda tells a function about a call. */
export interface HandlerContext {
  getRemainingTimeInMillis?(): number;
}

/** A function for a Lambda authorizer of API Gateway. It throws where API Gateway shall answer with 401 or 500. */
export type Handler = (event: unknown, context?: HandlerContext) => Promise<object>;

const USUALLY_LEFT_MS = 10_000;

/**
 * Creates the function of a Lambda authorizer: TOKEN and REQUEST, of REST and HTTP APIs. It starts at once, which is while AWS
 * Lambda initializes a process, and decides in the process.
 *
 * @throws Error, at every call, if the configuration is not usable
 */
export function createHandler({ config = "gateway.yaml" }: HandlerOptions = {}): Handler {
  const starting = start(config);
  // reported by the first call
  starting.catch(() => undefined);
  return async (event, context) => {
    const authorizer = await starting;
    const left = context?.getRemainingTimeInMillis?.() ?? USUALLY_LEFT_MS;
    const answer = await authorizer.answer(event as JsonValue, left);
    if (answer.kind === "failure") throw new Error(answer.message);
    return answer.document;
  };
}

async function start(file: string): Promise<LambdaAuthorizer> {
  const loaded = loadGatewayConfig({ file });
  if (!loaded.ok) throw new Error(loaded.errors);
  // a buffer would be lost when the process is stopped between two calls
  const destination = { write: (line: string) => void process.stderr.write(line) };
  const log = createLog({ level: loaded.config.telemetry.log_level, name: "aws-lambda", destination });
  const authorizer = createLambdaAuthorizer(loaded.config, { metrics: createMetrics(), log });
  await authorizer.start();
  return authorizer;
}
