// EmbeddedOptions: the options of createService and the interface of the service that it returns. All of it is
// public.
import type { Components } from '@svc/components/components';
import type { EntityClient, RecordedEvent } from '@svc/components/entity-client';
import type { EndpointDefinition } from '@svc/components/endpoint-definition';
import type { EntityDefinition } from '@svc/components/entity-definition';
import type { ViewClient } from '@svc/components/view-client';
import type { ViewDefinition } from '@svc/components/view-definition';
import type { ServerCertificateFiles } from '@svc/identity/server-certificate';
import type { ListenWords } from '@svc/kit/listen';
import type { Log } from '@svc/kit/log';
import { type Metric, metricsProblem } from '../introspection/program-metrics.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { ControlRequest } from '../control/control-request.ts';
import type { ServiceCounts } from './service-counts.ts';
import type { ServiceSettings } from './embedded-settings.ts';
import { responsesProblem, type ResponsesOptions } from './embedded-responses.ts';
import type { StorageOptions } from './storage-options.ts';
import { type TestingOptions, testingProblem } from './testing-options.ts';
import { isOwnName, OWN_NAME_WORDS } from './own-name.ts';

export const DEFAULT_PORT = 9000;
/** Names of the options in errors of listening, unless `settingNames` has others. */
const ADDRESS_NAMES = {
  http: { host: 'the option http.host', port: 'the option http.port' },
  management: { host: 'the option management.host', port: 'the option management.port' },
};

