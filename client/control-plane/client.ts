// Client: a function for each route of the control plane, made from the table of routes.
import { createApiClient, type ApiClient, type ClientOptions } from './api-client.ts';
import { bodyValueProblems } from './request.ts';
import type { AnswerOfRoute, InputOfRoute } from './route.ts';
import { ROUTES, type RouteName } from './routes.ts';

/** Input of a route: path parameters and query parameters by their names, and `body`. */
export type InputOf<Name extends RouteName> = InputOfRoute<(typeof ROUTES)[Name]>;
/** Value of a route's answer; undefined for one without a body. */
export type AnswerOf<Name extends RouteName> = AnswerOfRoute<(typeof ROUTES)[Name]>;

/**
 * A function for each route. It rejects with InvalidRequestError, ApiError or NoAnswerError, with the reason of the caller's
 * signal, or with TypeError for an invalid token or key.
 */
export type Client = ApiClient<typeof ROUTES>;

/** Creates a client of a control plane. Throws TypeError for an invalid base URL or time. */
export function createClient(options: ClientOptions): Client {
  return createApiClient(
    {
      program: 'a control plane',
      routes: ROUTES,
      bodyProblems: (name, body, { name: service }) =>
        bodyValueProblems(name, body, typeof service === 'string' ? { name: service } : {}),
    },
    options,
  );
}
