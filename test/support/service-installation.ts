// ServiceInstallation: the programs of `svc up` in a folder of their own, with one service that is reached through the gateway. Its user
// replaces the instances of the service, and restarts the gateway, whose sockets stay.
//
// Invariant: `close` ends all programs and instances, and removes the folder.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { endInstances } from '@svc/control-plane/end-instances';
import type { ProcessStart } from '@svc/kit/process-start';
import { GatewaySockets } from '../../cli/one-machine/gateway-sockets.ts';
import { layoutOf, type MachineLayout, makeLayout } from '../../cli/one-machine/machine-layout.ts';
import { gatewayPorts } from '../../cli/one-machine/machine-ports.ts';
import { machinePrograms } from '../../cli/one-machine/machine-programs.ts';
import { ProgramRunner, type RunnerEnd } from '../../cli/one-machine/program-runner.ts';
import { freePorts } from './free-ports.ts';
import type { InstalledService } from './installed-services.ts';
import { PacedPosts, type PacedPostsOptions } from './paced-posts.ts';

const SECRET = 'a-secret-of-16-characters-or-more';
const PEOPLE = `people:\n  - subject: ann\nmachines:\n  - clientId: ci\n    secret: ${SECRET}\n`;
const HOST = '127.0.0.1';
const PROJECT = 'shop';
const POLL_MS = 20;
const READY_MS_MAX = 60_000;
/** Age at which another token is asked for. */
const TOKEN_MS = 60_000;
/** Lines of the programs that are kept for the message of a failure. */
const LINES_MAX = 30;

export interface ServiceInstallationOptions {
  /** Settings of the control plane. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Fills the data folder of the service before its first start. */
  readonly fill?: (dataFolder: string) => Promise<void>;
}

export class ServiceInstallation {
  /** The last lines of the programs. */
  readonly lines: string[] = [];
  readonly #service: InstalledService;
  readonly #layout: MachineLayout;
  readonly #ports: { readonly gateway: number; readonly api: number; readonly login: number };
  readonly #sockets: GatewaySockets;
  readonly #runner: ProgramRunner;
  readonly #ended: Promise<RunnerEnd>;
  readonly #allReady = Promise.withResolvers<void>();
  #processes: Readonly<Record<string, ProcessStart>> = {};
  #gatewayStarts = 0;
  #token: { readonly text: string; readonly sinceMs: number } | undefined;

