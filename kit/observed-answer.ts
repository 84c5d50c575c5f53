// ObservedAnswer: an answer of an observability endpoint: a status and JSON text.
import type { ObservabilityProblem } from '@svc/contract';

/** `body`: JSON text; for a status other than 200 an ObservabilityProblem. */
export interface ObservedAnswer {
  readonly status: number;
  readonly body: string;
}

export function shown(value: object): ObservedAnswer {
  return { status: 200, body: JSON.stringify(value) };
}

export function problem(status: number, error: string, details?: unknown): ObservedAnswer {
  const body: ObservabilityProblem =
    details === undefined ? { status, error } : { status, error, details };
  return { status, body: JSON.stringify(body) };
}
