import assert from "node:assert/strict";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import {
  startAnsweringUpstream,
  type AnsweringUpstream,
} from "../../support/upstreams/answering-upstream.ts";

/** What the kubelet makes of a ConfigMap: `..data` is replaced as a whole, and what the pod opens are links into it. */
class ConfigMapVolume {
  readonly directory: string;
  #version = 0;
  #data = "";

  constructor(directory: string) {
    this.directory = directory;
  }

  async write(text: string): Promise<void> {
    this.#version += 1;
    const before = this.#data;
    this.#data = `..2026_11_24_${this.#version}`;
    await mkdir(join(this.directory, this.#data, "policies"), { recursive: true });
    await writeFile(join(this.directory, this.#data, "policies/default.yaml"), text);
    await symlink(this.#data, join(this.directory, "..data_tmp"));
    await rename(join(this.directory, "..data_tmp"), join(this.directory, "..data"));
    if (before === "") await symlink("..data/policies", join(this.directory, "policies"));
    else await rm(join(this.directory, before), { recursive: true });
  }
}

describe("end to end: policies in a ConfigMap", () => {
  let upstream: AnsweringUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;
  let volume: ConfigMapVolume;
  const permitting = (path: string, condition = "true") =>
    `policies:\n  - { resource: GET ${path}, condition: "${condition}" }\n`;

  before(async () => {
    volume = new ConfigMapVolume(await temporaryDirectory());
    await volume.write(permitting("/one"));
    [upstream, issuer] = await Promise.all([startAnsweringUpstream(), startIssuer()]);
    gateway = await startGateway({
      ...{ backend: upstream.url, issuer, policies: {} },
      config: { policies: { directory: join(volume.directory, "policies") } },
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([upstream.close(), issuer.close()]);
  });

  const ask = async (path: string) => (await fetch(`${gateway.url}${path}`)).status;

  it("are in force without a restart, time and again; a version with errors changes nothing", async () => {
    assert.deepEqual([await ask("/one"), await ask("/two")], [200, 403]);
    await volume.write(permitting("/two"));
    await eventually("the second version", async () => (await ask("/two")) === 200);
    assert.equal(await ask("/one"), 403);
    await volume.write(permitting("/three", "user.id =="));
    await eventually("the error", () => gateway.stderr().includes("default.yaml:2"));
    assert.deepEqual([await ask("/two"), await ask("/three")], [200, 403]);
    await volume.write(permitting("/three"));
    await eventually("the version that is right", async () => (await ask("/three")) === 200);
    assert.equal(await ask("/two"), 403);
  });
});