  private constructor(
    service: InstalledService,
    folder: string,
    [gateway, api, login, registry]: readonly [number, number, number, number],
    sockets: GatewaySockets,
    settings: Readonly<Record<string, string>>,
  ) {
    this.#service = service;
    this.#layout = layoutOf(join(folder, 'state'));
    this.#ports = { gateway, api, login };
    this.#sockets = sockets;
    const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const programs = machinePrograms({
      layout: this.#layout,
      ports: { gateway, http: 0, controlPlane: api, loginProvider: login, registry },
      host: HOST,
      sockets: sockets.all,
      domain: 'svc.localhost',
      peopleFile: this.#layout.peopleFile,
      postgres: undefined,
      isNewAuthority: false,
      logFormat: 'text',
      env: { PATH: process.env['PATH'] },
    }).map((program) =>
      program.name === 'control-plane'
        ? { ...program, command: [...program.command, ...sets] }
        : program,
    );
    this.#runner = new ProgramRunner(programs, {
      onLine: (name, line) => this.#wrote(name, line),
      onProcesses: (processes) => (this.#processes = processes),
      onRestart: (name, end) => this.#keep(`${name} has ended: ${end}`),
      onAllReady: () => this.#allReady.resolve(),
    });
    makeLayout(this.#layout);
    writeFileSync(this.#layout.peopleFile, PEOPLE);
    this.#ended = this.#runner.run();
  }

  /** Starts it, and resolves once the service answers. */
  static async open(
    service: InstalledService,
    { settings = {}, fill }: ServiceInstallationOptions = {},
  ): Promise<ServiceInstallation> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-installation-'));
    const [gateway = 0, api = 0, login = 0, registry = 0] = await freePorts(4);
    const ports = { gateway, http: 0, controlPlane: api, loginProvider: login, registry };
    const sockets = await GatewaySockets.open(gatewayPorts(HOST, ports));
    const numbers = [gateway, api, login, registry] as const;
    const installation = new ServiceInstallation(service, folder, numbers, sockets, settings);
    try {
      await fill?.(join(installation.#layout.machine, 'data', PROJECT, service.name));
      await installation.#deploy();
      return installation;
    } catch (error) {
      await installation.close();
      throw error;
    }
  }

  /** Socket at which routers follow the routes. */
  get routesSocket(): string {
    return this.#layout.routesSocket;
  }

  /** Key of the service in the routes. */
  get key(): string {
    return `${PROJECT}/${this.#service.name}`;
  }

  /** Sends POST requests to the service through the gateway. */
  posts(perSecond: number, options: Pick<PacedPostsOptions, 'repeats'> = {}): PacedPosts {
    return new PacedPosts({
      port: this.#ports.gateway,
      hostname: this.#hostname,
      path: this.#service.path,
      body: this.#service.body,
      ca: this.#authority(),
      perSecond,
      ...options,
    });
  }

  /** Resolves with what the service answers to a GET through the gateway. */
  async answer(): Promise<string> {
    const { answer } = await this.#ask(this.#authority());
    return answer;
  }

  /** Replaces the instances of the service, and resolves once only the next ones are there, which serve. */
  async replace(): Promise<void> {
    await this.#send(`POST ${this.#path}/restart`);
    await this.#untilReady();
  }

  /** Ends the gateway with SIGTERM, and resolves once the next one listens. */
  async restartGateway(): Promise<void> {
    const starts = this.#gatewayStarts;
    process.kill(this.#processes['gateway']!.pid, 'SIGTERM');
    await this.#until(() => this.#gatewayStarts > starts, 'the gateway is not started again');
  }

  async close(): Promise<void> {
    this.#runner.stop();
    await this.#ended;
    this.#sockets.close();
    await endInstances(this.#layout.machine);
    const folder = join(this.#layout.folder, '..');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  async #deploy(): Promise<void> {
    const { name, descriptor, writeImage } = this.#service;
    await writeImage(join(this.#layout.images, name));
    const broken = this.#ended.then((end) => assert.fail(this.#failure(`it has ${end.kind}`)));
    await Promise.race([this.#allReady.promise, broken]);
    broken.catch(() => {});
    await this.#send('POST /organizations/acme', { name: 'Acme' });
    await this.#send(`POST /projects/${PROJECT}`, { name: 'Shop', organizationId: 'acme' });
    await this.#send(`PUT ${this.#path}`, { name, image: `oci:images/${name}:1`, ...descriptor });
    await this.#untilReady();
    await this.#send(`POST ${this.#path}/expose`);
    const ca = this.#authority();
    await this.#until(
      async () => (await this.#ask(ca)).status === 200,
      'the service does not answer',
    );
  }

  /** Path of the service in the API of the control plane. */
  get #path(): string {
    return `/services/${this.key}`;
  }

  get #hostname(): string {
    return `${this.#service.name}-${PROJECT}.svc.localhost`;
  }

  #authority(): string {
    return readFileSync(join(this.#layout.machine, 'ca.pem'), 'utf8');
  }

  #ask(ca: string): Promise<{ readonly status: number; readonly answer: string }> {
    const { gateway: port } = this.#ports;
    const hostname = this.#hostname;
    const options = { host: HOST, port, servername: hostname, ca, agent: false };
    return new Promise((resolve, reject) => {
      get({ ...options, path: this.#service.path, headers: { host: hostname } }, (response) => {
        text(response).then(
          (answer) => resolve({ status: response.statusCode ?? 0, answer }),
          reject,
        );
      }).on('error', reject);
    });
  }

  async #untilReady(): Promise<void> {
    await this.#until(async () => {
      const status = (await this.#send(`GET ${this.#path}`)) as { readonly lifecycle: string };
      return status.lifecycle === 'ready';
    }, 'the service is not ready');
  }

  async #until(condition: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
    const untilMs = performance.now() + READY_MS_MAX;
    while (!(await condition())) {
      if (performance.now() > untilMs) throw new Error(this.#failure(otherwise));
      await pause(POLL_MS);
    }
  }

  /** Sends a request of a machine to the control plane. */
  async #send(line: string, json?: object): Promise<unknown> {
    const [method, path] = line.split(' ') as [string, string];
    const response = await fetch(`http://${HOST}:${this.#ports.api}${path}`, {
      method,
      headers: { authorization: `Bearer ${await this.#currentToken()}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const body = await response.text();
    if (!response.ok) throw new Error(`${line} was answered ${response.status}: ${body}`);
    return body === '' ? undefined : JSON.parse(body);
  }

  async #currentToken(): Promise<string> {
    const nowMs = performance.now();
    if (this.#token !== undefined && nowMs - this.#token.sinceMs < TOKEN_MS)
      return this.#token.text;
    const { gateway, login } = this.#ports;
    const resource = `https://api.svc.localhost:${gateway}`;
    const answer = await fetch(`http://${HOST}:${login}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`ci:${SECRET}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource }),
    });
    const { access_token: token } = (await answer.json()) as { readonly access_token: string };
    this.#token = { text: token, sinceMs: nowMs };
    return token;
  }

  #wrote(name: string, line: string): void {
    if (name === 'gateway' && line.includes('https listening')) this.#gatewayStarts++;
    this.#keep(`${name}: ${line}`);
  }

  #keep(line: string): void {
    this.lines.push(line);
    if (this.lines.length > LINES_MAX) this.lines.shift();
  }

  #failure(what: string): string {
    return `${what}; the last lines of the programs:\n${this.lines.join('\n')}`;
  }
}
