// A process that is killed after any step of its writes leaves an installation that the next one completes: no authority that others
// trust is lost, and nothing is left over.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseCertificates, parseServerPair } from '../../../identity/certificates.ts';
import { CertificatesUnderTest, DAY_MS, textsIn } from './certificates-under-test.ts';
import { KilledWriter } from './killed-writer.ts';

const GATEWAY = 'spiffe://svc.localhost/gateway';
const CART = 'spiffe://svc.localhost/ns/svc-shop/sa/cart';

/** Every such number of steps a writer is killed; file-steps.test.ts does so after each step of one change. */
const STRIDE = 3;

/** Lets a writer be killed after `first` steps, and after more and more of them, until one completes. */
async function eachKill(
  first: number,
  round: (writer: KilledWriter) => Promise<void>,
): Promise<number> {
  for (let steps = first; ; steps += STRIDE) {
    const writer = new KilledWriter(steps);
    // oxlint-disable-next-line no-await-in-loop -- one process after the other
    await round(writer);
    if (!writer.isKilled) return steps;
  }
}

function expectWhole({ paths, folder, nowMs }: CertificatesUnderTest): void {
  expect(parseCertificates(textsIn(paths.gatewayIdentity), nowMs, GATEWAY)).toMatchObject({
    id: GATEWAY,
  });
  const [certificate = '', key = ''] = ['default.crt', 'default.key'].map((name) =>
    readFileSync(join(paths.gatewayCertificates, name), 'utf8'),
  );
  expect(parseServerPair({ certificate, key }, nowMs)).not.toHaveProperty('problem');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(names.filter((name) => /\.new$|\.\.new-[^/]*$/.test(name))).toEqual([]);
}

test('the first start is completed by the next one', async () => {
  const steps = await eachKill(0, async ({ carryOut }) => {
    const machine = new CertificatesUnderTest();
    const killed = await machine.open({ carryOut }).catch(() => undefined);
    await killed?.close();
    await machine.open();
    expectWhole(machine);
  });
  expect(steps).toBeGreaterThan(50);
});

test('a renewal is completed by the next start, and what is in use is whole until then', async () => {
  await eachKill(1, async ({ carryOut }) => {
    const machine = new CertificatesUnderTest();
    const first = await machine.open();
    const cart = await machine.instance(first, 'cart');
    await first.close();
    machine.nowMs += DAY_MS / 2;
    const killed = await machine.open({ carryOut });
    await killed.close();
    // Half of the lifetime is left of what was not replaced.
    for (const folder of [cart, machine.paths.gatewayIdentity])
      expect(parseCertificates(textsIn(folder), machine.nowMs)).toHaveProperty('id');
    await machine.open();
    expectWhole(machine);
    expect(parseCertificates(textsIn(cart), machine.nowMs, CART)).toHaveProperty('id');
  });
});

test('a replacement of the authorities is completed by the next start, without the operator', async () => {
  await eachKill(2, async ({ carryOut }) => {
    const machine = new CertificatesUnderTest();
    const first = await machine.open();
    const cart = await machine.instance(first, 'cart');
    await first.close();
    machine.nowMs += DAY_MS / 4;
    const killed = await machine.open({ carryOut, isNew: true }).catch(() => undefined);
    await killed?.close();
    const last = await machine.open();
    expectWhole(machine);
    machine.nowMs += 60_000;
    await last.check();
    const { authorities } = textsIn(machine.paths.gatewayIdentity);
    expect(textsIn(cart).authorities).toBe(authorities);
    const trusted = readFileSync(machine.paths.hostnamesAuthority, 'utf8');
    const stored = JSON.parse(
      readFileSync(join(machine.paths.authorities, 'hostnames.json'), 'utf8'),
    ) as { readonly certificate: string };
    expect(trusted).toBe(stored.certificate);
  });
});