/** Introspection on a developer's machine, and the export of spans. */
export interface ObservabilityOptions {
  /**
   * Whether the service has an observability endpoint on loopback and registers, so that `svc console` finds it.
   * Default: true, unless the service is deployed or its journal is in memory.
   */
  readonly local?: boolean;
  /** Folder in which the service registers. Default: `.svc/running` in the home folder. */
  readonly runningFolder?: string;
  /**
   * Receiver of spans, by OTLP over HTTP: `http://127.0.0.1:4318`, and headers to send with them. Absent: spans are
   * not exported.
   */
  readonly otlp?: {
    readonly endpoint: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
}

/** Where the values of the service's configuration are. A later source overrides an earlier one. */
export interface ConfiguredOptions {
  /** Path of a file in YAML or JSON. */
  readonly file?: string | undefined;
  /** Path of a folder with a file for each value. */
  readonly folder?: string | undefined;
  readonly values?: Readonly<Record<string, unknown>>;
}

interface CommonOptions extends Components {
  /** Name of the service in lower-case letters, digits and hyphens, as in its log. */
  readonly name: string;
  /**
   * Address of the routes. Default host: 127.0.0.1 (0.0.0.0 if deployed). Default port: 9000; 0 takes any free one.
   * `false`, or a service without endpoints: the service does not listen. `tls`: paths of a certificate and its key in PEM, which
   * are read again when they change; absent: the service listens without TLS.
   */
  readonly http?:
    | {
        readonly host?: string;
        readonly port?: number;
        readonly tls?: ServerCertificateFiles | undefined;
      }
    | false;
  /**
   * Like the flag of `svc run`: all callers count as the internet, and only samples of the commands and queries are
   * checked not to change the state that they are given.
   */
  readonly deployed?: boolean;
  readonly settings?: ServiceSettings;
  readonly responses?: ResponsesOptions;
  /**
   * Address of the management server: readiness, metrics, version and cluster, for the operator. Default host:
   * 127.0.0.1 (0.0.0.0 if deployed). Default port: 7626; 0 takes any free one. Absent or `false`: there is no such
   * server.
   */
  readonly management?: { readonly host?: string; readonly port?: number } | false;
  /**
   * Names of the program's own settings for its addresses, which errors about an address tell its operator:
   * `{ http: { host: '--host', port: '--port' } }`. Default: the names of the options.
   */
  readonly settingNames?: {
    readonly http?: { readonly host: string; readonly port: string };
    readonly management?: { readonly host: string; readonly port: string };
  };
  readonly observability?: ObservabilityOptions;
  /** Where the values of `configuration` are. The files are watched. */
  readonly configured?: ConfiguredOptions;
  /** Metrics of the program itself, which are among those of the service. */
  readonly metrics?: readonly Metric[];
  /**
   * Format of the lines on stderr, or a function that receives each entry. Default: text on a terminal, otherwise
   * JSON.
   */
  readonly log?: 'text' | 'json' | 'none' | Log;
  /** For tests alone: time, random numbers and journal of the service. */
  readonly testing?: TestingOptions;
}

/** The options of `createService`, with those of its journal. */
export type ServiceOptions = CommonOptions & StorageOptions;

/** A change of a running service. `entity` and `owner` are `{ component, id }`; `seq` is the number of the event. */
export type ServiceChange = ControlRequest;

export interface CallOptions {
  /** Trace that the calls belong to (W3C Trace Context). Default: each call begins a trace of its own. */
  readonly traceparent?: string;
}

export interface FindOptions {
  /** A position before which the rows have to have everything. Default: any rows will do. */
  readonly after?: string;
}

export interface Service extends AsyncDisposable {
  /** `http://127.0.0.1:9000`; undefined if the service does not listen. */
  readonly url: string | undefined;
  /** URL of the management server; undefined if the options ask for none. */
  readonly managementUrl: string | undefined;
  /** Returns a client of an entity of this service. */
  call<Definition extends EntityDefinition>(
    entity: Definition,
    id: string,
    options?: CallOptions,
  ): EntityClient<Definition>;
  /** Like `events` of a client: returns acknowledged events of the entity's present incarnation, oldest first. */
  readEvents<Handlers, Event>(
    entity: EntityDefinition<Handlers, Event>,
    id: string,
    afterSeq?: number,
    limit?: number,
  ): Promise<readonly RecordedEvent<Event>[]>;
  /**
   * Returns a client of a view of this service. `after`: a text that `position` or the header `Svc-Position` gave: the
   * rows have everything that was stored before. A method of the client rejects with SVC_VIEW_BEHIND if they do not have
   * it within `svc.views.wait-ms`, with SVC_VIEW_REBUILDING and with SVC_VIEW_STOPPED. Throws for a view of another
   * service, and SVC_FIND_INVALID for an `after` that is no such text of this service.
   */
  view<Definition extends ViewDefinition>(
    view: Definition,
    options?: FindOptions,
  ): ViewClient<Definition>;
  /** Returns an opaque text for what is stored now, for `after` of `view` and for the header `Svc-After`. */
  position(): string;
  /** Returns the numbers of consumers and views that are among the metrics, for a program that has several services. */
  counts(): ServiceCounts;
  /**
   * Makes a change that an operator decides on: cancels or retries a timer, builds the rows of a view again, lets a view or a
   * consumer go on without the event at which it has stopped, or has a parked event handled again. Resolves with whether there
   * was something to change. Rejects with an Error for an invalid change, and with an SvcError, such as SVC_STOPPING or
   * SVC_DISK_FULL, where nothing was changed.
   */
  change(change: ServiceChange): Promise<boolean>;
  /**
   * Sends a request to the routes without a socket, like fetch; only path and query of the URL are used. The caller
   * is `local`, or the internet if deployed.
   */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Resolves if the journal's writer ends unexpectedly: nothing is stored any more, and the program should end. */
  readonly failure: Promise<SvcError>;
  /**
   * Stops the service: refuses further requests, finishes what is in flight, cuts the rest after `graceMs`
   * milliseconds (10,000 unless given, at most a day), and closes the journal. Requests are cut by closing their
   * connections; calls that are not decided, and those whose entity is still folded, fail with SVC_STOPPING. Beyond the
   * grace it takes at most 1 s for snapshots and 2 s for the receiver of spans, and as long as a handler or `apply`
   * of the program computes and the disk stores what is decided. Further calls wait for the first.
   */
  stop(graceMs?: number): Promise<void>;
}

/** Throws SVC_SETTING_INVALID for an invalid name, port, header of responses or clock of a test, and for `management: true`. */
export function checkOptions({
  name,
  endpoints = [],
  http,
  management,
  responses = {},
  metrics = [],
  testing,
}: ServiceOptions): void {
  // A program in JavaScript may leave the name out.
  if (typeof name !== 'string' || !isOwnName(name))
    throw invalid(`name takes ${OWN_NAME_WORDS}, and found '${name}'`);
  const bearing = endpoints.find(asksForTokens);
  if (bearing !== undefined)
    throw invalid(
      `the endpoint ${bearing.prefix} asks for access tokens with 'bearer', which an embedded service cannot verify: verify them in a check, or serve the components as a process`,
    );
  if (typeof http === 'object') checkPort('http.port', http.port);
  const problem = responsesProblem(responses) ?? metricsProblem(metrics) ?? testingProblem(testing);
  if (problem !== undefined) throw invalid(problem);
  if (typeof management === 'object') checkPort('management.port', management.port);
  // A program in JavaScript may pass any value.
  else if ((management as unknown) === true)
    throw invalid(
      'management takes an object, such as {} or { port: 0 }, or false, and found true',
    );
}

function asksForTokens({ bearer, routes }: EndpointDefinition): boolean {
  const rules = [bearer, ...Object.values(routes).map((route) => route.bearer)];
  return rules.some((rule) => rule !== undefined);
}

function checkPort(option: string, port = DEFAULT_PORT): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return;
  throw invalid(`${option} takes a whole number from 0 to 65535, and found '${String(port)}'`);
}

function invalid(problem: string): SvcError {
  return new SvcError('SVC_SETTING_INVALID', `The option ${problem}.`);
}

/** Returns what errors of listening call the host and the port. */
export function addressNames(
  { settingNames }: Pick<ServiceOptions, 'settingNames'>,
  server: 'http' | 'management',
): { readonly host: string; readonly port: string } {
  return settingNames?.[server] ?? ADDRESS_NAMES[server];
}

/** Returns the words of errors of listening for requests. */
export function httpWords(options: ServiceOptions): ListenWords {
  return { settings: addressNames(options, 'http') };
}

/** Whether the service has an HTTP server. */
export function hasHttp({ http, endpoints = [] }: ServiceOptions): boolean {
  return http !== false && endpoints.length > 0;
}

/** Completes an address with the defaults. */
export function addressOf(
  { host, port }: { readonly host?: string; readonly port?: number },
  deployed: boolean,
  defaultPort: number,
): { readonly host: string; readonly port: number } {
  return { host: host ?? (deployed ? '0.0.0.0' : '127.0.0.1'), port: port ?? defaultPort };
}
