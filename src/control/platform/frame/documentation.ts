import { Router } from "express";
import { documentationPage, DOCUMENTATION_STYLE, type DocumentedApi } from "./documentation-page.ts";

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** `/v1/openapi.json`, and `/docs` for people, without scripts and without anything from the internet. */
export function documentationRouter(document: object): Router {
  const router = Router();
  const text = JSON.stringify(document);
  const page = documentationPage(document as DocumentedApi);
  router.get("/v1/openapi.json", (_request, response) => {
    response.type("application/json").send(text);
  });
  router.use("/docs", (_request, response, next) => {
    response.setHeader("content-security-policy", CONTENT_SECURITY_POLICY);
    next();
  });
  router.get("/docs", (_request, response) => {
    response.type("html").send(page);
  });
  router.get("/docs/style.css", (_request, response) => {
    response.type("text/css").send(DOCUMENTATION_STYLE);
  });
  return router;
}
