// EmbeddedOptions: what a program gives to createService, and what it gets. All of it is public.
import type { Components } from '../hosting/embedded/embedded-guest.ts';
import type { EntityClient, RecordedEvent } from '../hosting/embedded/entity-client.ts';
import type { EntityDefinition } from '../hosting/embedded/entity-definition.ts';
import type { Log } from '@svc/kit/log';
import { SvcError } from '@svc/kit/svc-error';
import type { ServiceSettings } from './embedded-settings.ts';
import type { StorageOptions } from './embedded-storage.ts';

export const DEFAULT_PORT = 9000;

/** What the service shows of itself on a developer's machine, and where its spans go. */
export interface ObservabilityOptions {
  /**
   * Whether the service has an observability endpoint on loopback and registers, so that `svc console` finds it. Left
   * out: it does, unless it is deployed or its journal is in memory.
   */
  readonly local?: boolean;
  /** The folder in which it registers. Left out: `.svc/running` in the home folder. */
  readonly runningFolder?: string;
  /**
   * Where spans are exported to, as OTLP over HTTP: `http://127.0.0.1:4318`, and headers that are sent with them. Left
   * out: nowhere.
   */
  readonly otlp?: {
    readonly endpoint: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
}

interface CommonOptions extends Components {
  /** Lower-case letters, digits and hyphens; the log names it. */
  readonly name: string;
  /**
   * Where the routes are served; a host that is left out is 127.0.0.1 (0.0.0.0 when deployed), a port 9000,
   * and 0 is any free one. `false`, or a service without endpoints: nowhere.
   */
  readonly http?: { readonly host?: string; readonly port?: number } | false;
  /** As the flag of `svc run`: every caller is the internet's, and checks of handlers are made of samples. */
  readonly deployed?: boolean;
  readonly settings?: ServiceSettings;
  /**
   * Where the management server listens: readiness, metrics, version and cluster, for the operator. A host that is left
   * out is 127.0.0.1 (0.0.0.0 when deployed), a port 7626, and 0 is any free one. Left out, or `false`: there is none.
   */
  readonly management?: { readonly host?: string; readonly port?: number } | false;
  readonly observability?: ObservabilityOptions;
  /** Lines on stderr, or what takes each. Absent: text on a terminal, else JSON. */
  readonly log?: 'text' | 'json' | 'none' | Log;
}

/** The options of `createService`, with those of its journal. */
export type ServiceOptions = CommonOptions & StorageOptions;

export interface CallOptions {
  /** The trace that the calls belong to (W3C Trace Context); absent: one of its own for each. */
  readonly traceparent?: string;
}

export interface Service extends AsyncDisposable {
  /** Undefined when nothing is served. */
  readonly url: string | undefined;
  /** A client of an entity of this service. */
  call<Definition extends EntityDefinition>(
    entity: Definition,
    id: string,
    options?: CallOptions,
  ): EntityClient<Definition>;
  /** As `events` of a client: acknowledged events of an entity's present life, oldest first. */
  readEvents<Handlers, Event>(
    entity: EntityDefinition<Handlers, Event>,
    id: string,
    afterSeq?: number,
    limit?: number,
  ): Promise<readonly RecordedEvent<Event>[]>;
  /**
   * Sends a request to the routes without a socket, as fetch does: of an address, path and query count. The
   * caller is `local`, and the internet when deployed.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Resolves when the journal's writer has ended by itself: nothing is stored any more, and the program should end. */
  readonly failure: Promise<SvcError>;
  /**
   * Takes no further request, finishes those in flight, and after `graceMs` milliseconds cuts what is left;
   * then closes the journal. The second call waits for the first.
   */
  stop(graceMs?: number): Promise<void>;
}

/** Throws SVC_SETTING_INVALID for a name or a port that cannot be one. */
export function checkOptions({ name, http, management }: ServiceOptions): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `The name of a service takes lower-case letters, digits and hyphens, at most 63, and found '${name}'.`,
    );
  if (typeof http === 'object') checkPort(http.port);
  if (typeof management === 'object') checkPort(management.port);
  // A program in JavaScript may say anything.
  else if ((management as unknown) === true)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      'The management server of a service is an object, such as {} or { port: 0 }, or false.',
    );
}

function checkPort(port = DEFAULT_PORT): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The port of a service is a whole number from 0 to 65535, and found '${String(port)}'.`,
  );
}
