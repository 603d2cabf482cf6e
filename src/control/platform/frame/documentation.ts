import { Router } from "express";
import { documentationPage, DOCUMENTATION_STYLE, type DocumentedApi } from "./documentation-page.ts";

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/**
 * `/v1/openapi.json`, and `/docs` for people, without scripts and without anything from the internet.
 *
 * @param describe - the OpenAPI document; built for the first reader, because it takes longer than the rest of a start
 */
export function documentationRouter(describe: () => object): Router {
  const router = Router({ caseSensitive: true });
  const document = once(describe);
  const text = once(() => JSON.stringify(document()));
  const page = once(() => documentationPage(document() as DocumentedApi));
  router.get("/v1/openapi.json", (_request, response) => {
    response.type("application/json").send(text());
  });
  router.use("/docs", (_request, response, next) => {
    response.setHeader("content-security-policy", CONTENT_SECURITY_POLICY);
    next();
  });
  router.get("/docs", (_request, response) => {
    response.type("html").send(page());
  });
  router.get("/docs/style.css", (_request, response) => {
    response.type("text/css").send(DOCUMENTATION_STYLE);
  });
  return router;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
