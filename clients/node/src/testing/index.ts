export { FakeGatehouse, type FakeGatehouseOptions } from "./fake-gatehouse.ts";
export type { EventSubject } from "./events.ts";
