import { createLog } from "../../../src/telemetry/log.ts";
import type { ControlContext } from "../../../src/control/platform/context.ts";
import { createSecretBox } from "../../../src/control/platform/secret-box.ts";
import { createUnits, type UnitWriters } from "../../../src/control/platform/unit.ts";
import { startDeliveries } from "../../../src/control/resources/webhooks/start-deliveries.ts";
import { databaseNow, openDatabase } from "../../../src/storage/index.ts";
import { TEST_SETTINGS } from "../../support/control.ts";

/** Delivers what is in the outbox of a database, until it is killed: `deliver-child.ts <url> <master key in hex>`. */
const [url = "", key = ""] = process.argv.slice(2);
const nothing = () => Promise.resolve();
const writers: UnitWriters = { changes: nothing, events: nothing, deliveries: nothing, gateways: nothing };
const db = openDatabase(url);
const context: ControlContext = {
  settings: { ...TEST_SETTINGS, publicUrl: "http://127.0.0.1" },
  db,
  units: createUnits(db, writers),
  box: createSecretBox(Buffer.from(key, "hex")),
  clock: Date.now,
  databaseNow,
  log: createLog({ level: "error", name: "child" }),
};
startDeliveries(context);
process.stdout.write("ready\n");
