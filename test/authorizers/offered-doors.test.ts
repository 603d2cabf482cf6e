import assert from "node:assert/strict";
import { atDoors, callersByPath, HTTP_DOOR_PATHS, type HttpDoorName } from "../../src/authorizers/index.ts";
import { HTTP_DOORS } from "../../src/config/schema-service.ts";

describe("authorizers: which doors the service over HTTP offers", () => {
  it("the configuration names every door", () => {
    assert.deepEqual([...HTTP_DOORS].sort(), Object.keys(HTTP_DOOR_PATHS).sort());
  });

  it("each path belongs to one door", () => {
    const paths = Object.values(HTTP_DOOR_PATHS).flat();
    assert.equal(new Set(paths).size, paths.length);
  });

  it("nothing is at the paths of the others", () => {
    const all = new Map(Object.values(HTTP_DOOR_PATHS).flatMap((paths) => paths.map((path) => [path, path])));
    for (const name of Object.keys(HTTP_DOOR_PATHS) as HttpDoorName[]) {
      assert.deepEqual([...atDoors(all, [name]).keys()], HTTP_DOOR_PATHS[name]);
      assert.deepEqual(
        callersByPath({ [name]: ["10.0.0.1"] }),
        new Map(HTTP_DOOR_PATHS[name].map((path) => [path, ["10.0.0.1"]])),
      );
    }
  });
});
