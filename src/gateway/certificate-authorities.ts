import { existsSync } from "node:fs";
import { OTHER_VARIABLES, processEnvironment } from "../config/index.ts";

/** Where systems keep their bundle of trusted certificate authorities. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** @returns the PEM bundle that SSL_CERT_FILE names, or the system's; undefined if there is none. */
export function systemCertificateAuthorities(environment = processEnvironment()): string | undefined {
  const named = environment[OTHER_VARIABLES.certificateAuthorities];
  return named !== undefined && named !== "" ? named : BUNDLES.find((file) => existsSync(file));
}
