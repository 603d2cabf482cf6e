import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";
import { selfSigned, type KeyPair } from "../../support/certificates.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Without CORS nothing here would be tested; and a single process would end with the first page that is closed. */
const UNWANTED: ReadonlySet<string> = new Set([
  "--disable-web-security",
  "--disable-site-isolation-trials",
  "--allow-running-insecure-content",
  "--single-process",
]);

/** A browser that accepts certificates of tests, once it opens pages with `ignoreHTTPSErrors`. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = await chromium.executablePath();
  const args = chromium.args.filter((argument) => !UNWANTED.has(argument));
  return playwright.launch({ executablePath, args, headless: true });
}

/** A certificate for localhost and 127.0.0.1, and the settings of a gateway that uses it. */
export async function tlsOfTests(): Promise<{
  readonly pair: KeyPair;
  readonly security: { readonly tls_certificate: string; readonly tls_private_key: string };
}> {
  const pair = await selfSigned("localhost");
  const folder = await temporaryDirectory();
  const [tls_certificate, tls_private_key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  await writeFile(tls_certificate, pair.certificate);
  await writeFile(tls_private_key, pair.privateKey);
  return { pair, security: { tls_certificate, tls_private_key } };
}

/** An empty page over TLS, from which scripts of a test run. */
export async function startPage({ certificate, privateKey }: KeyPair): Promise<{
  readonly port: number;
  close(): Promise<void>;
}> {
  const server: Server = createServer({ cert: certificate, key: privateKey }, (_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>page</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
