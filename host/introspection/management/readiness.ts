// Readiness: whether an instance can be routed to. Each part of the runtime that has an opinion says it itself, each time
// it is asked, so none of them is ever out of date; the instance is ready when all of them agree.

export interface Opinion {
  /** One word, which the answer names the part by. */
  readonly part: string;
  /** Why it does not agree; undefined: it does. */
  readonly objection: () => string | undefined;
}

/** The body of `GET /ready`. */
export interface ReadinessReport {
  readonly ready: boolean;
  readonly parts: readonly ReadyPart[];
}

export interface ReadyPart {
  readonly part: string;
  readonly ready: boolean;
  /** Why it is not. */
  readonly reason?: string;
}

export function readinessReport(opinions: readonly Opinion[]): ReadinessReport {
  const parts = opinions.map(({ part, objection }): ReadyPart => {
    const reason = objection();
    return reason === undefined ? { part, ready: true } : { part, ready: false, reason };
  });
  return { ready: parts.every(({ ready }) => ready), parts };
}
