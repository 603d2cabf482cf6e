import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { openApiDocument } from "../../../../src/control/platform/frame/openapi.ts";
import { EVENT_TYPES } from "../../../../src/control/platform/events.ts";
import { EVENT_MEMBERS } from "../../../../src/control/resources/webhooks/payload.ts";
import { webhookRoutes } from "../../../../src/control/resources/webhooks/routes.ts";
import type { ControlContext } from "../../../../src/control/platform/context.ts";

describe("webhooks: docs/webhooks.md", () => {
  let rows: readonly (readonly string[])[];

  before(async () => {
    const text = await readFile(new URL("../../../../docs/webhooks.md", import.meta.url), "utf8");
    rows = text
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .map((line) =>
        line
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
  });

  it("lists every type of event, with the members that the code tells", () => {
    const listed = rows.filter(([type]) => /^`\w+\.\w+`$/.test(type ?? ""));
    assert.deepEqual(
      listed.map(([type, , members]) => [type, members]),
      EVENT_TYPES.map((type) => [`\`${type}\``, EVENT_MEMBERS[type].map((name) => `\`${name}\``).join(", ")]),
    );
  });

  it("lists every path", () => {
    const { paths } = openApiDocument(webhookRoutes({ settings: {} } as ControlContext), {
      publicUrl: "http://127.0.0.1",
      sessionCookie: "session",
    });
    const declared = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const described = rows.flatMap(([cell]) => {
      const [, methods, path] =
        /^((?:`?(?:GET|PUT|PATCH|POST|DELETE)`?(?:, )?)+) (\/\S+)`$/.exec(cell ?? "") ?? [];
      if (path === undefined) return [];
      return (methods ?? "")
        .replaceAll("`", "")
        .split(", ")
        .map((method) => `${method} ${path}`);
    });
    assert.deepEqual(described.sort(), declared.sort());
  });
});
