import { generateKeyPairSync, sign } from "node:crypto";
import { isIP } from "node:net";

export interface Certificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A real self-signed certificate (X.509 v3, P-256) for a name or address, valid for a year; its own authority. */
export function selfSigned(host: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(0x30, Buffer.from("06082a8648ce3d040302", "hex")); // ecdsa-with-SHA256
  const commonName = der(0x30, Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from(host)));
  const name = der(0x30, der(0x31, commonName));
  const validity = der(0x30, time(-86_400_000), time(365 * 86_400_000));
  const alternative =
    isIP(host) === 4 ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host));
  const subjectAltName = der(0x30, Buffer.from("0603551d11", "hex"), der(0x04, der(0x30, alternative)));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, subjectAltName)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, privateKey));
  const encoded = der(0x30, body, algorithm, signature).toString("base64").replaceAll(/.{64}/g, "$&\n");
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${encoded}\n-----END CERTIFICATE-----\n`,
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function time(offset: number): Buffer {
  const text = new Date(Date.now() + offset).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return der(0x17, Buffer.from(text.slice(2))); // UTCTime, which it must be before 2050
}

/** One DER element: tag, length, content. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const length = content.length;
  const header =
    length < 128
      ? [tag, length]
      : length < 256
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
}
