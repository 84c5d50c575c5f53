// LocalPart without a running service: it is registered while the service is served, describes what is served, and
// never disturbs the service.
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import type { DevState, ServiceDescription } from '@svc/contract';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  type AdmittedModule,
  admitModule,
} from '../../../host/hosting/wasm/admission/admission.ts';
import { Introspection } from '../../../host/introspection/introspection.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { SECTION_DEFAULTS, SECTION_RANGES } from '../../../host/service/section-settings.ts';
import { wasmSource } from '../../../host/hosting/guest-source.ts';
import { INTROSPECTION_SETTING_NAMES, readSettings } from '../../../host/service/settings.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';
import { HashOwnership } from '../../../host/shards/hash-ownership.ts';
import type { ShardQuestion } from '../../../host/shards/shard-questions.ts';
import { HistoryThread } from '../../../host/history/reader/history-thread.ts';
import type { ServiceView } from '../../../host/introspection/service-view.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { filesIn } from '../../support/observed-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { journalIn } from '../../../host/storage/journal-location.ts';

let cart: AdmittedModule;
let counter: AdmittedModule;
beforeAll(async () => {
  cart = admitModule(await compileFixture('shopping-cart'));
  counter = admitModule(await compileFixture('counter'));
});

interface Made {
  readonly hasHome?: boolean;
  readonly dev?: () => DevState;
}

function introspection({ hasHome = true, dev }: Made = {}) {
  const folder = temporaryFolder();
  const running = join(folder, 'running');
  const log: LogEntry[] = [];
  const args = ['--data', join(folder, 'data'), '--name', 'shop', '--', join(folder, 'cart.wasm')];
  const settings = readSettings(
    { args, env: { SVC_RUNNING_DIR: running }, stderrIsTerminal: false },
    SECTION_DEFAULTS,
    SECTION_RANGES,
  );
  const work = {
    location: journalIn(settings.dataFolder),
    source: wasmSource(cart),
    settings: settings.sections,
  };
  const history = new HistoryThread({ work: () => work, env: {} });
  const shown = {
    settings: {
      ...settings,
      management: undefined,
      isLocal: true,
      names: INTROSPECTION_SETTING_NAMES,
      ...(hasHome ? {} : { runningFolder: undefined }),
    },
    shards: {
      count: 1,
      ownership: new HashOwnership(1),
      numbers: [],
      ask: async (_shard: number, question: ShardQuestion) => {
        if (question.kind === 'spans')
          return { kind: 'spans', spans: [], recorded: 0, threadId: 1 };
        throw new SvcError('SVC_SHARD_UNAVAILABLE', 'It is away.');
      },
    },
    metrics: {
      endpointTotals: () => ({
        counts: [0, 0, 0, 0],
        seconds: { bounds: [], counts: [0], sum: 0 },
      }),
      totals: () => ({}),
    },
    source: Promise.resolve(wasmSource(cart, join(folder, 'cart.wasm'))),
    history,
    journal: new Promise(() => {}),
    env: {},
    log: (entry: LogEntry) => log.push(entry),
    ...(dev === undefined ? {} : { dev }),
  } as unknown as ServiceView;
  const local = new Introspection(shown);
  onTestFinished(async () => {
    await local.close();
    await history.close();
  });
  const address = () => {
    const [file] = filesIn(running);
    return file === undefined ? undefined : addressIn(join(running, file));
  };
  return { local, history, running, log, address };
}

function addressIn(file: string): string {
  const { observabilityAddress } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly observabilityAddress: string;
  };
  return observabilityAddress;
}

const served = () => ({ url: 'http://127.0.0.1:9000', descriptor: cart.descriptor });
const get = async (address: string | undefined, path: string) => {
  const response = await fetch(`${address}/observability/${path}`);
  return { status: response.status, body: (await response.json()) as never };
};

