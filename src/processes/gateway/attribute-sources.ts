import type { GatewayConfig } from "../../config/index.ts";
import { FileSource, type AttributeSource } from "../../decision/attributes/sources.ts";
import { UserSource } from "../../decision/attributes/user-source.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { ControlPlaneLink } from "./control-plane-link.ts";
/** The sources in which policy sets may look up attributes. */
export function attributeSources(
  config: GatewayConfig,
  link: ControlPlaneLink | undefined,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
): {
  readonly sources: ReadonlyMap<string, AttributeSource>;
  /** Those that can say what they have. */
  readonly files: ReadonlyMap<string, FileSource>;
  readonly refreshSources: () => Promise<unknown>;
} {
  const files = new Map<string, FileSource>();
  const sources = new Map<string, AttributeSource>();
  for (const [name, source] of Object.entries(config.attribute_sources)) {
    if (source.type === "file") {
      const file = new FileSource(source.path, log);
      files.set(name, file);
      sources.set(name, file);
    } else if (link !== undefined) {
      const users = new UserSource({}, { fetchUser: (id) => link.client.user(id), metrics, log });
      link.feed.onChange(({ users: changed, complete }) => {
        if (complete) users.invalidateAll();
        else users.invalidate(changed);
      });
      sources.set(name, users);
    }
  }
  const refreshSources = () => Promise.all([...files.values()].map((file) => file.refresh()));
  return { sources, files, refreshSources };
}
