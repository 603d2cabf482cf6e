/** Stands where a secret stood. */
export const HIDDEN = "***";
