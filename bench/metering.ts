// Measurement (f): commands of the counter's core module with metering, as the host runs it, compared with the module
// as the compiler created it. The same code calls both, without the host's checks.
import { readCoreModule } from '../host/hosting/wasm/binary/core-module-reader.ts';
import { rewriteCoreModule } from '../host/hosting/wasm/metering/module-rewriter.ts';
import { FUEL_MAX, WASM_LIMITS_DEFAULT } from '../host/hosting/wasm/wasm-limits.ts';
import { compileFixtureCore } from '../test/support/compile-fixture.ts';
import { CoreGuest } from '../test/support/core-guest.ts';
import { median, type Measurement, type Pace } from './report.ts';

/** All fuel is given to the instance at its start. */
const LIMITS = { ...WASM_LIMITS_DEFAULT, startFuel: FUEL_MAX };
/** Number of commands that one instance executes; its fuel is enough for them. */
const COMMANDS_PER_INSTANCE = 10_000;

export async function measureMetering({
  seconds,
  rounds,
  warmUpSeconds,
}: Pace): Promise<Measurement[]> {
  // A copy, because the buffer of the file's bytes may be shared with others.
  const core = new Uint8Array(await compileFixtureCore('counter'));
  const plain = new WebAssembly.Module(core);
  const rewritten = rewriteCoreModule(readCoreModule(core, LIMITS), LIMITS);
  const metered = new WebAssembly.Module(rewritten);
  for (const module of [plain, metered]) commandsPerSecond(module, warmUpSeconds);
  const figures: { metered: number; plain: number }[] = [];
  for (let round = 0; round < rounds; round++)
    figures.push({
      metered: commandsPerSecond(metered, seconds),
      plain: commandsPerSecond(plain, seconds),
    });
  return [
    {
      letter: 'f',
      what: 'commands of one metered instance, no engine, no journal',
      svc: median(figures.map((figure) => figure.metered)),
      beside: 'the same, not metered',
      other: median(figures.map((figure) => figure.plain)),
      unit: 'per second',
      ratio: median(figures.map((figure) => figure.metered / figure.plain)),
      cores: '1',
    },
  ];
}

function commandsPerSecond(module: WebAssembly.Module, seconds: number): number {
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1000;
  let commands = 0;
  while (performance.now() < untilMs) {
    const guest = new CoreGuest(module);
    const entity = guest.open('counter', 'c1');
    for (let turn = 0; turn < COMMANDS_PER_INSTANCE; turn++)
      if (!('ok' in guest.command(entity, 'add', '{"amount":1}')))
        throw new Error('the counter refused to add');
    commands += COMMANDS_PER_INSTANCE;
  }
  return (commands * 1000) / (performance.now() - startedMs);
}