describe('a service', () => {
  test('is registered once it is served, and not any more when it is about to stop', async () => {
    const { local, history, running, address } = introspection();
    await local.open();
    expect(filesIn(running)).toEqual([]);
    await local.served(served());
    expect(filesIn(running)).toEqual([`${process.pid}.json`]);
    const at = address();
    expect((await get(at, 'service')).status).toBe(200);
    local.stopping();
    expect(filesIn(running)).toEqual([]);
    await history.close();
    // The endpoint answers until the service has ended, but reads no journal any more.
    expect((await get(at, 'service')).status).toBe(200);
    expect(await get(at, 'entities/shopping-cart')).toMatchObject({ status: 503 });
    await local.finished();
    await local.close();
    await expect(get(at, 'service')).rejects.toThrow('fetch failed');
  });

  test('that fails before it was served leaves nothing', async () => {
    const { local, running, log } = introspection();
    await local.open();
    local.stopping();
    await local.close();
    expect([filesIn(running), log]).toEqual([[], []]);
  });

  test('without a home folder is served, and the log says that no console finds it', async () => {
    const { local, running, log } = introspection({ hasHome: false });
    await local.served(served());
    expect(filesIn(running)).toEqual([]);
    expect(log).toMatchObject([{ level: 'warn', fields: { setting: 'svc.running.dir' } }]);
  });

  test('whose folder cannot be written to is served, and the log says why nobody finds it', async () => {
    const { local, running, log } = introspection();
    writeFileSync(running, 'a file in its place');
    await local.served(served());
    expect(log).toMatchObject([
      {
        level: 'warn',
        message: 'the service cannot be registered; no console finds it',
        fields: { reason: expect.stringMatching(/EEXIST|ENOTDIR/) },
      },
    ]);
  });

  test('that has no HTTP server has no address', async () => {
    const { local, address } = introspection();
    await local.served({ url: undefined, descriptor: cart.descriptor });
    const { body } = await get(address(), 'service');
    expect(body).toMatchObject({ instances: [{ address: null, shards: 1 }] });
    expect((await get(address(), 'openapi.json')).body).not.toHaveProperty('servers');
  });
});

/** Requests a path without normalising it. */
async function getRaw(address: string, path: string) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { hostname: host, port } = new URL(address);
  request({ host, port, path: `/observability/${path}` }, resolve)
    .on('error', reject)
    .end();
  const answer = await promise;
  const text = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>)).toString();
  return { status: answer.statusCode, error: (JSON.parse(text) as { error: string }).error };
}

test.each([
  ['.', 'An id in a path cannot be . or ..: clients leave it out.'],
  ['..', 'An id in a path cannot be . or ..: clients leave it out.'],
  ['%2e', 'An id in a path cannot be . or ..: clients leave it out.'],
  ['', "The entity id '' is empty."],
  ['a%07', "The entity id 'a\\u{7}' contains a control character."],
])('an entity whose id is %j is asked for neither its state nor its past', async (id, error) => {
  const { local, address } = introspection();
  await local.served(served());
  for (const path of [`query/shopping-cart/${id}/get`, `entities/shopping-cart/${id}/history`])
    expect(await getRaw(address()!, path)).toEqual({ status: 400, error });
});

describe('while a developer works on it', () => {
  const state: DevState = {
    state: 'serving',
    since: '2030-01-02T03:04:05.678Z',
    problems: [],
    upgrade: null,
    builtMs: 1,
    servedAfterMs: 2,
  };

  test('what is shown is the module that is served, under the same address', async () => {
    const { local, address } = introspection({ dev: () => state });
    await local.served(served());
    const at = address();
    expect((await get(at, 'dev')).body).toEqual(state);
    const before = (await get(at, 'service')).body as ServiceDescription;
    expect(before).toMatchObject({ dev: true, components: [{ component: 'shopping-cart' }] });
    local.replaced(wasmSource(counter, 'counter.wasm'));
    const after = (await get(at, 'service')).body as ServiceDescription;
    expect(after).toMatchObject({
      instanceId: before.instanceId,
      components: [{ component: 'counter' }],
      module: { fingerprint: counter.fingerprint },
    });
    expect((await get(at, 'query/shopping-cart/c1/get')).status).toBe(404);
    expect((await get(at, 'query/counter/c1/get')).status).toBe(503);
    expect(((await get(at, 'openapi.json')).body as { info: object }).info).toMatchObject({
      version: counter.fingerprint.slice(0, 12),
    });
    expect(address()).toBe(at);
  });
});
