/** The log of this room; a pino logger is one. */
export interface MessageLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
