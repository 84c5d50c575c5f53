// WebService: a web server of any language as a service of a developer's machine: its command is kept running, requests
// are forwarded to it as they are in a pod, and consoles and other services of this machine find it.
//
// Invariants
// W1  The command gets PORT and SVC_SERVICES_URL, the only variables that differ from the environment of svc.
// W2  Nothing of the service is left after `stop`: no process, connection, file or watch.
import { type Mount, PORT_VARIABLE, SERVICES_URL_VARIABLE } from '@svc/client';
import type { ServiceDescription } from '@svc/contract';
import {
  COMMAND_TIMES_DEFAULT,
  type CommandTimes,
  SupervisedCommand,
} from '@svc/kit/supervised-command';
import type { Log } from '@svc/kit/log';
import { newInstanceId } from '@svc/kit/stale-registrations';
import { WatchedFiles } from '@svc/kit/watched-files';
import type { Forwarder, OpenForwarder } from './forwarder.ts';
import { LocalRegistration } from './local-registration.ts';
import { WEB_COMMAND_WORDS } from './web-command-words.ts';
import { webDescription } from './web-description.ts';
import { createWebLog } from './web-log.ts';

export interface WebServiceOptions {
  readonly name: string;
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** Environment of svc. */
  readonly env: NodeJS.ProcessEnv;
  /** Port on which the service takes requests; 0: a free one. */
  readonly port: number;
  /** Port on which the process has to listen; undefined: a free one. */
  readonly processPort: number | undefined;
  readonly mounts: readonly Mount[];
  /** Files and folders whose changes start the command again; empty: none. */
  readonly watched: readonly string[];
  readonly logFormat: 'text' | 'json';
  /** Folder in which the services of this machine register; undefined: there is none. */
  readonly runningFolder: string | undefined;
  readonly runtimeVersion: string;
  readonly openForwarder: OpenForwarder;
  readonly times?: CommandTimes;
}

const STARTED_AT = new Date(performance.timeOrigin).toISOString();

export class WebService {
  readonly #options: WebServiceOptions;
  readonly #log: Log;
  readonly #command: SupervisedCommand;
  readonly #registration: LocalRegistration;
  readonly #listening = Promise.withResolvers<void>();
  #watch: WatchedFiles | undefined;
  #forwarder: Forwarder | undefined;
  #stopped: Promise<void> | undefined;

  private constructor(options: WebServiceOptions) {
    const { name, logFormat, env, command, cwd, processPort, times } = options;
    const { log, processLine } = createWebLog(name, logFormat);
    this.#options = options;
    this.#log = log;
    this.#registration = new LocalRegistration(log);
    this.#command = new SupervisedCommand({
      command,
      cwd,
      environment: (port) => ({
        ...env,
        [PORT_VARIABLE]: String(port),
        [SERVICES_URL_VARIABLE]: this.#forwarder!.servicesUrl,
      }),
      processPort,
      words: WEB_COMMAND_WORDS,
      times: times ?? COMMAND_TIMES_DEFAULT,
      log,
      onLine: processLine,
      onListening: (fields) => {
        log({ level: 'info', message: `${name} is served at ${this.url}`, fields });
        this.#listening.resolve();
      },
    });
  }

  /**
   * Starts the service. Resolves when the command runs; the process may listen later. Rejects with
   * SVC_COMMAND_NOT_STARTED, SVC_WATCH_FAILED, SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE; then nothing is left.
   */
  static async start(options: WebServiceOptions): Promise<WebService> {
    const service = new WebService(options);
    try {
      await service.#start();
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  /** URL at which the service takes requests. */
  get url(): string {
    return this.#forwarder!.url;
  }

  /** Resolves once the process has listened for the first time. */
  get listening(): Promise<void> {
    return this.#listening.promise;
  }

  /**
   * Stops the service: requests in flight finish while the command ends. Resolves once nothing of the service is left.
   */
  async stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Kills the processes of the command, so that a stop ends at once. */
  kill(): void {
    this.#command.kill();
  }

  async #start(): Promise<void> {
    const { watched, openForwarder, name, port, mounts, runningFolder } = this.#options;
    this.#watch = new WatchedFiles({
      paths: watched,
      onChange: (changed) => {
        this.#log({ level: 'info', message: 'the command is started again', fields: { changed } });
        this.#command.restart();
      },
      onFailure: ({ message, code }) => this.#log({ level: 'error', message, fields: { code } }),
    });
    this.#forwarder = await openForwarder({
      name,
      port,
      processPort: () => this.#command.state.port,
      mounts,
      runningFolder,
      log: this.#log,
    });
    await this.#registration.open(this.#description(), runningFolder);
    // Last, so that nothing else of this process takes the free port of the command.
    await this.#command.start();
  }

  /** Returns a function that describes the service as it is now. */
  #description(): () => ServiceDescription {
    const { name, mounts, runtimeVersion } = this.#options;
    const instanceId = newInstanceId();
    return () =>
      webDescription({
        name,
        instanceId,
        runtimeVersion,
        startedAt: STARTED_AT,
        url: this.url,
        mounts,
        process: this.#command.state,
      });
  }

  async #stop(): Promise<void> {
    this.#registration.remove();
    this.#watch?.close();
    // As in a pod, where the proxy and the process get their signals at the same time.
    await Promise.all([this.#command.stop(), this.#forwarder?.close()]);
    await this.#registration.close();
  }
}
