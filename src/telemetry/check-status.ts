/** Whether one condition of readiness holds, and a description of its state. Contains no secret: `/readyz` shows it. */
export interface CheckStatus {
  readonly ok: boolean;
  readonly detail: string;
}
