// ApiTable: the table of the routes of an API, and what its rows alone do not say.
import type { ParametersIn, Problem, Route, Schema } from '@svc/client';
import type { Refused } from '@svc/host';

/** Rows by the names of the routes. */
export type RouteRows = Readonly<Record<string, Route<string>>>;

export interface ApiTable<Rows extends RouteRows> {
  readonly routes: Rows;
  /** Schemas of the path parameters, by their names. */
  readonly parameters: Readonly<Record<ParametersIn<Rows[keyof Rows]['path']>, Schema<unknown>>>;
  /** Finds the problems of the body that a request has. Absent: those of its schema. */
  readonly bodyProblems?: (
    name: keyof Rows,
    body: unknown,
    parameters: Readonly<Record<string, string>>,
  ) => readonly Problem[];
  /** Returns every status with which a route refuses, with the reason for it. */
  readonly refusalsOf: (route: Rows[keyof Rows]) => ReadonlyMap<number, string>;
  /** Returns whether a request that is refused so has done nothing, and may succeed if it is sent again (503). */
  readonly maySucceedLater: (refused: Refused) => boolean;
}
