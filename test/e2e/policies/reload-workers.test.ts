import { allWorkersAnswer } from "../../support/all-workers.ts";
import { eventually } from "../../support/eventually.ts";
import { startGateway, type RunningGateway } from "../../support/gateway.ts";
import { startIssuer, type TestIssuer } from "../../support/providers/issuer.ts";
import {
  startRecordingUpstream,
  type RecordingUpstream,
} from "../../support/upstreams/recording-upstream.ts";

const policies = (version: string, open: boolean) =>
  `version: ${version}\npolicies:\n  - { resource: "GET /x", condition: "${open}" }\n`;

describe("end to end: policies that change while a worker does not do well", function () {
  this.timeout(180_000);
  let upstream: RecordingUpstream;
  let issuer: TestIssuer;
  let gateway: RunningGateway;

  beforeEach(async () => {
    [upstream, issuer] = await Promise.all([startRecordingUpstream(), startIssuer()]);
    gateway = await startGateway({
      backend: upstream.url,
      issuer,
      policies: { "default.yaml": policies("v1", true) },
      nodes: 2,
    });
  });
  afterEach(async () => {
    await gateway.stop();
    await Promise.all([issuer.close(), upstream.close()]);
  });

  const workers = async () => (await gateway.children()).workers;
  const all = (what: string, status: number) =>
    allWorkersAnswer(what, String(status), async () => {
      const { status } = await fetch(`${gateway.url}/x`, { headers: { connection: "close" } });
      return String(status);
    });

  it("change in both after one was killed in the middle, and go on changing", async () => {
    const [one, other] = await workers();
    process.kill(other!, "SIGSTOP");
    await gateway.writePolicies({ "default.yaml": policies("v2", true) });
    process.kill(one!, "SIGKILL");
    process.kill(other!, "SIGCONT");
    for (const [version, open] of [
      ["v3", false],
      ["v4", true],
      ["v5", false],
    ] as const) {
      await gateway.writePolicies({ "default.yaml": policies(version, open) });
      await all(`${version} is in force`, open ? 200 : 403);
    }
  });

  it("change though one hangs: it is ended, and its successor decides by them", async () => {
    const [hung] = await workers();
    process.kill(hung!, "SIGSTOP");
    await gateway.writePolicies({ "default.yaml": policies("v2", false) });
    await eventually("another one is in its place", async () => {
      const now = await workers();
      return now.length === 2 && !now.includes(hung!);
    });
    await all("the new set is in force", 403);
  });
});
