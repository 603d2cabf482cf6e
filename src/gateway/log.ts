/** Where the parts of this room say what happens; a pino logger is one. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
