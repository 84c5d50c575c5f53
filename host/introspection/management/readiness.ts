// Readiness: whether an instance should receive requests. Each part of the runtime has a check, which is evaluated
// for every report, so no result is out of date. The instance is ready when all checks pass.

export interface ReadinessCheck {
  /** Name of the part in the report, in one word. */
  readonly part: string;
  /** Returns the reason why the part is not ready; undefined if it is. */
  readonly failureReason: () => string | undefined;
}

/** The body of `GET /ready`. */
export interface ReadinessReport {
  readonly ready: boolean;
  readonly parts: readonly ReadyPart[];
}

export interface ReadyPart {
  readonly part: string;
  readonly ready: boolean;
  /** Why the part is not ready; absent if it is. */
  readonly reason?: string;
}

export function readinessReport(checks: readonly ReadinessCheck[]): ReadinessReport {
  const parts = checks.map(({ part, failureReason }): ReadyPart => {
    const reason = failureReason();
    return reason === undefined ? { part, ready: true } : { part, ready: false, reason };
  });
  return { ready: parts.every(({ ready }) => ready), parts };
}
