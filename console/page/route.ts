// View: the screen that the address after '#' selects, so that every screen has a link and an entry in the
// browser's history. The functions are pure.
import { webhooksHashOf, webhooksViewOf, type WebhooksView } from './webhooks-route.ts';

export type View = { readonly screen: 'services' } | WebhooksView | ServiceView;

/** A screen of one service. */
export type ServiceView =
  | { readonly screen: 'overview'; readonly instanceId: string }
  | {
      readonly screen: 'routes';
      readonly instanceId: string;
      readonly route: RouteName | undefined;
    }
  | TracesView
  | { readonly screen: 'trace'; readonly instanceId: string; readonly traceId: string }
  | {
      readonly screen: 'entities';
      readonly instanceId: string;
      readonly component: string | undefined;
      readonly id: string | undefined;
      readonly tab: 'journal' | 'now';
      /** The selected sequence number; undefined: the newest record. */
      readonly at: number | undefined;
      /** Selected query of the tab 'now'. */
      readonly query: string | undefined;
    }
  | {
      readonly screen: 'views';
      readonly instanceId: string;
      /** The view whose rows are shown, and the query that finds them. */
      readonly view: string | undefined;
      readonly query: string | undefined;
    }
  | {
      readonly screen: 'timers';
      readonly instanceId: string;
      /** Undefined: timers in any state. */
      readonly state: 'pending' | 'dead' | undefined;
    }
  | {
      readonly screen: 'consumers';
      readonly instanceId: string;
      /** The consumer whose lanes are shown. */
      readonly consumer: string | undefined;
    }
  | { readonly screen: 'faults'; readonly instanceId: string };

export interface TracesView {
  readonly screen: 'traces';
  readonly instanceId: string;
  readonly filter: TraceFilter;
  /** Cursor of the page; undefined: the page begins with the newest trace. */
  readonly after: string | undefined;
}

export type Screen = View['screen'];

export interface RouteName {
  readonly method: string;
  /** Template of the route: '/carts/{cartId}'. */
  readonly path: string;
}

export interface TraceFilter {
  /** Name of a component or an endpoint; empty: all. */
  readonly component: string;
  /** Outcomes to be listed; empty: all. */
  readonly outcomes: readonly string[];
  /** Minimum duration in milliseconds as the user typed it; empty: none. */
  readonly minMs: string;
  /** Text that a trace contains; empty: any. */
  readonly text: string;
}

export const NO_FILTER: TraceFilter = { component: '', outcomes: [], minMs: '', text: '' };

