import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { KubeError } from '../../../../control-plane/kubernetes/api/kube-error.ts';
import {
  ObjectWatch,
  type ObjectWatchOptions,
} from '../../../../control-plane/kubernetes/api/object-watch.ts';
import type { JsonObject } from '../../../../control-plane/kubernetes/api/kube-transport.ts';
import { type Clock, SYSTEM_CLOCK } from '../../../../kit/clock.ts';
import {
  answerJson,
  ScriptedApi,
  scriptedObject,
  statusObject,
} from '../../../support/kubernetes/scripted-api.ts';

const MAPS = '/api/v1/configmaps';
/** Answers of the watches, in their order. The last one is that of all further watches. */
type WatchAnswer = (response: ServerResponse) => void;

class WatchedApi implements AsyncDisposable {
  readonly log: string[] = [];
  readonly failures: KubeError[] = [];
  readonly #api: ScriptedApi;
  readonly #watch: ObjectWatch;

  private constructor(api: ScriptedApi, options: Partial<ObjectWatchOptions>) {
    this.#api = api;
    this.#watch = new ObjectWatch({
      client: api.client(),
      path: MAPS,
      onList: (objects) =>
        this.log.push(`list ${objects.map(({ metadata }) => metadata.name).join(' ')}`),
      onChange: (change, { metadata }) => this.log.push(`${change} ${metadata.name}`),
      onFailure: (error) => this.failures.push(error),
      ...options,
      limits: { pauseMinMs: 1, pauseMaxMs: 5, ...options.limits },
    });
  }

  /** Lists have the object `a` and the version 10. */
  static async start(
    answers: readonly WatchAnswer[],
    options: Partial<ObjectWatchOptions> = {},
  ): Promise<WatchedApi> {
    let watches = 0;
    const api = await ScriptedApi.start(({ query }, response) => {
      if (query['watch'] === undefined)
        return answerJson(response, 200, {
          metadata: { resourceVersion: '10' },
          items: [scriptedObject('a', 1)],
        });
      answers[Math.min(watches++, answers.length - 1)]!(response);
    });
    return new WatchedApi(api, options);
  }

  /** Versions from which watches have begun, and `list` for each list. */
  get requests(): readonly string[] {
    return this.#api.requests.map(({ query }) => query['resourceVersion'] ?? 'list');
  }

  get isLive(): boolean {
    return this.#watch.isLive;
  }

  endWatch(): Promise<void> {
    return this.#watch[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endWatch();
    await this.#api[Symbol.asyncDispose]();
  }
}

const line = (type: string, object: JsonObject) => `${JSON.stringify({ type, object })}\n`;
const added = (name: string, version: number) => line('ADDED', scriptedObject(name, version));
const bookmark = (version: number) =>
  line('BOOKMARK', { metadata: { resourceVersion: String(version) } });
const ends =
  (text: string): WatchAnswer =>
  (response) =>
    void response.end(text);
/** Sends the text and leaves the answer open. */
const stays =
  (text: string): WatchAnswer =>
  (response) =>
    void response.write(text);
const silent: WatchAnswer = (response) => response.flushHeaders();

test('changes follow a list, and a watch goes on from the last version', async () => {
  await using api = await WatchedApi.start([
    ends(added('b', 11) + line('DELETED', scriptedObject('b', 12))),
    ends(bookmark(20)),
    stays(added('c', 21)),
  ]);
  await expect.poll(() => api.log).toEqual(['list a', 'ADDED b', 'DELETED b', 'ADDED c']);
  expect(api.requests).toEqual(['list', '10', '12', '20']);
  expect(api.failures).toEqual([]);
});

