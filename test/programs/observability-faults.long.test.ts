// What the observability endpoint tells of a module that fails, computes for too long, or is served by several shards,
// over real processes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SpanFault } from '@svc/contract';
import { shardOf } from '../../host/shards/hash-ownership.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { observedProcess, until } from '../support/observed-process.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';

const modules = temporaryFolderOfFile();
const faulty = join(modules, 'faulty.wasm');
beforeAll(async () => writeFileSync(faulty, await compileFixture('faulty')));

const set = (...settings: readonly string[]) => settings.flatMap((setting) => ['--set', setting]);

describe('a fault', () => {
  test('has the message of the module and its source location, which its caller does not get', async () => {
    const svc = await observedProcess(temporaryFolder(), [faulty]);
    const traceId = 'fa'.repeat(16);
    const response = await fetch(`${svc.url}/faulty/entity/f1/boom`, {
      method: 'POST',
      headers: { traceparent: `00-${traceId}-00000000000000aa-01` },
    });
    const told = (await response.json()) as { readonly errorId: string };
    expect(response.status).toBe(500);
    const { body } = await svc.get(`traces/${traceId}`, 'TraceDetail');
    const [request] = body.roots;
    const [command] = request!.children;
    const fault: Partial<SpanFault> = {
      code: 'trap',
      guestMessage: expect.stringMatching(/^abort: boom at /) as string,
      logLines: ['first line', 'second\nline'],
      places: [
        {
          file: expect.stringMatching(/index\.ts$/) as string,
          line: expect.any(Number) as number,
          column: expect.any(Number) as number,
          function: null,
        },
      ],
    };
    expect(request).toMatchObject({
      outcome: 'Failed',
      status: 500,
      fault: { errorId: told.errorId, logLines: fault.logLines },
    });
    expect(command).toMatchObject({ handler: 'boom', outcome: 'Failed', fault });
    const { faults } = (await svc.get('faults', 'FaultList')).body;
    expect(faults.map(({ handler, entityId }) => `${handler} ${entityId}`).toSorted()).toEqual([
      'boom f1',
      'entity null',
    ]);
    expect(faults.find(({ handler }) => handler === 'boom')).toMatchObject({ traceId, fault });
    const [summary] = (await svc.get('traces?outcome=Failed', 'TraceList')).body.traces;
    expect(summary).toMatchObject({ traceId, failed: 2, error: expect.any(String) });
  });

  test('of a handler has the lines that it logged before', async () => {
    const svc = await observedProcess(temporaryFolder(), [faulty]);
    await fetch(`${svc.url}/faulty/boom`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"boom"}',
    });
    const { faults } = (await svc.get('faults', 'FaultList')).body;
    expect(faults).toMatchObject([
      { handler: 'boom', fault: { logLines: ['handler line 1', 'handler line 2'] } },
    ]);
  });

  test('of a handler that was ended at its deadline has these lines too', async () => {
    const settings = set('svc.http.answer-timeout-ms=30');
    const svc = await observedProcess(temporaryFolder(), [faulty, ...settings]);
    const late = await fetch(`${svc.url}/faulty/log-and-count/a/900`, { method: 'POST' });
    expect(late.status).toBe(504);
    const faults = async () => (await svc.get('faults', 'FaultList')).body.faults;
    await until('the fault', async () => (await faults()).length > 0);
    expect(await faults()).toMatchObject([
      {
        handler: 'logAndCount',
        fault: {
          code: 'SVC_ANSWER_TIMED_OUT',
          limit: 'request-time',
          logLines: ['counting to 900'],
        },
      },
    ]);
  });

  test('of a query that is asked here is 500, with the code and the words of the module', async () => {
    const svc = await observedProcess(temporaryFolder(), [faulty]);
    expect(await svc.raw('query/faulty/f1/boom-query')).toMatchObject({
      status: 500,
      body: {
        error: expect.stringContaining('boom in a query'),
        details: { code: 'trap', places: [{ file: expect.stringMatching(/index\.ts$/) }] },
      },
    });
    expect(await svc.raw('query/faulty/f1/spin-query')).toMatchObject({
      status: 504,
      body: { details: { code: 'fuel', limit: 'query-fuel' } },
    });
    expect((await svc.get('faults?limit=1', 'FaultList')).body.faults).toMatchObject([
      { handler: 'spin-query', outcome: 'TimedOut' },
    ]);
  });
});

describe('a query that spins', () => {
  test('is 504 when its time is over, and the endpoint answers others meanwhile', async () => {
    const svc = await observedProcess(temporaryFolder(), [
      faulty,
      // Seconds of computing.
      ...set('svc.wasm.query-fuel=2000000000', 'svc.http.answer-timeout-ms=400'),
    ]);
    await svc.raw('query/faulty/f1/get');
    const seen = async () => (await svc.get('traces', 'TraceList')).body;
    await until('its trace', async () => (await seen()).traces.length > 0);
    const spinning = svc.raw('query/faulty/f1/spin-query');
    expect((await svc.get('service', 'ServiceDescription')).body.name).toBe('faulty');
    expect((await svc.get('live', 'LiveNumbers')).status).toBe(200);
    expect((await svc.get('entities/faulty', 'EntityList')).status).toBe(200);
    expect(await spinning).toMatchObject({
      status: 504,
      body: { error: expect.stringContaining('SVC_ANSWER_TIMED_OUT') },
    });
    // What was known of the shard is still told, and that it is silent.
    let body = await seen();
    for (let spins = 2; body.silentShards.length === 0; spins++) {
      // It had done with it before this program has asked.
      const more = Array.from({ length: spins }, async () => svc.raw('query/faulty/f1/spin-query'));
      await Promise.race(more);
      body = await seen();
      await Promise.all(more);
    }
    expect(body.silentShards).toEqual([0]);
    expect(body.traces).toContainEqual(expect.objectContaining({ handler: 'get' }));
    await until('the shard', async () => (await seen()).silentShards.length === 0);
    expect((await svc.raw('query/faulty/f1/get')).body).toEqual({ count: 0 });
  });
});

// Elsewhere threads cannot share a port.
describe.runIf(process.platform === 'linux')('several shards', () => {
  test('are asked each for its entities, and their spans are one tree', async () => {
    const svc = await observedProcess(temporaryFolder(), [faulty, '--shards', '2']);
    const ids = Array.from({ length: 8 }, (_, at) => `f${at}`);
    expect(new Set(ids.map((id) => shardOf('faulty', id, 2)))).toEqual(new Set([0, 1]));
    for (const [at, id] of ids.entries()) {
      const traceId = at.toString(16).repeat(32).replace(/^0+$/, 'a'.repeat(32));
      await fetch(`${svc.url}/faulty/count/${id}/${at}`, {
        method: 'POST',
        headers: { traceparent: `00-${traceId}-00000000000000aa-01` },
      });
      expect((await svc.raw(`query/faulty/${id}/get`)).body).toEqual({ count: at });
      const { body } = await svc.get(`traces/${traceId}`, 'TraceDetail');
      expect(body.roots).toMatchObject([
        { kind: 'endpoint', children: [{ entityId: id, shard: shardOf('faulty', id, 2) }] },
      ]);
    }
    const { body } = await svc.get('service', 'ServiceDescription');
    expect(body.instances).toEqual([{ address: svc.url, shards: 2 }]);
    const { window, traces } = (await svc.get('traces', 'TraceList')).body;
    expect(window).toEqual({ capacity: 10_000, recorded: 24 });
    const starts = traces.map(({ startedAt }) => startedAt);
    expect(starts).toEqual(starts.toSorted().toReversed());
  });
});
