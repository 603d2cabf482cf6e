/**
 * Headers by which proxies tell applications about the client: its address, and the scheme, host and port that it used.
 * Only trusted proxies may send them; `X-Forwarded-*` are recognized by their prefix.
 */
export const FORWARDING_NAMES: readonly string[] = [
  // the address
  ..."forwarded forwarded-for x-forwarded x-real-ip client-ip x-client-ip true-client-ip x-true-client-ip".split(
    " ",
  ),
  ..."x-cluster-client-ip fastly-client-ip fly-client-ip proxy-client-ip wl-proxy-client-ip x-proxyuser-ip".split(
    " ",
  ),
  ..."cf-connecting-ip cf-connecting-ipv6 cf-pseudo-ipv4 do-connecting-ip x-nf-client-connection-ip".split(
    " ",
  ),
  ..."cloudfront-viewer-address x-azure-clientip x-azure-socketip x-appengine-user-ip".split(" "),
  ..."x-vercel-forwarded-for x-original-forwarded-for x-envoy-external-address x-coming-from".split(" "),
  ..."x-remote-ip x-remote-addr remote-addr x-originating-ip x-forward-for x-appengine-remote-addr".split(
    " ",
  ),
  ..."incap-client-ip x-sucuri-clientip ali-cdn-real-ip cdn-src-ip".split(" "),
  // the scheme
  ..."x-scheme x-url-scheme x-original-scheme x-original-proto front-end-https x-arr-ssl wl-proxy-ssl".split(
    " ",
  ),
  ..."cf-visitor cloudfront-forwarded-proto x-appengine-https fastly-ssl x-ssl x-https".split(" "),
  // the host and port
  ..."x-host x-http-host-override x-real-host x-real-port x-original-host x-original-port".split(" "),
];

const NAMES: ReadonlySet<string> = new Set(FORWARDING_NAMES);

/**
 * Whether the name belongs to one product or another. A proxy passes on from the client what it does not know, and none knows all of
 * these, so a trusted proxy is not believed in them without being asked for it.
 *
 * @param name - in lower case
 */
export function isProductsOwn(name: string): boolean {
  return NAMES.has(name) && name !== "forwarded" && name !== "x-real-ip";
}

/** @param name - in lower case */
export function isForwarding(name: string): boolean {
  return name.startsWith("x-forwarded-") || NAMES.has(name);
}
