import {
  conditionsOfSet,
  formatPath,
  type AttributePath,
  type PlacedCondition,
  type PolicySetIR,
} from "../../policy/evaluation.ts";
import { nearestName } from "../../text/index.ts";
import { createForgedHeaders, type ForgedHeadersOptions } from "../headers/forged-headers.ts";
import { isProductsOwn } from "../headers/forwarding-headers.ts";
import { lookedUp } from "./needs.ts";

/** What a gateway's configuration provides for conditions. */
export interface Provisions {
  /** Names of attribute sources. */
  readonly sources: readonly string[];
  /** Attributes that claims are mapped to: `user.id`, ... */
  readonly claims: readonly string[];
  /** Tells whether clients may not use a header. */
  readonly headers: ForgedHeadersOptions;
  /** The identity headers for the application, each with its attribute. */
  readonly identityHeaders: Readonly<Record<string, string>>;
}

/** Something that a rule reads but that no request can have, because the configuration does not provide it. */
export interface NotProvided {
  readonly code: "source-not-configured" | "claim-not-mapped" | "header-not-delivered";
  readonly rule: PlacedCondition["rule"];
  readonly at: PlacedCondition["at"];
  readonly message: string;
  /** What to write instead, or what to add to the configuration. */
  readonly hint: string;
  /** The configuration key that is missing or in conflict. */
  readonly configure: string;
}

/** @returns what the rules of a set read although it is never provided; each item once per position */
export function findNotProvided(ir: PolicySetIR, provisions: Provisions): NotProvided[] {
  const isHidden = hiddenHeaders(provisions);
  const found: NotProvided[] = [];
  for (const { condition, rule, at } of conditionsOfSet(ir)) {
    const messages = new Set<string>();
    for (const what of condition.reads.flatMap((path) => readInVain(path, ir, provisions, isHidden))) {
      if (messages.has(what.message)) continue;
      messages.add(what.message);
      found.push({ ...what, rule, at });
    }
  }
  return found;
}

type What = Omit<NotProvided, "rule" | "at">;
type IsHidden = (header: string) => boolean;

function readInVain(
  path: AttributePath,
  ir: PolicySetIR,
  provisions: Provisions,
  isHidden: IsHidden,
): readonly What[] {
  const [root = ""] = path;
  const source = lookedUp(ir, root);
  if (source === undefined) return unread(path, provisions, isHidden);
  const key = unread(source.key, provisions, isHidden).map((what) => ({
    ...what,
    message: `\`${root}\` is looked up by \`${formatPath(source.key)}\`: ${what.message}`,
  }));
  if (provisions.sources.includes(source.name)) return key;
  const nearest = nearestName(source.name, provisions.sources);
  const what: What = {
    code: "source-not-configured",
    message: `\`${root}\` is always unknown: its attribute source \`${source.name}\` is not configured`,
    hint:
      nearest === undefined
        ? `configure \`attribute_sources.${source.name}\``
        : `configure \`attribute_sources.${source.name}\`; did you mean \`${nearest}\`?`,
    configure: `attribute_sources.${source.name}`,
  };
  return [what, ...key];
}

function unread(path: AttributePath, provisions: Provisions, isHidden: IsHidden): readonly What[] {
  const [root, member, name] = path;
  if ((root === "user" || root === "customer") && member !== undefined) {
    return claimOf(`${root}.${member}`, provisions);
  }
  if (root !== "request" || member !== "headers" || name === undefined || !isHidden(name)) return [];
  const attribute = provisions.identityHeaders[name];
  return [
    {
      code: "header-not-delivered",
      message: `no request has the header \`${name}\`, because clients may not send it`,
      hint:
        attribute === undefined
          ? "if clients may set it freely, list it in `identity.client_headers`"
          : `the gateway sets it for the application: read \`${attribute}\` instead`,
      configure: attribute === undefined ? "identity.client_headers" : "identity.headers",
    },
  ];
}

function claimOf(attribute: string, { claims }: Provisions): readonly What[] {
  if (claims.includes(attribute)) return [];
  // ignore the common root when comparing names
  const root = attribute.slice(0, attribute.indexOf(".") + 1);
  const members = claims.filter((claim) => claim.startsWith(root)).map((claim) => claim.slice(root.length));
  const nearest = nearestName(attribute.slice(root.length), members);
  const mapping = `map a claim to it: \`identity: { claims: { ${attribute}: <claim> } }\``;
  return [
    {
      code: "claim-not-mapped",
      message: `no caller has \`${attribute}\`, because no claim is mapped to it`,
      hint: nearest === undefined ? mapping : `did you mean \`${root}${nearest}\`? Otherwise ${mapping}`,
      configure: `identity.claims.${attribute}`,
    },
  ];
}

function hiddenHeaders({ headers }: Provisions): IsHidden {
  const forged = createForgedHeaders(headers);
  return (name) =>
    forged([[name, ""]]).length > 0 || (isProductsOwn(name) && !headers.accepted.includes(name));
}
