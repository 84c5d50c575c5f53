// PeerServers: the peers that svc is compared with, each a server with the counter: Restate's server with its SDK,
// and workerd with Durable Objects. Both are installed from npm into a folder that git ignores, without their install
// scripts, and store their data on disk, with their default durability.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const SOURCES = join(import.meta.dirname, 'peers');
const INSTALLED = join(import.meta.dirname, '..', 'build', 'peers');
const START_MS_MAX = 60_000;

export interface Peer {
  readonly name: string;
  readonly url: string;
  /** Returns the path of the command that adds to the counter with this id. */
  readonly addPath: (id: string) => string;
  readonly getPath: (id: string) => string;
  stop(): Promise<void>;
}

/** Installs both peers. Needs npm and its registry. */
export function installPeers(): void {
  mkdirSync(INSTALLED, { recursive: true });
  cpSync(SOURCES, INSTALLED, { recursive: true });
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
  execFileSync('npm', ['install', ...flags], { cwd: INSTALLED, stdio: 'inherit' });
}

export async function startRestate(): Promise<Peer> {
  const data = mkdtempSync(join(INSTALLED, 'restate-'));
  const [node, ingress, admin] = await Promise.all([freePort(), freePort(), freePort()]);
  const server = spawn(binaryOf('@restatedev/restate-server', 'restate-server'), [], {
    cwd: data,
    env: {
      RESTATE_BASE_DIR: data,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      DO_NOT_TRACK: '1',
    },
    stdio: 'ignore',
  });
  const service = spawn(process.execPath, [join(INSTALLED, 'restate-counter.mjs')], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const stop = () => stopAll([server, service], data);
  const uri = await addressOf(service);
  await answered(stop, async () => {
    const registered = await fetch(`http://127.0.0.1:${admin}/deployments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ uri }),
    });
    return registered.ok;
  });
  return {
    name: 'Restate',
    url: `http://127.0.0.1:${ingress}`,
    addPath: (id) => `/Counter/${id}/add`,
    getPath: (id) => `/Counter/${id}/get`,
    stop,
  };
}

export async function startWorkerd(): Promise<Peer> {
  const data = mkdtempSync(join(INSTALLED, 'workerd-'));
  const port = await freePort();
  cpSync(join(SOURCES, 'workerd-counter.mjs'), join(data, 'worker.mjs'));
  mkdirSync(join(data, 'objects'));
  const config = join(data, 'config.capnp');
  writeFileSync(config, workerdConfig(join(data, 'objects'), port));
  const server = spawn(binaryOf('@cloudflare/workerd', 'workerd'), ['serve', config], {
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = () => stopAll([server], data);
  await answered(stop, async () => (await fetch(`${url}/counters/first`)).ok);
  return {
    name: 'workerd',
    url,
    addPath: (id) => `/counters/${id}`,
    getPath: (id) => `/counters/${id}`,
    stop,
  };
}

function workerdConfig(objects: string, port: number): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "counter", worker = .counter),
    (name = "objects", disk = (path = ${JSON.stringify(objects)}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "counter")],
);
const counter :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-01-01",
  durableObjectNamespaces = [(className = "Counter", uniqueKey = "counter", enableSql = true)],
  durableObjectStorage = (localDisk = "objects"),
  bindings = [(name = "COUNTERS", durableObjectNamespace = "Counter")],
);
`;
}

/** Returns the path of a package's program for this operating system and processor. */
function binaryOf(name: string, program: string): string {
  const system = `${process.platform}-${name.startsWith('@cloudflare') && process.arch === 'x64' ? '64' : process.arch}`;
  return join(INSTALLED, 'node_modules', `${name}-${system}`, 'bin', program);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}

/** Returns the address that the process prints on a line of its own. */
function addressOf(child: ChildProcess): Promise<string> {
  const listening = Promise.withResolvers<string>();
  let output = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    const address = /^(http:\/\/\S+)$/m.exec(output)?.[1];
    if (address !== undefined) listening.resolve(address);
  });
  child.once('exit', () => listening.reject(new Error('a peer ended before it listened')));
  return listening.promise;
}

/** Repeats the request until it succeeds; stops the peer and throws if the peer takes too long to start. */
async function answered(stop: () => Promise<void>, ask: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + START_MS_MAX;
  while (!(await ask().catch(() => false))) {
    if (performance.now() > untilMs) {
      await stop();
      throw new Error('a peer does not answer');
    }
    await pause(100);
  }
}

async function stopAll(children: readonly ChildProcess[], data: string): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }),
  );
  rmSync(data, { recursive: true, force: true });
}
