import { rotateMasterKey } from "../../../src/control/encryption/rotate.ts";
import { createSecretBox } from "../../../src/control/platform/secret-box.ts";
import { createUnits, type UnitWriters } from "../../../src/control/platform/unit.ts";
import { openDatabase } from "../../../src/storage/index.ts";
import { SEALED_COLUMNS } from "../../../src/control/sealed-columns.ts";

/**
 * Rotates the master key of a database, says so in the middle of a batch, and goes no further until it is killed:
 * `rotate-child.ts <url> <key in hex> <previous key in hex>`.
 */
const [url = "", key = "", previous = ""] = process.argv.slice(2);
const nothing = () => Promise.resolve();
const writers: UnitWriters = { changes: nothing, events: nothing, deliveries: nothing, gateways: nothing };
const db = openDatabase(url);
const box = createSecretBox(Buffer.from(key, "hex"), [Buffer.from(previous, "hex")]);
const actor = { kind: "system", id: "child", name: "child" } as const;
let sessions = 0;
setInterval(() => undefined, 1_000);
await rotateMasterKey(
  { db, units: createUnits(db, writers), box },
  { actor, requestId: "req_child", clientIp: "127.0.0.1" },
  SEALED_COLUMNS,
  {
    batch: 2,
    async onBatch(table) {
      if (table !== "sessions") return;
      sessions += 1;
      if (sessions < 2) return;
      process.stdout.write("in the middle\n");
      await new Promise(() => undefined);
    },
  },
);
