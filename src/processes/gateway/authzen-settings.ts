import type { AuthzenSettings } from "../../authorizers/index.ts";
import type { GatewayConfig } from "../../config/index.ts";

/** How the configuration maps the Authorization API to requests. */
export function authzenSettings({
  authz: { authzen },
  control_plane,
}: Pick<GatewayConfig, "authz" | "control_plane">): AuthzenSettings {
  return {
    actions: authzen.actions,
    resources: authzen.resources,
    subjects: authzen.subjects,
    subjectSources: authzen.subject_sources,
    customers: control_plane.url !== undefined,
    ...(authzen.url !== undefined && { url: authzen.url.replace(/\/$/, "") }),
  };
}
