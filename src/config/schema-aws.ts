import * as z from "zod";
import { flag, list, optional, setting, text } from "../setting-types.ts";

/** The section `authz.aws` of gateway.yaml. */
export const aws = z
  .strictObject({
    uncached: setting(
      flag(),
      false,
      "States that API Gateway caches no answers of your authorizers (`authorizerResultTtlInSeconds: 0`). Its cache applies an " +
        "answer to requests that the rules would tell apart. Without the statement, only authorizers of HTTP APIs without " +
        "identity sources, which cannot cache, are answered with a permit.",
    ),
    decoded_paths: setting(
      flag(),
      false,
      "States that the integrations of your HTTP APIs use the path that API Gateway has decoded, as Lambda integrations do. " +
        "HTTP APIs show their authorizers no other. Without the statement, none of their requests is permitted.",
    ),
    token_authorizers: setting(
      flag(),
      false,
      "Also answer TOKEN authorizers with permits. They show neither headers nor query nor how the path was sent: nobody sees " +
        "whether a client sends identity headers or a method override to your application.",
    ),
    simple_responses: setting(
      flag(),
      false,
      "Answer payload format 2.0 with `isAuthorized` instead of a policy, as the authorizer's `enableSimpleResponses` says.",
    ),
    base_paths: setting(
      list(
        text().refine(
          (value) => /^(?:\/[\w.~-]+)+$/.test(value),
          "must be a path such as `/shop`, without `/` at its end",
        ),
      ),
      [],
      "Base paths of your custom domains. Rules see the path without them.",
    ),
    usage_identifier_header: optional(
      text().refine((value) => /^[a-z0-9-]+$/.test(value), "must be the name of a header in lower case"),
      "A header of `identity.headers`. Its value is sent as `usageIdentifierKey`, an API key of a usage plan, and not in the " +
        "context. Default: none is sent.",
    ),
  })
  .prefault({});
