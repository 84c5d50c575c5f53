// Service: starts the servers of measurements, each in a process of its own: a module served by `svc run`; fastify with
// the same routes, whose handlers answer a constant; the server whose recorder is switched off in turns; the control plane,
// and the embedded service with which it is compared; the webhook service; the cart, embedded and as the runtime of a process.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compileFixture } from '../test/support/compile-fixture.ts';
import { freePorts } from '../test/support/free-ports.ts';
import { onProcessors } from './cores.ts';
import type { Slice } from './switched-recorder.ts';

const root = join(import.meta.dirname, '..');
/** A server that does not listen after this time, in milliseconds, is ended. */
const START_MS_MAX = 30_000;

export interface Service {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** The measured module as a file in a folder, which `remove` deletes. */
export interface BenchModule {
  readonly file: string;
  readonly folder: string;
  remove(): void;
}

export async function benchModule(fixture = 'counter'): Promise<BenchModule> {
  const component = await compileFixture(fixture);
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const file = join(folder, `${fixture}.wasm`);
  writeFileSync(file, component);
  return { file, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Serves the module as a deployed instance with one shard, with its own journal. `processors`: the processors of all
 * of its threads, in the format of taskset; undefined: any.
 */
export async function startSvc(
  moduleFile: string,
  dataFolder: string,
  processors?: string,
  settings: Settings = {},
): Promise<Service> {
  const address = ['--host', '127.0.0.1', '--port', '0', '--set', 'svc.management.port=0'];
  const args = ['run', moduleFile, '--deployed', '--shards', '1', ...address, '--data', dataFolder];
  args.push(...setWords(settings));
  return start(join(root, 'cli', 'bin', 'svc.js'), args, processors);
}

export async function startBareFastify(processors?: string): Promise<Service> {
  return start(join(root, 'bench', 'bare-fastify.ts'), [], processors);
}

/** Starts bench/control-plane/bare-embedded.ts. */
export async function startBareEmbedded(dataFolder: string, processors?: string): Promise<Service> {
  return start(join(root, 'bench', 'control-plane', 'bare-embedded.ts'), [dataFolder], processors);
}

/** Starts bench/process/embedded-cart.ts. */
export async function startEmbeddedCart(dataFolder: string): Promise<Service> {
  return start(join(root, 'bench', 'process', 'embedded-cart.ts'), [dataFolder], undefined);
}

/** Starts the runtime of a process as a deployed instance with one shard. `address`: `127.0.0.1:PORT` of the process. */
export async function startProcessRuntime(address: string, dataFolder: string): Promise<Service> {
  const served = ['--process', address, '--name', 'carts', '--data', dataFolder];
  const own = ['--host', '127.0.0.1', '--port', '0', '--set', 'svc.management.port=0'];
  return startProgram(['run', ...served, '--deployed', '--shards', '1', ...own], undefined);
}

/** An identity provider, of which a program judges tokens. */
type Provider = Readonly<Record<'issuer' | 'audience', string>>;
type Settings = Readonly<Record<string, string>>;

/** Starts `svc control-plane`. `more`: settings beside those that it needs. */
export async function startControlPlane(
  provider: Provider,
  dataFolder: string,
  processors?: string,
  more: Settings = {},
): Promise<Service> {
  const args = ['control-plane', '--deployed', '--port', '0', '--data', dataFolder];
  const settings = { 'svc.management.port': '0', ...more };
  return startProgram([...args, ...settingWords(provider, settings)], processors);
}

/** A deployed webhook service. */
export interface WebhookService extends Service {
  /** Address of the metrics. */
  readonly metricsUrl: string;
}

/**
 * Starts `svc webhook-service` as a deployed service, which delivers to this machine. `masterKeyFile`: path of a file with
 * a master key. `more`: as for a control plane.
 */
export async function startWebhookService(
  provider: Provider,
  { dataFolder, masterKeyFile }: { readonly dataFolder: string; readonly masterKeyFile: string },
  processors?: string,
  more: Settings = {},
): Promise<WebhookService> {
  const [managementPort] = await freePorts(1);
  const args = ['webhook-service', '--deployed', '--port', '0', '--data', dataFolder];
  const settings = {
    'svc.webhooks.admitted-networks': '127.0.0.0/8',
    'svc.webhooks.master-key-file': masterKeyFile,
    'svc.management.host': '127.0.0.1',
    'svc.management.port': String(managementPort),
    ...more,
  };
  const service = await startProgram([...args, ...settingWords(provider, settings)], processors);
  return { ...service, metricsUrl: `http://127.0.0.1:${managementPort}/svc/metrics` };
}

async function startProgram(
  args: readonly string[],
  processors: string | undefined,
): Promise<Service> {
  return start(join(root, 'cli', 'bin', 'svc.js'), [...args], processors);
}

function settingWords({ issuer, audience }: Provider, more: Settings): readonly string[] {
  const settings = {
    'svc.auth.issuer': issuer,
    'svc.auth.audience': audience,
    'svc.auth.client-id': 'svc-cli',
    ...more,
  };
  return setWords(settings);
}

function setWords(settings: Settings): readonly string[] {
  return Object.entries(settings).flatMap((setting) => ['--set', setting.join('=')]);
}

/** Starts bench/recorded-server.ts. `report`: called after each of its turns. */
export async function startRecorded(
  moduleFile: string,
  dataFolder: string,
  sliceMs: number,
  report: (slice: Slice) => void,
  processors?: string,
): Promise<Service> {
  const args = [moduleFile, dataFolder, String(sliceMs)];
  return start(join(root, 'bench', 'recorded-server.ts'), args, processors, (line) => {
    if (line.startsWith('{')) report(JSON.parse(line) as Slice);
  });
}

/** A server of measurement (x). */
export interface ConstantServer extends Service {
  /** Returns the processor time that the server has used, in microseconds. */
  processorUs(): Promise<number>;
}

export async function startConstant(
  kind: 'http1' | 'node',
  processors?: string,
): Promise<ConstantServer> {
  let answer: ((us: number) => void) | undefined;
  const file = join(root, 'bench', 'constant-server.ts');
  const service = await start(file, [kind], processors, (line) => answer?.(Number(line)));
  return {
    ...service,
    processorUs: async () =>
      new Promise((resolve) => {
        answer = resolve;
        process.kill(service.pid, 'SIGUSR2');
      }),
  };
}

/**
 * Starts a server, which prints its address on a line of its own once it listens. `report`: called with every other
 * line that the server prints.
 */
async function start(
  file: string,
  args: readonly string[],
  processors: string | undefined,
  report: (line: string) => void = () => {},
): Promise<Service> {
  const child = spawn(...onProcessors(processors, process.execPath, [file, ...args]), {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
  const listening = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (/^http:\/\/\S+$/.test(line)) listening.resolve(line);
    else report(line);
  });
  child.once('exit', () =>
    listening.reject(new Error(`${file} ended before it listened:\n${errors}`)),
  );
  try {
    const url = await listening.promise;
    return { url, pid: child.pid!, stop: async () => stop(child) };
  } finally {
    clearTimeout(timer);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  child.kill('SIGTERM');
  await ended;
}
