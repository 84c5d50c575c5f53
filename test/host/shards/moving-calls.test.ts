// MovingCalls: calls of entities that move are routed again, and no others.
import { expect, test, vi } from 'vitest';
import { MovingCalls } from '../../../host/shards/moving-calls.ts';
import { SvcError, type SvcErrorCode } from '../../../kit/svc-error.ts';

const moved = (code: SvcErrorCode = 'SVC_ENTITY_MOVED') => new SvcError(code, 'elsewhere');

/** Owners whose changes the test makes. Pauses end at once, and are noted. */
class Owners {
  version = 0;
  looks = 0;
  readonly pauses: number[] = [];
  /** Called in each pause. */
  onPause = (): void => {};

  look(): void {
    this.looks++;
  }

  async changed(version: number, timeoutMs: number): Promise<void> {
    if (version !== this.version) return;
    this.pauses.push(timeoutMs);
    this.onPause();
  }
}

function calls() {
  const owners = new Owners();
  return { owners, moving: new MovingCalls(owners) };
}

test('an answer that comes at once is passed on as it is', () => {
  const { owners, moving } = calls();
  expect(moving.follow(() => 7)).toBe(7);
  expect(owners.looks).toBe(0);
});

test.each(['SVC_ENTITY_MOVED', 'SVC_SHARD_UNAVAILABLE'] as const)(
  'a call that fails with %s is made again once an owner has changed',
  async (code) => {
    const { owners, moving } = calls();
    let isHere = false;
    owners.onPause = () => {
      isHere = true;
      owners.version++;
    };
    const call = vi.fn(() => (isHere ? Promise.resolve('here') : Promise.reject(moved(code))));
    expect(await moving.follow(call)).toBe('here');
    expect(call).toHaveBeenCalledTimes(2);
    expect(owners.looks).toBe(1);
    expect(moving.held).toBe(0);
  },
);

test('a refusal that is thrown counts like one that comes later', async () => {
  const { owners, moving } = calls();
  let left = 3;
  const call = () => {
    if (left-- > 0) throw moved();
    return 'here';
  };
  expect(await moving.follow(call)).toBe('here');
  expect(owners.pauses).toEqual([2, 4, 8]);
});

test('an owner that had changed before the refusal came is asked without a pause', async () => {
  const { owners, moving } = calls();
  let isHere = false;
  const call = async () => {
    if (isHere) return 'here';
    owners.version++;
    isHere = true;
    throw moved();
  };
  expect(await moving.follow(call)).toBe('here');
  expect(owners.pauses).toEqual([]);
});

test.each(['SVC_CALL_UNCERTAIN', 'SVC_JOURNAL_UNAVAILABLE', 'SVC_OVERLOADED'] as const)(
  'a call that fails with %s is not made again',
  async (code) => {
    const { moving } = calls();
    const call = vi.fn(() => Promise.reject(moved(code)));
    await expect(moving.follow(call)).rejects.toMatchObject({ code });
    expect(call).toHaveBeenCalledTimes(1);
  },
);

test('a call that has moved fails with what its last attempt met', async () => {
  const { moving } = calls();
  let attempts = 0;
  const call = () => Promise.reject(attempts++ === 0 ? moved() : moved('SVC_OVERLOADED'));
  await expect(moving.follow(call)).rejects.toMatchObject({ code: 'SVC_OVERLOADED' });
  expect(moving.held).toBe(0);
});

test('a call whose entity has no owner for too long fails with its refusal', async () => {
  const { owners, moving } = calls();
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  owners.onPause = () => (nowMs += owners.pauses.at(-1) ?? 0);
  await expect(moving.follow(() => Promise.reject(moved()))).rejects.toMatchObject({
    code: 'SVC_ENTITY_MOVED',
  });
  expect(nowMs).toBe(2_000);
  expect(Math.max(...owners.pauses)).toBe(100);
  clock.mockRestore();
});

test('so many calls wait and no more', async () => {
  const { owners, moving } = calls();
  const gate = Promise.withResolvers<void>();
  owners.changed = () => gate.promise;
  let isHere = false;
  const call = () => (isHere ? Promise.resolve('here') : Promise.reject(moved()));
  const held = Array.from({ length: 10_000 }, () => moving.follow(call));
  await vi.waitFor(() => expect(moving.held).toBe(10_000));
  await expect(moving.follow(call)).rejects.toMatchObject({ code: 'SVC_ENTITY_MOVED' });
  isHere = true;
  gate.resolve();
  expect(new Set(await Promise.all(held.map(async (answer) => answer)))).toEqual(new Set(['here']));
  expect(moving.held).toBe(0);
});