test.each<[string, WatchAnswer]>([
  ['an event', ends(line('ERROR', statusObject(410, 'Expired', 'too old resource version')))],
  [
    'a status',
    (response) =>
      answerJson(response, 410, statusObject(410, 'Expired', 'too old resource version')),
  ],
])('a version that is gone, said by %s, has the objects listed again', async (_, gone) => {
  await using api = await WatchedApi.start([gone, stays(added('b', 11))]);
  await expect.poll(() => api.log).toEqual(['list a', 'list a', 'ADDED b']);
  expect(api.failures).toMatchObject([{ status: 410, message: 'too old resource version' }]);
});

test('half an event is no event, and a watch goes on from the version before it', async () => {
  await using api = await WatchedApi.start([
    (response) => {
      const text = added('b', 11) + added('c', 12).slice(0, 30);
      response.write(text, () => response.destroy());
    },
    stays(added('c', 12)),
  ]);
  await expect.poll(() => api.log).toEqual(['list a', 'ADDED b', 'ADDED c']);
  expect(api.requests).toEqual(['list', '10', '11']);
  expect(api.failures).toMatchObject([{ kind: 'unreachable' }]);
});

test('an answer that ends in the middle of an event is half an event', async () => {
  await using api = await WatchedApi.start([
    ends(added('b', 11).trimEnd().slice(0, -1)),
    stays(added('b', 11)),
  ]);
  await expect.poll(() => api.log).toEqual(['list a', 'ADDED b']);
  expect(api.requests).toEqual(['list', '10', '10']);
  expect(api.failures[0]!.message).toBe('a watch has ended in the middle of an event');
});

test('an event that arrives in pieces is one event', async () => {
  await using api = await WatchedApi.start([
    async (response) => {
      response.flushHeaders();
      for (const character of added('ä', 11) + added('c', 12)) {
        response.write(character);
        await new Promise(setImmediate);
      }
    },
  ]);
  await expect.poll(() => api.log).toEqual(['list a', 'ADDED ä', 'ADDED c']);
});

test.each([
  ['a web page', '<html>Sign in</html>\n', /with a web page: "Sign in"/],
  ['an unknown type', line('RENAMED', scriptedObject('b', 11)), /unknown type "RENAMED"/],
  ['an object without a version', line('ADDED', { metadata: { name: 'b' } }), /no resourceVersion/],
  ['an object without a name', line('ADDED', { metadata: {} }), /no object with a name/],
  ['an error without a status', '{"type":"ERROR"}\n', /error without a status/],
  ['an event that is too large', line('ADDED', { metadata: { name: 'x'.repeat(5000) } }), /larger/],
])('%s in a watch has the objects listed again', async (_, text, message) => {
  await using api = await WatchedApi.start([stays(text), stays(added('b', 11))], {
    limits: { eventBytesMax: 1000 },
  });
  await expect.poll(() => api.log).toEqual(['list a', 'list a', 'ADDED b']);
  expect(api.failures).toMatchObject([{ kind: 'invalid' }]);
  expect(api.failures[0]!.message).toMatch(message);
});

test('a watch that is silent is ended, and the objects are listed again', async () => {
  const closed: Promise<unknown>[] = [];
  await using api = await WatchedApi.start(
    [
      (response) => {
        closed.push(once(response, 'close'));
        silent(response);
      },
      stays(added('b', 11)),
    ],
    { limits: { silentMs: 300 } },
  );
  await expect.poll(() => api.log.slice(0, 3)).toEqual(['list a', 'list a', 'ADDED b']);
  await closed[0];
  expect(api.failures[0]!.message).toBe(`the watch of ${MAPS} is silent for 300 ms`);
});

test('a watch is live while it is open, and for five seconds after it has ended as it should', async () => {
  let passedMs = 0;
  const clock = { ...SYSTEM_CLOCK, monotonicMs: () => passedMs };
  const responses: ServerResponse[] = [];
  await using api = await WatchedApi.start(
    [
      (response) => {
        responses.push(response);
        response.flushHeaders();
      },
      (response) => void responses.push(response),
    ],
    { clock, isListedAnew: true, limits: { silentMs: 60_000 } },
  );
  expect(api.isLive).toBe(false);
  await expect.poll(() => api.isLive).toBe(true);
  passedMs = 59_999;
  expect(api.isLive).toBe(true);
  passedMs = 60_000;
  expect(api.isLive).toBe(false);
  responses[0]!.end();
  await expect.poll(() => api.requests).toEqual(['list', '10', 'list', '10']);
  passedMs = 64_999;
  expect(api.isLive).toBe(true);
  passedMs = 65_000;
  expect(api.isLive).toBe(false);
  responses[1]!.flushHeaders();
  await expect.poll(() => api.isLive).toBe(true);
});

