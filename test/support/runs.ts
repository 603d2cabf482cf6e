/** How many cases a property is tried with: `normal`, times FUZZ_FACTOR where `make fuzz` sets it. */
export function runs(normal: number): number {
  return normal * Number(process.env["FUZZ_FACTOR"] ?? 1);
}
