/** Where the parts of this room say what happens; a pino logger is one. */
export interface MessageLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
