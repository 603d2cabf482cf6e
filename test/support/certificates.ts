import "reflect-metadata"; // @peculiar/x509 asks for it before it is loaded
import { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import {
  BasicConstraintsExtension,
  cryptoProvider,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  type X509Certificate,
} from "@peculiar/x509";

cryptoProvider.set(webcrypto);

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A certificate authority of its own. */
export interface Authority {
  readonly certificate: string;
  /** Issues a certificate, P-256, valid for these names and addresses. */
  issue(...hosts: readonly string[]): Promise<KeyPair>;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY = 24 * 3600 * 1000;

/** Makes a certificate authority. */
export async function createAuthority(name: string): Promise<Authority> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const authority = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity(),
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  return {
    certificate: authority.toString("pem"),
    async issue(...hosts) {
      const own = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
      const certificate = await X509CertificateGenerator.create({
        subject: `CN=${hosts[0] ?? name}`,
        issuer: authority.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        ...validity(),
        extensions: [alternativeNames(hosts)],
      });
      return pair(certificate, own.privateKey);
    },
  };
}

/** A certificate that is its own authority. */
export async function selfSigned(host: string): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${host}`,
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity(),
    extensions: [alternativeNames([host])],
  });
  return pair(certificate, keys.privateKey);
}

function alternativeNames(hosts: readonly string[]): SubjectAlternativeNameExtension {
  return new SubjectAlternativeNameExtension(
    hosts.map((host) => ({ type: isIP(host) === 0 ? ("dns" as const) : ("ip" as const), value: host })),
  );
}

function validity() {
  return { notBefore: new Date(Date.now() - DAY), notAfter: new Date(Date.now() + 30 * DAY) };
}

async function pair(certificate: X509Certificate, key: webcrypto.CryptoKey): Promise<KeyPair> {
  const der = await webcrypto.subtle.exportKey("pkcs8", key);
  return {
    certificate: certificate.toString("pem"),
    privateKey: `${PemConverter.encode(der, "PRIVATE KEY")}\n`,
  };
}
