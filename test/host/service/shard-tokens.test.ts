// ShardTokens: which tokens a shard sends to the main thread, how many at a time, and how long it remembers the good ones.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Clock } from '@svc/kit/clock';
import { expect, onTestFinished, test } from 'vitest';
import { ShardTokens, type VerifiedOutcome } from '../../../host/service/shard-tokens.ts';
import { serveWork } from '../../../host/shards/work-link.ts';

const AWAY = { kind: 'unavailable', retryAfterS: 1 } as const;

const knownAs = (subject: string, expiresMs: number): VerifiedOutcome => ({
  kind: 'known',
  caller: { subject, issuer: 'https://a.test', roles: [], scopes: [], text: '{}', expiresMs },
});

function newTokens(verifyingMax = 10) {
  const times = { wallMs: 1_800_000_000_000, passedMs: 0 };
  const clock: Clock = {
    nowMs: () => times.wallMs,
    monotonicMs: () => times.passedMs,
    after: () => () => {},
  };
  const tokens = new ShardTokens(clock, 100, verifyingMax);
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => {
    tokens.close();
    port2.close();
  });
  return { times, tokens, port: port1, mainPort: port2 };
}

/** Answers as the main thread does. Returns the tokens that it was sent. */
function answering(port: MessagePort, answer: (token: string) => Promise<VerifiedOutcome>) {
  const asked: string[] = [];
  serveWork(
    port,
    async ([value = '']: readonly string[]) => {
      asked.push(value);
      return await answer(value);
    },
    () => AWAY,
  );
  return asked;
}

test('more tokens than are verified at a time are refused for now, also before the main thread listens', async () => {
  const { tokens, port, mainPort } = newTokens(2);
  const first = tokens.verify(['Bearer a']);
  const second = tokens.verify(['Bearer b']);
  expect(tokens.verify(['Bearer c'])).toEqual(AWAY);
  answering(mainPort, async () => ({ kind: 'refused', error: 'invalid_token', reason: 'No.' }));
  tokens.connect(port);
  expect([await first, await second]).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }]);
  expect(await tokens.verify(['Bearer c'])).toMatchObject({ kind: 'refused' });
});

test('a good token is sent once in a minute, though the wall clock is set back', async () => {
  const { times, tokens, port, mainPort } = newTokens();
  const expiresMs = times.wallMs + 3_600_000;
  const asked = answering(mainPort, async () => knownAs('ada', expiresMs));
  tokens.connect(port);
  await tokens.verify(['Bearer a']);
  expect(tokens.verify(['Bearer a'])).toMatchObject({ kind: 'known', caller: { subject: 'ada' } });
  // Two headers are not the one that was found good.
  await tokens.verify(['Bearer a', 'Bearer a']);
  expect(asked).toHaveLength(2);
  times.wallMs -= 86_400_000;
  times.passedMs += 60_000;
  await tokens.verify(['Bearer a']);
  expect(asked).toHaveLength(3);
});

test('a shard whose main thread is gone answers that tokens cannot be verified', async () => {
  const { tokens, port, mainPort } = newTokens();
  tokens.connect(port);
  const waiting = tokens.verify(['Bearer a']);
  mainPort.close();
  expect(await waiting).toEqual(AWAY);
  expect(await tokens.verify(['Bearer a'])).toEqual(AWAY);
});
