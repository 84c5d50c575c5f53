// Loader: sends requests over a number of connections for some seconds, and counts the answers. It uses wrk if it is
// installed, because it needs the least processor time, and autocannon otherwise.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onProcessors, working } from './cores.ts';

/** The part of autocannon's API that is used; the package has no types. */
type Autocannon = (options: {
  readonly url: string;
  readonly connections: number;
  /** Duration in seconds. */
  readonly duration: number;
  readonly requests: readonly {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  }[];
}) => Promise<{
  readonly non2xx: number;
  readonly errors: number;
  /** Requests per second. */
  readonly requests: { readonly average: number };
}>;

export interface Load {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Paths of the requests: wrk chooses one at random for each request, autocannon takes them in turns. */
  readonly paths: readonly string[];
  /** Body as JSON text. */
  readonly body: string | undefined;
  /** Fields beside those of the body. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly connections: number;
  /** Duration in seconds; a fraction is rounded up. */
  readonly seconds: number;
  /** Processors of the load, in the format of taskset; any if absent. */
  readonly processors?: string | undefined;
}

export interface Loader {
  readonly name: string;
  /**
   * Returns the number of answers per second. Throws if a connection broke or an answer was not 2xx; wrk accepts 3xx as
   * well.
   */
  run(load: Load): Promise<number>;
}

export async function createLoader(): Promise<Loader> {
  const hasWrk = spawnSync('wrk', ['--version']).error === undefined;
  return hasWrk
    ? { name: 'wrk, one thread', run: runWrk }
    : { name: 'autocannon, one thread', run: runAutocannon };
}

async function runWrk({
  url,
  method,
  paths,
  body,
  headers,
  connections,
  seconds,
  processors,
}: Load): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  try {
    const script = join(folder, 'requests.lua');
    writeFileSync(script, wrkScript({ method, paths, body, headers }));
    const output = await outputOf(
      ...onProcessors(processors, 'wrk', [
        '--threads=1',
        `--connections=${connections}`,
        `--duration=${Math.ceil(seconds)}s`,
        `--script=${script}`,
        url,
      ]),
    );
    const perSecond = /Requests\/sec:\s+([0-9.]+)/.exec(output)?.[1];
    const bad = /Non-2xx.*|Socket errors.*/.exec(output)?.[0];
    if (perSecond === undefined || bad !== undefined) throw new Error(`wrk: ${bad ?? output}`);
    return Number(perSecond);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns a script that builds all requests before it sends the first, so that a request costs only a random choice.
 */
function wrkScript({
  method,
  paths,
  body,
  headers = {},
}: Pick<Load, 'method' | 'paths' | 'body' | 'headers'>): string {
  const list = paths.map((path) => JSON.stringify(path)).join(', ');
  const typed = body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
  const fields = Object.entries(typed).map(
    ([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  );
  return `
local paths = { ${list} }
local requests = {}
function init(args)
  for index, path in ipairs(paths) do
    requests[index] = wrk.format(${JSON.stringify(method)}, path, { ${fields.join(', ')} }, ${body === undefined ? 'nil' : `[[${body}]]`})
  end
end
function request() return requests[math.random(#requests)] end
`;
}

async function outputOf(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) output += chunk as string;
  return output;
}

async function runAutocannon({
  url,
  method,
  paths,
  body,
  headers = {},
  connections,
  seconds,
  processors,
}: Load): Promise<number> {
  const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon;
  const typed = body === undefined ? headers : { ...headers, 'content-type': 'application/json' };
  const result = await working(processors, () =>
    autocannon({
      url,
      connections,
      duration: Math.ceil(seconds),
      requests: paths.map((path) => ({
        method,
        path,
        headers: typed,
        ...(body === undefined ? {} : { body }),
      })),
    }),
  );
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`autocannon: ${result.non2xx} answers were not 2xx, ${result.errors} errors`);
  return result.requests.average;
}
