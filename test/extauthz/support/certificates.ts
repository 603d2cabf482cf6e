import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createAuthority as create } from "../../support/certificates.ts";

/** A certificate authority whose certificates lie as files in `folder`. */
export async function createAuthority(folder: string, name: string) {
  const authority = await create(name);
  const put = async (file: string, text: string) => {
    await writeFile(join(folder, file), text);
    return join(folder, file);
  };
  return {
    certificate: await put(`${name}.crt`, authority.certificate),
    /** Issues a certificate for 127.0.0.1. */
    issue: async (subject: string) => {
      const { certificate, privateKey } = await authority.issue("127.0.0.1", "localhost");
      return {
        certificate: await put(`${name}-${subject}.crt`, certificate),
        privateKey: await put(`${name}-${subject}.key`, privateKey),
      };
    },
  };
}