test('a watch that breaks is not live', async () => {
  await using api = await WatchedApi.start([
    (response) => response.write(added('b', 11), () => response.destroy()),
    () => undefined,
  ]);
  await expect.poll(() => api.requests).toEqual(['list', '10', '11']);
  expect(api.isLive).toBe(false);
});

test('a callback that throws has the objects listed again', async () => {
  const seen: string[] = [];
  await using api = await WatchedApi.start([stays(added('b', 11))], {
    onChange: (_, { metadata }) => {
      seen.push(metadata.name);
      if (seen.length === 1) throw new Error('a fault of the caller');
    },
  });
  await expect.poll(() => seen).toEqual(['b', 'b']);
  expect(api.requests).toEqual(['list', '10', 'list', '10']);
});

/** Records pauses and does not wait for them. */
class RecordedPauses {
  readonly pauses: number[] = [];
  readonly clock: Clock = {
    ...SYSTEM_CLOCK,
    after: (ms, callback) => {
      if (ms > 1_000_000) return () => undefined;
      this.pauses.push(ms);
      return SYSTEM_CLOCK.after(0, callback);
    },
  };
}

const PAUSED = { pauseMinMs: 100, pauseMaxMs: 1000, silentMs: 10_000_000 };

test.each<[string, WatchAnswer]>([
  ['fails', (response) => answerJson(response, 500, statusObject(500, 'InternalError', 'no'))],
  ['ends each watch at once', ends('')],
  ['ends each watch after an event', ends(added('b', 11))],
  ['says again and again that a version is gone', ends(line('ERROR', statusObject(410, '', 'x')))],
])('a server that %s is asked less and less often', async (_, answer) => {
  const { pauses, clock } = new RecordedPauses();
  await using api = await WatchedApi.start([answer], { limits: PAUSED, clock, random: () => 0.5 });
  await expect.poll(() => pauses.length).toBeGreaterThan(6);
  await api.endWatch();
  const isExpired = api.failures[0]?.status === 410;
  expect(pauses.slice(0, 5)).toEqual(
    isExpired ? [200, 400, 800, 1000, 1000] : [100, 200, 400, 800, 1000],
  );
});

test('a server that asks for time gets it, up to the longest pause', async () => {
  const { pauses, clock } = new RecordedPauses();
  const limits = { ...PAUSED, pauseMaxMs: 60_000 };
  await using api = await WatchedApi.start(
    ['3', '600'].map((wait) => (response: ServerResponse) => {
      response.setHeader('retry-after', wait);
      answerJson(response, 429, statusObject(429, 'TooManyRequests', 'slow down'));
    }),
    { limits, clock, random: () => 0.5 },
  );
  await expect.poll(() => pauses.length).toBeGreaterThan(2);
  await api.endWatch();
  expect(pauses.slice(0, 2)).toEqual([3000, 60_000]);
});

test('disposing ends the request, and no callback follows', async () => {
  let answer: ServerResponse | undefined;
  await using api = await WatchedApi.start([
    (response) => {
      answer = response;
      response.write(added('b', 11));
    },
  ]);
  await expect.poll(() => api.log).toEqual(['list a', 'ADDED b']);
  const closed = once(answer!, 'close');
  const ended = api.endWatch();
  answer!.write(added('c', 12));
  await ended;
  await closed;
  expect(api.log).toEqual(['list a', 'ADDED b']);
  expect(api.failures).toEqual([]);
});
