// Measurement (g): commands of the shopping cart through the host's own binding, with the code that the rewriter adds
// to the module (fuel, the count of its memory's pages, canonical NaNs), compared with the same module without it.
// Both sides check the values that a module passes to the host, because the check is part of reading them.
import type { Guest, GuestEntities } from '@svc/model/guest';
import { admitModule } from '../host/hosting/wasm/admission/admission.ts';
import { readCoreModule } from '../host/hosting/wasm/binary/core-module-reader.ts';
import { rewriteCoreModule } from '../host/hosting/wasm/metering/module-rewriter.ts';
import { startWasmGuest } from '../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import type { CallContext } from '@svc/model/call';
import { compileFixture, compileFixtureCore } from '../test/support/compile-fixture.ts';
import { median, type Measurement, type Pace } from './report.ts';

const CONTEXT: CallContext = { nowMs: 1_700_000_000_000, seed: 1n, metadata: [['role', 'admin']] };
const COMPONENT = 'shopping-cart';
const ITEMS = Array.from({ length: 10 }, (_, index) =>
  JSON.stringify({ sku: `sku-${index}`, quantity: index + 1 }),
);
/** Number of carts that one side fills in one turn. */
const CARTS = 60;
const NO_LOG = (): void => undefined;

export async function measureLimits({
  seconds,
  rounds,
  warmUpSeconds,
}: Pace): Promise<Measurement[]> {
  const module = admitModule(await compileFixture(COMPONENT));
  const limited = startWasmGuest(module, WASM_LIMITS_DEFAULT, NO_LOG);
  const free = startWasmGuest(
    { ...module, compiled: unlimited(await compileFixtureCore(COMPONENT)) },
    WASM_LIMITS_DEFAULT,
    NO_LOG,
  );
  await inTurns(limited, free, warmUpSeconds);
  const figures: Rates[] = [];
  for (let round = 0; round < rounds; round++) figures.push(await inTurns(limited, free, seconds));
  await limited.close();
  await free.close();
  return [
    {
      letter: 'g',
      what: 'commands of the cart, each folded, through the binding, no journal',
      svc: median(figures.map((figure) => figure.limited)),
      beside: 'the same without limits in its code',
      other: median(figures.map((figure) => figure.free)),
      unit: 'per second',
      ratio: median(figures.map((figure) => figure.limited / figure.free)),
      cores: '1',
    },
  ];
}

/** Compiles the module with the exports that the host calls, but otherwise as the compiler created it. */
function unlimited(core: Uint8Array): WebAssembly.Module {
  const outline = readCoreModule(core, WASM_LIMITS_DEFAULT);
  const rewritten = rewriteCoreModule(outline, WASM_LIMITS_DEFAULT, (out, body) => {
    out.bytes(body.rest());
  });
  return new WebAssembly.Module(new Uint8Array(rewritten));
}

/** Commands per second of both sides. */
interface Rates {
  readonly limited: number;
  readonly free: number;
}

/**
 * Measures both sides in short turns, until each side has run for `seconds` in all. The turns are short so that other
 * work on the machine affects both sides alike.
 */
async function inTurns(limited: Guest, free: Guest, seconds: number): Promise<Rates> {
  const sides = [limited, free].map(({ entities }) => ({ entities, commands: 0, ms: 0 }));
  while (sides.some(({ ms }) => ms < seconds * 1000))
    for (const side of sides) {
      const startedMs = performance.now();
      for (let cart = 0; cart < CARTS; cart++) side.commands += await fillCart(side.entities, cart);
      side.ms += performance.now() - startedMs;
    }
  const [first, second] = sides.map(({ commands, ms }) => (commands * 1000) / ms);
  return { limited: first!, free: second! };
}

async function fillCart(entities: GuestEntities, cart: number): Promise<number> {
  const entity = await entities.open({ component: COMPONENT, id: `c${cart}` }, undefined);
  for (const item of ITEMS) {
    const effect = await entity.command(CONTEXT, 'add-item', item);
    if (effect.kind !== 'effect') throw new Error(`the cart refused: ${effect.message}`);
    await entity.apply(effect.events, undefined);
  }
  entity.close();
  return ITEMS.length;
}
