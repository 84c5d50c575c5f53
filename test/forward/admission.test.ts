// Which requests are admitted, by what their connection proves, and of whom the process is informed.
import { describe, expect, test } from 'vitest';
import { admit } from '../../forward/admission.ts';
import { SHOP } from './support/heads.ts';

const service = (project: string, name: string) =>
  ({ kind: 'service', project, service: name }) as const;

function admitted(caller: Parameters<typeof admit>[0]['caller'], callers: readonly string[] = []) {
  const found = admit({ caller, isMount: false }, SHOP, callers);
  return found.kind === 'admitted' ? found.arrival : found.answer.status;
}

describe('a caller', () => {
  test.each([{ kind: 'internet' } as const, { kind: 'local' } as const, service('shop', 'web')])(
    'is admitted although the descriptor names nobody: %j',
    (caller) => {
      expect(admitted(caller)).toEqual({ caller, isMounted: false });
    },
  );

  test.each([
    [service('shop', 'cart'), []],
    [service('bank', 'web'), []],
    [service('bank', 'cart'), ['cart']],
    [service('shop', 'cart'), ['cart.bank', 'web', 'car']],
    [service('shop', 'web2'), ['web']],
  ])('that the descriptor does not name is refused: %j, %j', (caller, callers) => {
    expect(admitted(caller, callers)).toBe(403);
  });

  test.each([
    [service('shop', 'cart'), ['cart']],
    [service('shop', 'cart'), ['cart.shop']],
    [service('bank', 'ledger'), ['cart', 'ledger.bank']],
  ])('that the descriptor names is admitted: %j, %j', (caller, callers) => {
    expect(admitted(caller, callers)).toEqual({ caller, isMounted: false });
  });

  test('that its certificate does not name is refused', () => {
    expect(admit({ caller: undefined, isMount: false }, SHOP, ['cart'])).toMatchObject({
      kind: 'refused',
      answer: { kind: 'caller-unrecognised', status: 403 },
    });
  });
});

describe('a request under a mount', () => {
  test('is taken from every service of the project, as one of the internet', () => {
    expect(admit({ caller: service('shop', 'front'), isMount: true }, SHOP, [])).toEqual({
      kind: 'admitted',
      arrival: { caller: { kind: 'internet' }, isMounted: true },
    });
  });

  test.each([service('bank', 'front'), { kind: 'internet' } as const, { kind: 'local' } as const])(
    'is refused from anybody else, whom the descriptor may name: %j',
    (caller) => {
      expect(admit({ caller, isMount: true }, SHOP, ['front.bank'])).toMatchObject({
        kind: 'refused',
        answer: { kind: 'mount-of-another-project', status: 403 },
      });
    },
  );

  test('is refused without a caller for that reason', () => {
    expect(admit({ caller: undefined, isMount: true }, SHOP, [])).toMatchObject({
      answer: { kind: 'caller-unrecognised' },
    });
  });
});