/** Returns the view of an address; the list of services if the address names nothing else. */
export function viewOf(hash: string): View {
  const [path, query] = splitOnce(hash.replace(/^#/, ''), '?');
  const [, mark, instance, section, ...rest] = path.split('/');
  const asked = new URLSearchParams(query);
  if (mark === 'webhooks') return webhooksViewOf(path.split('/').slice(2).map(decoded), asked);
  if (mark !== 's' || !instance) return { screen: 'services' };
  const instanceId = decoded(instance);
  switch (section) {
    case 'routes': {
      const [method, ...segments] = rest;
      const route =
        method === undefined ? undefined : { method, path: `/${segments.map(decoded).join('/')}` };
      return { screen: 'routes', instanceId, route };
    }
    case 'traces':
      if (rest[0]) return { screen: 'trace', instanceId, traceId: decoded(rest[0]) };
      return {
        screen: 'traces',
        instanceId,
        filter: filterOf(asked),
        after: asked.get('after') ?? undefined,
      };
    case 'entities':
      return {
        screen: 'entities',
        instanceId,
        component: rest[0] ? decoded(rest[0]) : undefined,
        id: rest[1] ? decoded(rest[1]) : undefined,
        tab: asked.has('query') ? 'now' : 'journal',
        at: sequenceNumber(asked.get('at')),
        query: asked.get('query') ?? undefined,
      };
    case 'views':
      return {
        screen: 'views',
        instanceId,
        view: rest[0] ? decoded(rest[0]) : undefined,
        query: rest[0] && rest[1] ? decoded(rest[1]) : undefined,
      };
    case 'timers': {
      const state = asked.get('state');
      return {
        screen: 'timers',
        instanceId,
        state: state === 'pending' || state === 'dead' ? state : undefined,
      };
    }
    case 'consumers':
      return { screen: 'consumers', instanceId, consumer: rest[0] ? decoded(rest[0]) : undefined };
    case 'faults':
      return { screen: 'faults', instanceId };
    case undefined:
    default:
      return { screen: 'overview', instanceId };
  }
}

export function hashOf(view: View): string {
  if (view.screen === 'services') return '#/';
  if (!isOfService(view)) return webhooksHashOf(view);
  const service = `#/s/${encodeURIComponent(view.instanceId)}`;
  switch (view.screen) {
    case 'overview':
      return service;
    case 'routes': {
      if (view.route === undefined) return `${service}/routes`;
      const path = view.route.path.split('/').map(encodedSegment).join('/');
      return `${service}/routes/${view.route.method}${path}`;
    }
    case 'traces':
      return `${service}/traces${queryOf(view.filter, view.after)}`;
    case 'trace':
      return `${service}/traces/${encodeURIComponent(view.traceId)}`;
    case 'entities': {
      let hash = `${service}/entities`;
      if (view.component === undefined) return hash;
      hash += `/${encodeURIComponent(view.component)}`;
      if (view.id === undefined) return hash;
      hash += `/${encodeURIComponent(view.id)}`;
      if (view.tab === 'now') return `${hash}?query=${encodeURIComponent(view.query ?? '')}`;
      return view.at === undefined ? hash : `${hash}?at=${view.at}`;
    }
    case 'views':
      if (view.view === undefined) return `${service}/views`;
      return `${service}/views/${encodeURIComponent(view.view)}${view.query === undefined ? '' : `/${encodeURIComponent(view.query)}`}`;
    case 'timers':
      return `${service}/timers${view.state === undefined ? '' : `?state=${view.state}`}`;
    case 'consumers':
      return `${service}/consumers${view.consumer === undefined ? '' : `/${encodeURIComponent(view.consumer)}`}`;
    case 'faults':
      return `${service}/faults`;
    default:
      return service;
  }
}

export function isOfService(view: View): view is ServiceView {
  return 'instanceId' in view;
}

/** Returns the same screen for another instance of the service; its list of traces begins with the newest. */
export function ofInstance(view: View, instanceId: string): View {
  if (!isOfService(view)) return view;
  return view.screen === 'traces' ? tracesView(instanceId, view.filter) : { ...view, instanceId };
}

export function tracesView(
  instanceId: string,
  filter: TraceFilter = NO_FILTER,
  after?: string,
): TracesView {
  return { screen: 'traces', instanceId, filter, after };
}

export function entityView(instanceId: string, component: string, id?: string, at?: number): View {
  return { screen: 'entities', instanceId, component, id, tab: 'journal', at, query: undefined };
}

function filterOf(asked: URLSearchParams): TraceFilter {
  return {
    component: asked.get('component') ?? '',
    outcomes: (asked.get('outcome') ?? '').split(',').filter((word) => word !== ''),
    minMs: asked.get('min') ?? '',
    text: asked.get('text') ?? '',
  };
}

function queryOf(
  { component, outcomes, minMs, text }: TraceFilter,
  after: string | undefined,
): string {
  const query = new URLSearchParams();
  if (component !== '') query.set('component', component);
  if (outcomes.length > 0) query.set('outcome', outcomes.join(','));
  if (minMs !== '') query.set('min', minMs);
  if (text !== '') query.set('text', text);
  if (after !== undefined) query.set('after', after);
  return query.size === 0 ? '' : `?${query}`;
}

function sequenceNumber(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

/** Encodes a segment of a route's template; the braces of parameters stay readable. */
function encodedSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll('%7B', '{').replaceAll('%7D', '}');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function splitOnce(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
