import { Router, type Request } from "express";

/** `GET /api/whoami`: the identity headers as received, to show what the gateway asserts. */
export function whoamiRoutes(): Router {
  const router = Router();
  router.get("/api/whoami", (request, response) => {
    const headers = identityHeaders(request);
    response.json({ signed_in: headers["x-user-id"] !== undefined, headers });
  });
  return router;
}

/** @returns every `x-user-*` and `x-customer-*` header by lower-case name; repeated ones joined by `, `. */
export function identityHeaders(request: Request): Record<string, string> {
  const found = Object.entries(request.headersDistinct)
    .filter(([name]) => /^x-(?:user|customer)-/.test(name))
    .map(([name, values]) => [name, decode((values ?? []).join(", "))] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(found);
}

/** Node.js decodes header bytes as latin1; people's names are sent as UTF-8. */
function decode(value: string): string {
  return Buffer.from(value, "latin1").toString("utf8");
}
