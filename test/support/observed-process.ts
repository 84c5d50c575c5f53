// A real `svc run` process and its observability endpoint, found as a console finds it: by its registration file. Each
// answer is held against the schema that contract publishes.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { Errors } from 'typebox/schema';
import { onTestFinished } from 'vitest';
import type {
  DevState,
  EntityList,
  FaultList,
  HistoryPage,
  LiveNumbers,
  ServiceDescription,
  TraceDetail,
  TraceList,
} from '@svc/contract';
import { SvcProcess } from './host-process.ts';
import { within } from './within.ts';

const schema = JSON.parse(
  readFileSync(
    join(import.meta.dirname, '..', '..', 'contract', 'generated', 'observability.schema.json'),
    'utf8',
  ),
) as object;

/** What there is to see, by the names of the schemas. */
interface Shapes {
  readonly DevState: DevState;
  readonly EntityList: EntityList;
  readonly FaultList: FaultList;
  readonly HistoryPage: HistoryPage;
  readonly LiveNumbers: LiveNumbers;
  readonly ServiceDescription: ServiceDescription;
  readonly TraceDetail: TraceDetail;
  readonly TraceList: TraceList;
}

export interface Observed<Body> {
  readonly status: number;
  readonly headers: Headers;
  /** Of JSON. */
  readonly body: Body;
}

export class ObservedProcess {
  readonly svc: SvcProcess;
  readonly folder: string;
  url = '';
  /** Of the endpoint. */
  address = '';

  /** `folder`: of the test; `args`: what follows `svc run`. It ends with the test. */
  constructor(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.folder = join(folder, 'running');
    this.svc = new SvcProcess(['run', ...args, '--port', '0', '--log', 'json'], {
      cwd: folder,
      env: { SVC_RUNNING_DIR: this.folder, ...env },
    });
  }

  /** Resolves once it is registered. */
  async start(): Promise<this> {
    this.url = await this.svc.listening();
    const file = join(this.folder, `${this.svc.child.pid}.json`);
    await until('its registration file', () => existsSync(file));
    const { observabilityAddress } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly observabilityAddress: string;
    };
    this.address = observabilityAddress;
    return this;
  }

  /** Of `/observability/PATH`, which has the shape when it is there. */
  async get<Name extends keyof Shapes>(path: string, shape: Name): Promise<Observed<Shapes[Name]>> {
    const observed = await this.raw(path);
    if (observed.status === 200) assert.deepEqual(schemaProblems(shape, observed.body), []);
    return observed as Observed<Shapes[Name]>;
  }

  /** Of what has a shape of its own, or is not there. */
  async raw(path: string): Promise<Observed<unknown>> {
    const response = await fetch(`${this.address}/observability/${path}`);
    const { status, headers } = response;
    const body: unknown = await response.json();
    if (status !== 200) assert.deepEqual(schemaProblems('Problem', body), []);
    return { status, headers, body };
  }

  async post(path: string, body?: object): Promise<Response> {
    const content = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return fetch(`${this.url}${path}`, {
      method: 'POST',
      ...(body === undefined ? {} : content),
    });
  }
}

/** For one test; to be called within it. */
export async function observedProcess(
  ...args: ConstructorParameters<typeof ObservedProcess>
): Promise<ObservedProcess> {
  const observed = new ObservedProcess(...args);
  onTestFinished(async () => void (await observed.svc.end('SIGKILL')));
  return observed.start();
}

/** What does not fit the shape of that name. */
export function schemaProblems(name: string, value: unknown): string[] {
  const [, errors] = Errors({ ...schema, $ref: `#/$defs/${name}` }, value);
  return errors.map(({ instancePath, message }) => `${name}${instancePath}: ${message}`);
}

export function filesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const over = new AbortController();
  const looked = (async () => {
    while (!over.signal.aborted && !(await isSo())) await after(10);
  })();
  try {
    await within(60, what, looked);
  } finally {
    over.abort();
  }
}
