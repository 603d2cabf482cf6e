import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";
import { fileURLToPath } from "node:url";
import { pythonEnvironment, pythonPackages } from "./support/python-project.ts";

const SOURCE = fileURLToPath(new URL("../../../clients/python/src", import.meta.url));
const SCRIPT = fileURLToPath(new URL("support/signatures.py", import.meta.url));
/** The order of P-256 (SP 800-186). */
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

type Row = readonly [x: string, y: string, message: string, signature: string];

const hex = (value: bigint) => value.toString(16).padStart(64, "0");

describe("ES256 in the client for Python", () => {
  for (const name of ["the library's own arithmetic", "cryptography"] as const) {
    it(`${name} accepts and refuses what Node.js does`, () => compare(name));
  }

  async function compare(name: "the library's own arithmetic" | "cryptography"): Promise<void> {
    const rows: Row[] = Array.from({ length: 25 }).flatMap(() => {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const jwk = publicKey.export({ format: "jwk" });
      const [x, y] = [jwk.x, jwk.y].map((part) => Buffer.from(part ?? "", "base64url").toString("hex"));
      const message = randomBytes(40).toString("hex");
      const good = sign("sha256", Buffer.from(message, "hex"), {
        key: privateKey,
        dsaEncoding: "ieee-p1363",
      });
      const [r, s] = [good.subarray(0, 32), good.subarray(32)].map((part) =>
        BigInt(`0x${part.toString("hex")}`),
      );
      const [point, other] = [[x!, y!] as const, randomBytes(40).toString("hex")];
      const signatures = [
        good.toString("hex"),
        // the same signature to some, and good by the standard
        hex(r!) + hex(N - s!),
        hex(s!) + hex(r!),
        hex(0n) + hex(s!),
        hex(r!) + hex(0n),
        hex(N) + hex(s!),
        hex(r!) + hex(N),
        hex(r!) + hex((s! + 1n) % N),
        good.toString("hex").slice(2),
      ];
      return [
        ...signatures.map((signature): Row => [...point, message, signature]),
        [...point, other, good.toString("hex")],
      ];
    });
    const expected = rows.map(([x, y, message, signature]) => {
      const [xBytes, yBytes] = [x, y].map((part) => Buffer.from(part, "hex").toString("base64url"));
      const key = createPublicKey({
        key: { kty: "EC", crv: "P-256", x: xBytes!, y: yBytes! },
        format: "jwk",
      });
      const options = { key, dsaEncoding: "ieee-p1363" } as const;
      return verify("sha256", Buffer.from(message, "hex"), options, Buffer.from(signature, "hex"));
    });
    // keys that are on no such curve, which Node.js does not even read
    const strange: Row[] = ["00".repeat(32), "ff".repeat(32)].map((y) => [
      rows[0]![0],
      y,
      rows[0]![2],
      rows[0]![3],
    ]);
    const packages = [await pythonPackages("client")];
    if (name === "cryptography") packages.push(await pythonPackages("crypto"));
    const input = JSON.stringify([...rows, ...strange]);
    const options = { env: pythonEnvironment(SOURCE, ...packages), input };
    // without the packages of the machine
    const told = execFileSync("python3", ["-S", SCRIPT], options).toString();
    const { fast, good } = JSON.parse(told) as { fast: boolean; good: boolean[] };
    assert.equal(fast, name === "cryptography");
    assert.deepEqual(good, [...expected, false, false]);
    assert.equal(expected.filter((one) => one).length, 50);
  }
});
