import { findEnvoy } from "../../src/gateway/index.ts";

let binary: Promise<string> | undefined;

/** The Envoy that tests run; installed at the first call where there is none, which may take a while. */
export function envoyBinary(): Promise<string> {
  const silent = () => undefined;
  return (binary ??= findEnvoy({
    installIfMissing: true,
    log: { info: silent, warn: silent, error: silent },
  }));
}
