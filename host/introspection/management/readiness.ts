// Readiness: whether an instance should receive requests. Each part of the runtime has a check, which is evaluated
// for every report, so no result is out of date. The instance is ready when all checks pass that are required.

export interface ReadinessCheck {
  /** Name of the part in the report, in one word. */
  readonly part: string;
  /** Returns the reason why the part is not ready; undefined if it is. */
  readonly failureReason: () => string | undefined;
  /** False: the instance receives requests all the same, and the report informs about the part. Default: true. */
  readonly isRequired?: boolean;
}

/** The body of `GET /ready`. */
export interface ReadinessReport {
  readonly ready: boolean;
  /** True while the instance waits for a data folder that another process uses, and is ready otherwise; absent if not. */
  readonly prepared?: true;
  readonly parts: readonly ReadyPart[];
}

export interface ReadyPart {
  readonly part: string;
  readonly ready: boolean;
  /** False: the instance is ready without the part. Absent: it is not. */
  readonly required?: false;
  /** Why the part is not ready; absent if it is. */
  readonly reason?: string;
}

export function readinessReport(
  checks: readonly ReadinessCheck[],
  isPrepared = false,
): ReadinessReport {
  const parts = checks.map(({ part, failureReason, isRequired = true }): ReadyPart => {
    const reason = failureReason();
    return {
      part,
      ready: reason === undefined,
      ...(isRequired ? {} : { required: false }),
      ...(reason === undefined ? {} : { reason }),
    };
  });
  return {
    ready: parts.every(({ ready, required }) => ready || required === false),
    ...(isPrepared ? { prepared: true } : {}),
    parts,
  };
}
