// A real host process for a module of the corpus: `node host/main.ts`, on a free port, with a data folder
// of its own and a log of JSON lines that a test reads.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OWN_PLACES } from '../../support/host-process.ts';
import { within } from '../../support/within.ts';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'host', 'main.ts');
/** On a machine that has other work. */
const START_SECONDS = 25;
const END_SECONDS = 25;
/** A line comes before the answer that it is about, or right after it. */
const LINE_SECONDS = 25;

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

export interface HostEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HostOptions {
  readonly settings?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly deployed?: boolean;
  /** Default: lines of JSON. */
  readonly log?: 'json' | 'text';
}

function start(folder: string, name: string, bytes: Uint8Array, options: HostOptions) {
  const file = join(folder, `${name}.wasm`);
  writeFileSync(file, bytes);
  const dataFolder = join(folder, `${name}-data`);
  const log = options.log ?? 'json';
  const args = ['--port', '0', '--data', dataFolder, '--log', log, '--name', 'hostile'];
  // One thread, with all that the limits allow.
  if (options.deployed === true) args.push('--deployed', '--host', '127.0.0.1', '--shards', '1');
  for (const setting of options.settings ?? []) args.push('--set', setting);
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', MAIN, file, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...OWN_PLACES, ...options.env } },
  );
  return { child, dataFolder };
}

/** Runs the host to its end, for a module that is not admitted. */
export async function runToEnd(
  folder: string,
  name: string,
  bytes: Uint8Array,
  options: HostOptions = {},
): Promise<HostEnd & { readonly dataFolder: string }> {
  const { child, dataFolder } = start(folder, name, bytes, options);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    // It was admitted, against the expectation; there is nothing to wait for.
    if (stdout.includes('http://')) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const ended = once(child, 'close') as Promise<[number | null]>;
  try {
    const [code] = await within(END_SECONDS, () => `the end of the host:\n${stderr}`, ended);
    return { code, stdout, stderr, dataFolder };
  } finally {
    // One that does not end in time would slow down those that follow.
    child.kill('SIGKILL');
  }
}

export class HostileHost {
  readonly dataFolder: string;
  url = '';
  stderr = '';
  readonly #child: ReturnType<typeof spawn>;
  readonly #ended: Promise<number | null>;
  readonly #waiting = new Set<() => void>();

  private constructor(folder: string, name: string, bytes: Uint8Array, options: HostOptions) {
    const { child, dataFolder } = start(folder, name, bytes, options);
    this.#child = child;
    this.dataFolder = dataFolder;
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.stderr += chunk;
      for (const look of this.#waiting) look();
    });
    this.#ended = new Promise((resolve) => {
      child.on('close', (code) => {
        resolve(code);
        for (const look of this.#waiting) look();
      });
    });
  }

  /** Resolves once it listens. */
  static async start(
    folder: string,
    name: string,
    bytes: Uint8Array,
    options: HostOptions = {},
  ): Promise<HostileHost> {
    const host = new HostileHost(folder, name, bytes, options);
    const listening = Promise.withResolvers<string>();
    let stdout = '';
    host.#child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      const found = /^(http:\/\/\S+)$/m.exec(stdout)?.[1];
      if (found !== undefined) listening.resolve(found);
    });
    void host.#ended.then(() =>
      listening.reject(new Error(`the host ended before it listened:\n${host.stderr}`)),
    );
    const what = () => `the host to listen:\n${host.stderr}`;
    host.url = await within(START_SECONDS, what, listening.promise);
    return host;
  }

  get lives(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get lines(): LogLine[] {
    return this.stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** Resolves with the first line that fits, now or soon. `what`: the line that is waited for. */
  async logged(what: string, fits: (line: LogLine) => boolean): Promise<LogLine> {
    const isLine = (text: string) => text.startsWith('{') && fits(JSON.parse(text) as LogLine);
    return JSON.parse(await this.said(what, isLine)) as LogLine;
  }

  /** Resolves with the first line of stderr that fits, now or soon. */
  async said(what: string, fits: (line: string) => boolean): Promise<string> {
    const found = Promise.withResolvers<string>();
    let from = 0;
    const look = () => {
      const end = this.stderr.lastIndexOf('\n') + 1;
      const line = this.stderr.slice(from, end).split('\n').find(fits);
      if (line !== undefined) found.resolve(line);
      from = Math.max(from, end);
      if (!this.lives) found.reject(new Error(`the host ended without ${what}`));
    };
    this.#waiting.add(look);
    look();
    try {
      const last = () => `${what}; the last of the log:\n${this.stderr.slice(-2000)}`;
      return await within(LINE_SECONDS, last, found.promise);
    } finally {
      this.#waiting.delete(look);
    }
  }

  /** KiB that the process holds in memory. */
  residentKib(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]);
  }

  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return within(END_SECONDS, () => `the host to stop:\n${this.stderr}`, this.#ended);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await within(END_SECONDS, 'the end of the host', this.#ended);
  }
}
