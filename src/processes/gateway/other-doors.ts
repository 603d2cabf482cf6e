import {
  atDoors,
  createHttpApis,
  createHttpDoors,
  haproxy,
  type AskHaproxy,
  type HttpApis,
  type HttpDoors,
} from "../../authorizers/index.ts";
import type { GatewayConfig } from "../../config/index.ts";
import { serveDoor } from "../../decision/point/index.ts";
import { authzenSettings } from "./authzen-settings.ts";
import { awsSettings } from "./aws-settings.ts";

/** What asks for decisions and is not Envoy over gRPC. */
export interface OtherDoors {
  /** The doors of proxies that ask over HTTP. */
  readonly httpDoors: HttpDoors;
  /** What else asks over HTTP. */
  readonly httpApis: HttpApis;
  readonly askHaproxy: AskHaproxy;
}

/** Those of `authz.http_doors`, and HAProxy's. */
export function createOtherDoors(
  config: GatewayConfig,
  dependencies: Parameters<typeof createHttpApis>[1],
): OtherDoors {
  // its own limit sheds: how long a request waited in the proxy is unknown, and must not count for Envoy's backlog
  const serving = { ...dependencies, shed: () => undefined };
  const { http_doors: offered } = config.authz;
  const settings = { aws: awsSettings(config), authzen: authzenSettings(config) };
  return {
    httpDoors: atDoors(createHttpDoors(serving), offered),
    httpApis: atDoors(createHttpApis(settings, serving), offered),
    askHaproxy: serveDoor(haproxy, serving),
  };
}
