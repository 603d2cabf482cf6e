/** Whether one thing that a process needs is as it should be, and in words how it is. Holds no secret: `/readyz` shows it. */
export interface CheckStatus {
  readonly ok: boolean;
  readonly detail: string;
}
