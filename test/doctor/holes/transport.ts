import { join } from "node:path";
import type { Loose } from "../support.ts";
import { cluster, http3Listener, movedTo, upstreamTls, type NamedHole } from "./support.ts";

/** Both clusters of ours. */
const serviceMovedTo = (bootstrap: Loose, host: string): Loose[] =>
  ["ext_authz", "ext_authz_anonymous"].map((name) => movedTo(cluster(bootstrap, name), host));

export const TRANSPORT_HOLES: readonly NamedHole[] = [
  [
    "LISTENER_WITHOUT_TLS",
    "on every address",
    { plant: (b) => (b.static_resources.listeners[0].address.socket_address.address = "0.0.0.0") },
  ],
  [
    "TLS_TOO_OLD",
    "TLS 1.0",
    {
      overrides: {},
      plant: (b) => {
        const socket = b.static_resources.listeners[0].filter_chains[0].transport_socket;
        socket.typed_config.common_tls_context.tls_params.tls_minimum_protocol_version = "TLSv1_0";
      },
    },
  ],
  [
    "EARLY_DATA_ACCEPTED",
    "HTTP/3 as it is by default",
    { plant: (b, world) => b.static_resources.listeners.push(http3Listener(b, world, true)) },
  ],
  ["AUTHZ_WITHOUT_TLS", "over the network", { alone: true, plant: (b) => serviceMovedTo(b, "192.0.2.1") }],
  [
    "AUTHZ_NOT_VERIFIED",
    "any certificate will do",
    {
      alone: true,
      plant: (b) => {
        for (const one of serviceMovedTo(b, "192.0.2.1")) one.transport_socket = upstreamTls({});
      },
    },
  ],
  [
    "UPSTREAM_WITHOUT_TLS",
    "over the network",
    { alone: true, plant: (b) => movedTo(cluster(b, "backend"), "192.0.2.1") },
  ],
  [
    "UPSTREAM_NOT_VERIFIED",
    "a certificate for any name",
    {
      alone: true,
      plant: (b, { folder }) =>
        (movedTo(cluster(b, "backend"), "192.0.2.1").transport_socket = upstreamTls({
          validation_context: { trusted_ca: { filename: join(folder, "certificate.pem") } },
        })),
    },
  ],
  [
    "ADMIN_OPEN",
    "on every address",
    {
      alone: true,
      plant: (b, { adminPort }) =>
        (b.admin = { address: { socket_address: { address: "0.0.0.0", port_value: adminPort } } }),
    },
  ],
];
