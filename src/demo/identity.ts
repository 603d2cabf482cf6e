import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { importJWK, SignJWT } from "jose";
import { loadOrCreateKey, publicPart, writeFileAtomically } from "./key-file.ts";
import { PEOPLE, personOfRole, type DemoRole, type Person } from "./people.ts";

/** Names nothing that answers: the demo's keys are read from a file, never from this address. */
export const DEMO_ISSUER = "http://demo.gatehouse.localhost";
export const DEMO_AUDIENCE = "gatehouse-demo";

export interface DemoTokenOptions {
  readonly role: DemoRole;
  /** `user.id`. A known one brings that person's name, email, department, customer and assigned customers. */
  readonly user?: string;
  readonly customer?: string;
  readonly department?: string;
  readonly permissions?: readonly string[];
  /** Seconds, by default an hour. Negative: expired that long ago (verifiers tolerate some 30 s of clock skew). */
  readonly expiresIn?: number;
}

/** A stand-in for an identity provider, for trying the gateway on one machine. */
export interface DemoIdentity {
  readonly issuer: string;
  readonly audience: string;
  /** Path of the public keys, a JWKS (RFC 7517). */
  readonly jwksFile: string;
  /** @returns a signed JWT. */
  token(options: DemoTokenOptions): Promise<string>;
}

const HOUR = 3600;

/**
 * Makes an ES256 key pair in `directory`, or uses the one that is there already; any number of processes may do so
 * at once and end up with the same key. Beside the key lies its public part as a JWKS.
 *
 * @throws when the directory cannot be written to, or holds a key file that is damaged.
 */
export async function createDemoIdentity(directory: string): Promise<DemoIdentity> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const jwk = await loadOrCreateKey(join(directory, "demo-key.json"));
  const jwksFile = join(directory, "demo-jwks.json");
  await writeFileAtomically(
    jwksFile,
    `${JSON.stringify({ keys: [publicPart(jwk)] }, undefined, 2)}\n`,
    0o644,
  );
  const key = await importJWK(jwk, "ES256");

  return {
    issuer: DEMO_ISSUER,
    audience: DEMO_AUDIENCE,
    jwksFile,
    async token(options) {
      const { id, ...claims } = subjectOf(options);
      const lifetime = options.expiresIn ?? HOUR;
      const now = Math.floor(Date.now() / 1000);
      const expires = now + lifetime;
      return await new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", kid: jwk.kid, typ: "JWT" })
        .setIssuer(DEMO_ISSUER)
        .setAudience(DEMO_AUDIENCE)
        .setSubject(id)
        .setIssuedAt(lifetime > 0 ? now : expires - HOUR) // an expired token has been issued before it expired
        .setExpirationTime(expires)
        .sign(key);
    },
  };
}

/** Who the token is about: a person of the demo, or a stranger of whom only the options tell anything. */
function subjectOf(options: DemoTokenOptions): Partial<Person> & { readonly id: string } {
  const { role, user, customer, department, permissions } = options;
  const ofRole = personOfRole(role);
  const known = user === undefined ? ofRole : PEOPLE.find((person) => person.id === user);
  return {
    permissions: ofRole.permissions,
    ...(known === undefined ? { id: user ?? ofRole.id } : { ...known, permissions: ofRole.permissions }),
    role,
    ...(customer !== undefined && { customer_id: customer }),
    ...(department !== undefined && { department }),
    ...(permissions !== undefined && { permissions }),
  };
}
