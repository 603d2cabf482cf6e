import { Router, type RequestHandler } from "express";
import type { ControlContext } from "../platform/context.ts";
import { readDashboardFiles } from "./files.ts";

/** The paths that open a page of the dashboard, for browsers. All other paths outside the API remain 404. */
export const DASHBOARD_PAGES = [
  "/",
  "/customers",
  "/customers/:id",
  "/sessions",
  "/policies",
  "/policies/:id",
  "/policy-sets",
  "/policy-sets/:id",
  "/keys",
  "/audit",
  "/explain",
  "/events",
  "/gateways",
  "/webhooks",
  "/webhooks/:id",
  "/settings",
] as const;

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

const ASSET_POLICY = "default-src 'none'; script-src 'self'; frame-ancestors 'none'";

/** Asset names contain a hash of the content, so they never change. */
const FOR_A_YEAR = "public, max-age=31536000, immutable";

/**
 * The dashboard: the same page for everybody, which holds nothing of the database. Everything that it shows comes from
 * the API, with the rights of whoever is signed in.
 *
 * @param folder - of the build; without one there, nothing is served
 */
export function dashboardRouter(
  { settings, log }: Pick<ControlContext, "settings" | "log">,
  folder?: string,
): Router {
  const files = readDashboardFiles(folder);
  const router = Router({ caseSensitive: true, strict: true });
  if (files === undefined) {
    log.warn("the dashboard is not built: in a checkout, run `make dashboard`");
    return router;
  }
  const { assets } = files;
  // known before anybody signs in, so that production and sandbox look different from the first moment
  const index = files.index.replace('data-environment=""', `data-environment="${settings.environment}"`);
  const page: RequestHandler = (request, response, next) => {
    response.vary("accept");
    // a client of the API that forgot `/v1` must not take a page for an answer
    if (request.accepts(["json", "html"]) !== "html") {
      next();
      return;
    }
    response.setHeader("content-security-policy", CONTENT_SECURITY_POLICY);
    response.setHeader("cache-control", "no-cache");
    response.type("html").send(index);
  };
  for (const path of DASHBOARD_PAGES) router.get(path, page);
  router.get("/assets/:name", (request, response, next) => {
    const asset = assets.get(request.params.name);
    if (asset === undefined) {
      next();
      return;
    }
    const zipped = request.acceptsEncodings("gzip") === "gzip";
    response.setHeader("cache-control", FOR_A_YEAR);
    // a worker has the policy of its own file: what is explained there is not sent anywhere
    response.setHeader("content-security-policy", ASSET_POLICY);
    response.setHeader("vary", "accept-encoding");
    response.setHeader("content-type", asset.type);
    if (zipped) response.setHeader("content-encoding", "gzip");
    response.send(zipped ? asset.gzipped : asset.body);
  });
  return router;
}
