export const EXIT_FINDINGS = 1;
export const EXIT_USAGE = 2;

/** Ends a command with a message on stderr and an exit code. */
export class ExitError extends Error {
  readonly code: typeof EXIT_FINDINGS | typeof EXIT_USAGE;

  constructor(message: string, code: typeof EXIT_FINDINGS | typeof EXIT_USAGE = EXIT_FINDINGS) {
    super(message);
    this.code = code;
  }
}
