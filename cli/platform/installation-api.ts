// InstallationApi: the routes that answer at the URL of an installation: those of the control plane and, below /api/platform/v1/,
// those of the webhook service, if there is one. Both take the same token.
import {
  createClient,
  createWebhooksClient,
  ROUTES,
  WEBHOOK_ROUTES,
  type AnswerOfRoute,
  type ClientOptions,
  type DeliveryPage,
  type InputOfRoute,
  type Route,
} from '@svc/client';

const INSTALLATION_ROUTES = { ...ROUTES, ...WEBHOOK_ROUTES };
type Routes = typeof INSTALLATION_ROUTES;

export type RouteName = keyof Routes;
/** Input of a route: path parameters and query parameters by their names, and `body`. */
export type InputOf<Name extends RouteName> = InputOfRoute<Routes[Name]>;
/** Value with which a call of a route resolves. */
export type AnswerOf<Name extends RouteName> = Name extends 'listDeliveries'
  ? DeliveryPage
  : AnswerOfRoute<Routes[Name]>;

type Call = (input: unknown, options: { readonly signal?: AbortSignal }) => Promise<unknown>;
export type InstallationClient = Readonly<Record<RouteName, Call>>;

export function createInstallationClient(options: ClientOptions): InstallationClient {
  return {
    ...createClient(options),
    ...createWebhooksClient(options),
  } as unknown as InstallationClient;
}

export function routeOf(name: RouteName): Route<string> {
  return INSTALLATION_ROUTES[name];
}

/** Returns the body of an answer, as the server has sent it. */
export function bodyOf(name: RouteName, answer: unknown): unknown {
  return name === 'listDeliveries' ? (answer as DeliveryPage).entries : answer;
}

const ADVICE: Readonly<Record<number, string>> = {
  403: ' svc whoami shows your roles.',
  404: ' svc org list, svc project list and svc service list show what you can see.',
};
const WEBHOOK_ADVICE: Readonly<Record<number, string>> = {
  403: ' The roles are those of your access token: log in again once they have been changed.',
  404:
    ' Check the tenant, and whether you are a member of it. The installation may also have no webhook service, which ' +
    'svc up --webhooks runs.',
};
/** Advice about routes of one subscription or one delivery. */
const WEBHOOK_ID_ADVICE: Readonly<Record<number, string>> = {
  ...WEBHOOK_ADVICE,
  404: ' svc webhooks list and svc webhooks deliveries show what the tenant has.',
};

/** Returns what to do about a refusal with the status: a sentence after a blank, or nothing. */
export function adviceFor(name: RouteName, status: number): string {
  if (!Object.hasOwn(WEBHOOK_ROUTES, name)) return ADVICE[status] ?? '';
  const hasId = /\{(?:webhookId|deliveryId)\}/.test(routeOf(name).path);
  return (hasId ? WEBHOOK_ID_ADVICE : WEBHOOK_ADVICE)[status] ?? '';
}
