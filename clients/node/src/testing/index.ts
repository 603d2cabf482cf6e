export { FakeGatehouse, type FakeGatehouseOptions } from "./fake-gatehouse.ts";
