/** Times of day and days at which code that counts by days, weeks or months goes wrong; UTC. */
export const MOMENTS: readonly string[] = [
  "2026-11-22T00:01:00Z",
  "2026-11-25T04:45:00Z",
  "2026-11-25T23:59:00Z",
  // the last of a month and of a year
  "2026-11-30T23:59:50Z",
  "2026-12-31T00:01:00Z",
  // a leap day, and what follows it
  "2028-02-29T04:45:00Z",
  "2028-03-01T00:01:00Z",
];
