import { authzFilters } from "../chain.ts";
import { at, listAt, numberAt, objectAt, textAt, type Json } from "../dump.ts";
import type { FilterView, HttpChain } from "../envoy-view.ts";
import type { Facts } from "../facts.ts";
import type { Finding, ProblemCode } from "../finding.ts";

/** How each ext_authz filter asks the service, and what it does with the answer. */
export function checkSettings(facts: Facts): readonly Finding[] {
  return (facts.envoy?.chains ?? []).flatMap((chain) => [
    ...authzFilters(chain).flatMap((filter) => settingsOf(filter, chain, facts)),
    ...partialOnRoutes(chain),
    ...bodies(chain, facts),
  ]);
}

/** The names of `envoy.type.v3.StatusCode` from 200 to 399. */
const SUCCESSES: ReadonlySet<string> = new Set([
  ...["OK", "Created", "Accepted", "NonAuthoritativeInformation", "NoContent", "ResetContent"],
  ...["PartialContent", "MultiStatus", "AlreadyReported", "IMUsed", "MultipleChoices", "MovedPermanently"],
  ...["Found", "SeeOther", "NotModified", "UseProxy", "TemporaryRedirect", "PermanentRedirect"],
]);

function settingsOf(
  { name, config }: FilterView,
  { where }: HttpChain,
  { config: gateway }: Facts,
): readonly Finding[] {
  const found = (code: ProblemCode, detail: string): Finding => ({
    code,
    where,
    detail: `filter ${name}: ${detail}`,
  });
  const isOn = (setting: string) => at(config, setting) === true;
  const body = objectAt(config, "with_request_body");
  const most = numberAt(body, "max_request_bytes") ?? 0;
  const wanted = gateway?.gateway.security.decision_body_limit ?? 0;
  const version = textAt(config, "transport_api_version");
  const statusOnError = textAt(config, "status_on_error", "code");
  return [
    ...(isOn("failure_mode_allow") ? [found("FAILURE_MODE_ALLOW", "`failure_mode_allow: true`")] : []),
    ...(SUCCESSES.has(statusOnError ?? "")
      ? [found("ERROR_LOOKS_LIKE_SUCCESS", `\`status_on_error: ${statusOnError ?? ""}\``)]
      : []),
    ...(objectAt(config, "http_service") === undefined ? [] : [found("OLD_PROTOCOL", "`http_service`")]),
    ...(objectAt(config, "grpc_service") !== undefined && version !== "V3"
      ? [found("OLD_PROTOCOL", `\`transport_api_version: ${version ?? "AUTO"}\``)]
      : []),
    ...(body !== undefined && at(body, "allow_partial_message") === true
      ? [found("BODY_PARTIAL", `the first ${most} bytes`)]
      : []),
    ...(body !== undefined && at(body, "pack_as_bytes") !== true
      ? [found("BODY_AS_TEXT", "`pack_as_bytes` is not set")]
      : []),
    ...(body !== undefined && most < wanted
      ? [found("BODY_LIMIT_TOO_SMALL", `${most} bytes; gateway.yaml: ${wanted} bytes`)]
      : []),
    ...(isOn("encode_raw_headers") ? [] : [found("HEADERS_JOINED", "`encode_raw_headers` is not set")]),
    ...["allowed_headers", "disallowed_headers"]
      .filter((setting) => listAt(config, setting, "patterns").length > 0)
      .map((setting) => found("HEADERS_HIDDEN", `\`${setting}\``)),
    ...(isOn("validate_mutations") ? [] : [found("MUTATIONS_UNCHECKED", "`validate_mutations` is not set")]),
    ...refusals(objectAt(config, "decoder_header_mutation_rules")).map((rule) =>
      found("MUTATIONS_REFUSED", rule),
    ),
  ];
}

/** Rules by which Envoy ignores mutations; any could be one of an identity header. */
function refusals(rules: Json | undefined): readonly string[] {
  const refusing = ["disallow_all", "disallow_is_error"].filter((rule) => at(rules, rule) === true);
  const expression = objectAt(rules, "disallow_expression") === undefined ? [] : ["disallow_expression"];
  return [...refusing, ...expression].map((rule) => `\`decoder_header_mutation_rules.${rule}\``);
}

/** A route may have settings of its own for the body. */
function partialOnRoutes(chain: HttpChain): readonly Finding[] {
  return (chain.routes ?? []).flatMap((route) => {
    const partial = authzFilters(chain).some(({ name }) => {
      const settings = route.settings(name).typed?.config;
      return at(settings, "check_settings", "with_request_body", "allow_partial_message") === true;
    });
    const where = `${chain.where} / ${route.where}`;
    return partial && route.forwards
      ? [{ code: "BODY_PARTIAL", where, detail: "`check_settings.with_request_body`" }]
      : [];
  });
}

/** Where rules read the body, one of the checks has it. */
function bodies(chain: HttpChain, { needs }: Facts): readonly Finding[] {
  if (needs?.body !== true) return [];
  const filters = authzFilters(chain);
  if (filters.length === 0) return [];
  const sending = filters.filter(({ config }) => objectAt(config, "with_request_body") !== undefined);
  if (sending.length === 0)
    return [{ code: "BODY_NOT_SENT", where: chain.where, detail: "no `with_request_body`" }];
  return (chain.routes ?? [])
    .filter(
      (route) =>
        route.forwards &&
        sending.every(
          ({ name }) =>
            at(route.settings(name).typed?.config, "check_settings", "disable_request_body_buffering") ===
            true,
        ),
    )
    .map((route) => ({
      code: "BODY_NOT_SENT",
      where: `${chain.where} / ${route.where}`,
      detail: "`disable_request_body_buffering`",
    }));
}
