/** Times of day and days at which code that counts by days, weeks or months goes wrong; UTC. The most different ones first. */
export const MOMENTS: readonly string[] = [
  "2026-11-22T00:01:00Z",
  // the end of a month
  "2026-11-30T23:59:50Z",
  // a leap day
  "2028-02-29T04:45:00Z",
  "2026-11-25T04:45:00Z",
  "2026-11-25T23:59:00Z",
  "2026-12-31T00:01:00Z",
  "2028-03-01T00:01:00Z",
];
