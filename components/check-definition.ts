// CheckDefinition: a function that runs before the handlers of several routes and holds what they have in common, with what it
// declares for their description.
import type { Awaitable } from '@svc/model/call';
import type { Ok, Refused } from './result.ts';
import type { ErrorResponse, Response } from './route-answer.ts';
import type { CheckedContext, CheckRequest } from './route-request.ts';

/** How callers show who they are. It is a description: a check or the handler judges what they send. */
export type Security =
  | {
      /** Scheme of the header `Authorization`. */
      readonly scheme: 'bearer' | 'basic';
      /** Realm in the header `WWW-Authenticate` of a 401. Default: `svc`. */
      readonly realm?: string;
      readonly description?: string;
    }
  | {
      readonly scheme: 'header';
      /** Header that has the key. */
      readonly name: string;
      readonly description?: string;
    };

/** The declarations of a route, or of a check before it, about its refusals. */
export interface Declared {
  /** How callers show who they are. A 401 without `WWW-Authenticate` is given that of the scheme. */
  readonly security?: Security;
  /** Reasons for refusals, by status: `{ 409: 'the id was used before' }`. */
  readonly refusals?: Readonly<Record<number, string>>;
}

/** A check with the types erased. */
export type AnyCheck = (request: CheckRequest, context: CheckedContext<unknown>) => unknown;

/** A check before the handler of a route. */
export interface CheckDefinition {
  readonly declared: Declared;
  /** Makes the function that runs in one service, with the state that it has there. */
  start(): AnyCheck;
}

/** Type of what a check passes on: its result, or the value of an entity's result. */
export type GivenBy<Checked> = Checked extends Refused | ErrorResponse | Response<unknown>
  ? never
  : Checked extends Ok<infer Value>
    ? Value
    : Checked;

/** A check; its context has the result of the check before it, if there is one. */
export type Check<Context, Checked> = (
  request: CheckRequest,
  context: Context,
) => Awaitable<Checked>;

/** Merges declarations: the last security counts, and different reasons for one status are joined. */
export function mergedDeclarations(all: readonly Declared[]): Declared {
  const security = all.findLast((one) => one.security !== undefined)?.security;
  const reasons = new Map<string, Set<string>>();
  for (const { refusals = {} } of all)
    for (const [status, reason] of Object.entries(refusals))
      reasons.set(status, (reasons.get(status) ?? new Set()).add(reason));
  return {
    ...(security === undefined ? {} : { security }),
    refusals: Object.fromEntries(
      [...reasons].map(([status, some]) => [status, [...some].join('; ')]),
    ),
  };
}
