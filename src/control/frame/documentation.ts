import express, { Router } from "express";
import { absolutePath } from "swagger-ui-dist";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Gatehouse API</title>
    <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/assets/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: "/v1/openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null });\n`;

/** Swagger UI needs its own styles, and data URLs for its icons; nothing from elsewhere. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** `/v1/openapi.json`, and `/docs` where people read it, without anything from the Internet. */
export function documentationRouter(document: object): Router {
  const router = Router();
  const text = JSON.stringify(document);
  router.get("/v1/openapi.json", (_request, response) => {
    response.type("application/json").send(text);
  });
  router.use("/docs", (_request, response, next) => {
    response.setHeader("content-security-policy", CONTENT_SECURITY_POLICY);
    next();
  });
  router.get("/docs", (_request, response) => {
    response.type("html").send(PAGE);
  });
  router.get("/docs/start.js", (_request, response) => {
    response.type("text/javascript").send(START);
  });
  router.use("/docs/assets", express.static(absolutePath(), { index: false }));
  return router;
}
