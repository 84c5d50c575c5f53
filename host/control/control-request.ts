// ControlRequest: a change of a service that an operator asks for, by a command or in the console.
import type { EntityRef } from '@svc/model/entity';
import type { ViewStatus } from '@svc/model/view-status';

export type ControlRequest =
  /** `owner`: null for a schedule of the service. */
  | { readonly kind: 'cancel-timer'; readonly owner: EntityRef | null; readonly name: string }
  | { readonly kind: 'retry-timer'; readonly owner: EntityRef | null; readonly name: string }
  | { readonly kind: 'rebuild-view'; readonly view: string }
  /** Leaves out the event at which the view has stopped. */
  | ({ readonly kind: 'skip-in-view'; readonly view: string } & SkippedHere)
  | { readonly kind: 'retry-lane'; readonly consumer: string; readonly entity: EntityRef }
  /** Has parked events of many entities handled again: of those that have waited for the longest time, 1,000 at most. */
  | { readonly kind: 'retry-lanes'; readonly consumer: string }
  /** Settles the event at which the lane is parked, without handling it. */
  | ({ readonly kind: 'skip-in-lane'; readonly consumer: string } & SkippedHere);

/** The event that is skipped, and why, for people who read it later. */
interface SkippedHere {
  readonly entity: EntityRef;
  /** Number of the event among the records of its entity, from 1. */
  readonly seq: number;
  readonly reason: string;
}

/** Carries out requests. */
export interface ControlledService {
  /** Returns how the views of the service fare. */
  views(): readonly ViewStatus[];
  /**
   * Resolves with whether there was something to change, once the change is on disk. Rejects with an SvcError that says
   * why nothing was changed.
   */
  change(request: ControlRequest): Promise<boolean>;
}

/** The paths at which the control socket takes requests. The members of a body are those of the request but `kind`. */
const KINDS: Readonly<Record<string, ControlRequest['kind']>> = {
  '/timers/cancel': 'cancel-timer',
  '/timers/retry': 'retry-timer',
  '/views/rebuild': 'rebuild-view',
  '/views/skip': 'skip-in-view',
  '/consumers/retry': 'retry-lane',
  '/consumers/retry-some': 'retry-lanes',
  '/consumers/skip': 'skip-in-lane',
};

/** Maximum UTF-16 units of a text in a request, such as an id. */
const TEXT_UNITS_MAX = 4_096;
/** Maximum UTF-16 units of the reason for which an event is skipped. */
export const REASON_UNITS_MAX = 1_000;

/** A request that is not understood. `message` says why, for its sender. */
export class InvalidControlRequest extends Error {}

/** Checks a request of a program, which may have been written in JavaScript. Throws InvalidControlRequest. */
export function checkedRequest(request: ControlRequest): ControlRequest {
  if (!Object.values(KINDS).includes(request.kind))
    throw new InvalidControlRequest(`There is no change of the kind '${request.kind}'.`);
  const { path, body } = controlMessage(request);
  return readControlRequest(path, JSON.stringify(body));
}

/** Returns the path of a kind of requests, and the body. */
export function controlMessage({ kind, ...body }: ControlRequest): {
  readonly path: string;
  readonly body: object;
} {
  const path = Object.keys(KINDS).find((candidate) => KINDS[candidate] === kind)!;
  return { path, body };
}

/** The path at which the control socket gives the views of the service. */
export const VIEWS_PATH = '/views';

/** Returns whether there are requests for changes at this path. */
export function isControlPath(path: string): boolean {
  return Object.hasOwn(KINDS, path);
}

/** Reads a request. `body`: JSON text. Throws InvalidControlRequest. */
export function readControlRequest(path: string, body: string): ControlRequest {
  const kind = KINDS[path]!;
  const members = new Members(parsed(body));
  const request = requestOf(kind, members);
  members.end();
  return request;
}

function requestOf(kind: ControlRequest['kind'], members: Members): ControlRequest {
  switch (kind) {
    case 'cancel-timer':
    case 'retry-timer':
      return { kind, owner: members.owner(), name: members.text('name') };
    case 'rebuild-view':
      return { kind, view: members.text('view') };
    case 'skip-in-view':
      return { kind, view: members.text('view'), ...skippedIn(members) };
    case 'retry-lane':
      return { kind, consumer: members.text('consumer'), entity: members.entity('entity') };
    case 'retry-lanes':
      return { kind, consumer: members.text('consumer') };
    case 'skip-in-lane':
      return { kind, consumer: members.text('consumer'), ...skippedIn(members) };
  }
}

function skippedIn(members: Members): SkippedHere {
  return {
    entity: members.entity('entity'),
    seq: members.number('seq'),
    reason: members.text('reason', REASON_UNITS_MAX),
  };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new InvalidControlRequest('The body is not JSON.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new InvalidControlRequest('The body is not a JSON object.');
}

/** The members of a body, each of which is read once. */
class Members {
  readonly #given: Map<string, unknown>;

  constructor(given: Readonly<Record<string, unknown>>) {
    this.#given = new Map(Object.entries(given));
  }

  text(name: string, unitsMax = TEXT_UNITS_MAX): string {
    const value = this.#take(name);
    if (typeof value === 'string' && value.length <= unitsMax) return value;
    throw new InvalidControlRequest(
      `The member '${name}' has to be a text of at most ${unitsMax} characters.`,
    );
  }

  number(name: string): number {
    const value = this.#take(name);
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
    throw new InvalidControlRequest(`The member '${name}' has to be a whole number from 1.`);
  }

  entity(name: string): EntityRef {
    const value = this.#take(name);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const members = new Members(value as Readonly<Record<string, unknown>>);
      const entity = { component: members.text('component'), id: members.text('id') };
      members.end();
      return entity;
    }
    throw new InvalidControlRequest(`The member '${name}' has to be {component, id}.`);
  }

  /** Returns the owner of a timer. */
  owner(): EntityRef | null {
    if (this.#given.get('owner') !== null) return this.entity('owner');
    this.#given.delete('owner');
    return null;
  }

  /** Refuses members that were not read: a misspelt one would have no effect. */
  end(): void {
    const [name] = this.#given.keys();
    if (name !== undefined)
      throw new InvalidControlRequest(`The member '${name.slice(0, 40)}' is not known here.`);
  }

  #take(name: string): unknown {
    const value = this.#given.get(name);
    this.#given.delete(name);
    return value;
  }
}
