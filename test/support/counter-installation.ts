// CounterInstallation: the programs of `svc up` in a folder of their own, with a counter that has a data folder and is reached through the
// gateway. Its user replaces the instance of the counter, and restarts the gateway, whose sockets stay.
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
import { writeLayoutFolder } from '@svc/oci/image-files';
import { moduleImage } from '@svc/oci/module-image';
import { GatewaySockets } from '../../cli/one-machine/gateway-sockets.ts';
import { layoutOf, type MachineLayout, makeLayout } from '../../cli/one-machine/machine-layout.ts';
import { gatewayPorts } from '../../cli/one-machine/machine-ports.ts';
import { machinePrograms } from '../../cli/one-machine/machine-programs.ts';
import { ProgramRunner, type RunnerEnd } from '../../cli/one-machine/program-runner.ts';
import { compileFixture } from './compile-fixture.ts';
import { freePorts } from './free-ports.ts';
import { PacedPosts, type PacedPostsOptions } from './paced-posts.ts';

const SECRET = 'a-secret-of-16-characters-or-more';
const PEOPLE = `people:\n  - subject: ann\nmachines:\n  - clientId: ci\n    secret: ${SECRET}\n`;
const HOST = '127.0.0.1';
const PATH = '/services/shop/counter';
const HOSTNAME = 'counter-shop.svc.localhost';
const POLL_MS = 20;
const READY_MS_MAX = 60_000;
/** Age at which another token is asked for. */
const TOKEN_MS = 60_000;
/** Lines of the programs that are kept for the message of a failure. */
const LINES_MAX = 30;

export interface CounterInstallationOptions {
  /** Settings of the control plane. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Fills the data folder of the counter before its first start. */
  readonly fill?: (dataFolder: string) => Promise<void>;
}

export class CounterInstallation {
  /** The last lines of the programs. */
  readonly lines: string[] = [];
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
    folder: string,
    [gateway, api, login, registry]: readonly [number, number, number, number],
    sockets: GatewaySockets,
    settings: Readonly<Record<string, string>>,
  ) {
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

  /** Starts it, and resolves once the counter answers. */
  static async open(options: CounterInstallationOptions = {}): Promise<CounterInstallation> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-counter-'));
    const [gateway = 0, api = 0, login = 0, registry = 0] = await freePorts(4);
    const ports = { gateway, http: 0, controlPlane: api, loginProvider: login, registry };
    const sockets = await GatewaySockets.open(gatewayPorts(HOST, ports));
    const numbers = [gateway, api, login, registry] as const;
    const { settings = {}, fill } = options;
    const installation = new CounterInstallation(folder, numbers, sockets, settings);
    try {
      await fill?.(join(installation.#layout.machine, 'data', 'shop', 'counter'));
      await installation.#deploy();
      return installation;
    } catch (error) {
      await installation.close();
      throw error;
    }
  }

  /** Sends POST requests to the counter through the gateway, each of which adds 1 to the counter. */
  posts(perSecond: number, options: Pick<PacedPostsOptions, 'repeats'> = {}): PacedPosts {
    return new PacedPosts({
      port: this.#ports.gateway,
      hostname: HOSTNAME,
      path: '/counters/one',
      body: '{"amount":1}',
      ca: this.#authority(),
      perSecond,
      ...options,
    });
  }

  /** Resolves with the value of the counter. */
  async counted(): Promise<number> {
    const { answer } = await this.#ask(this.#authority());
    return (JSON.parse(answer) as { readonly value: number }).value;
  }

  /** Replaces the instance of the counter, and resolves once the next one serves. */
  async replace(): Promise<void> {
    await this.#send(`POST ${PATH}/restart`);
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
    const module = await compileFixture('counter');
    const image = moduleImage({ module, protocol: '0.2.0', runtime: '0.1.0' });
    await writeLayoutFolder(image, '1', join(this.#layout.images, 'counter'));
    const broken = this.#ended.then((end) => assert.fail(this.#failure(`it has ${end.kind}`)));
    await Promise.race([this.#allReady.promise, broken]);
    broken.catch(() => {});
    await this.#send('POST /organizations/acme', { name: 'Acme' });
    await this.#send('POST /projects/shop', { name: 'Shop', organizationId: 'acme' });
    const descriptor = { image: 'oci:images/counter:1', hosting: 'wasm', protocol: '0.2.0' };
    await this.#send(`PUT ${PATH}`, { name: 'counter', ...descriptor });
    await this.#untilReady();
    await this.#send(`POST ${PATH}/expose`);
    const ca = this.#authority();
    await this.#until(
      async () => (await this.#ask(ca)).status === 200,
      'the counter does not answer',
    );
  }

  #authority(): string {
    return readFileSync(join(this.#layout.machine, 'ca.pem'), 'utf8');
  }

  #ask(ca: string): Promise<{ readonly status: number; readonly answer: string }> {
    const { gateway: port } = this.#ports;
    const options = { host: HOST, port, servername: HOSTNAME, ca, agent: false };
    return new Promise((resolve, reject) => {
      get({ ...options, path: '/counters/one', headers: { host: HOSTNAME } }, (response) => {
        text(response).then(
          (answer) => resolve({ status: response.statusCode ?? 0, answer }),
          reject,
        );
      }).on('error', reject);
    });
  }

  async #untilReady(): Promise<void> {
    await this.#until(async () => {
      const status = (await this.#send(`GET ${PATH}`)) as { readonly lifecycle: string };
      return status.lifecycle === 'ready';
    }, 'the counter is not ready');
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
