// Every module of the corpus, judged and started within this process: one that is not to be run is refused with its
// documented code, and one that runs is admitted. What the running ones do is in the long tier, in processes of their own.
import { describe, expect, test } from 'vitest';
import { FAMILIES } from '../../fixtures/hostile/families.ts';
import { isAlone, isRefused, isRouted } from '../../fixtures/hostile/hostile-case.ts';
import { admitModule } from '../../host/hosting/wasm/admission/admission.ts';
import { startWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../host/hosting/wasm/wasm-limits.ts';
import { SvcError } from '../../kit/svc-error.ts';
import { switchboardModule } from './support/run-routed.ts';

/** Admits and starts a module; answers the failure, or undefined when it runs. */
function failureOf(bytes: Uint8Array): SvcError | undefined {
  try {
    void startWasmGuest(admitModule(bytes), WASM_LIMITS_DEFAULT, () => {}).close();
    return undefined;
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
}

describe.each(FAMILIES.filter(({ cases }) => cases.some(isRefused)))(
  'is refused: $name',
  ({ cases }) => {
    test.each(cases.filter(isRefused).map((refused) => [refused.name, refused] as const))(
      '%s',
      async (_name, { bytes, code, says = '' }) => {
        const failure = failureOf(await bytes());
        expect([code].flat()).toContain(failure?.code);
        expect(failure?.message).toContain(says);
      },
    );
  },
);

test('the refused cases are run with the settings that a service has by default', () => {
  const refused = FAMILIES.flatMap(({ cases }) => cases.filter(isRefused));
  expect(refused.length).toBeGreaterThan(50);
  expect(refused.filter(({ settings }) => settings !== undefined)).toEqual([]);
});

describe.each(FAMILIES.filter(({ cases }) => cases.some(isAlone)))('runs: $name', ({ cases }) => {
  test.each(cases.filter(isAlone).map((alone) => [alone.name, alone] as const))(
    '%s',
    async (_name, { bytes }) => {
      expect(failureOf(await bytes())).toBeUndefined();
    },
  );
});

test.each(['utf8', 'utf16', 'latin1+utf16'] as const)(
  'the module of all attacks with text in %s runs',
  async (encoding) => {
    const routed = FAMILIES.flatMap(({ cases }) => cases.filter(isRouted));
    const attacks = routed.filter((attack) => (attack.encoding ?? 'utf8') === encoding);
    expect(attacks.length).toBeGreaterThan(0);
    expect(failureOf(await switchboardModule(attacks, encoding))).toBeUndefined();
  },
);
