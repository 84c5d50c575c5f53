// A real service whose instances fault with much memory: what the process has of released instances is bounded.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MIB = 1024 * 1024;
const RELEASED_BYTES_MAX = 64 * MIB;
const FAULTS = 15;
/** What a service has after its start, and then the released memory with the last instance and the next one, twice. */
const PEAK_MIB_MAX = 256 + 2 * (64 + 2 * 64);

/** Fills its memory until it traps: 64 MiB, the default limit of an instance. */
const HUNGRY = `import { EventSourcedEntity, Result, register } from "@svc/guest-sdk";
@data class Nothing {}
@data class Filled { blocks: i32 = 0; }
function fill(): Filled {
  const blocks = new Array<Uint8Array>();
  while (true) {
    const block = new Uint8Array(65536);
    block[0] = 1;
    blocks.push(block);
  }
  return new Filled();
}
@data abstract class HungryEvent {}
@variant("filled") class WasFilled extends HungryEvent {}
@entity("hungry") class Hungry extends EventSourcedEntity<Nothing, HungryEvent> {
  empty(entityId: string): Nothing { return new Nothing(); }
  apply(state: Nothing, event: HungryEvent): Nothing { if (event instanceof WasFilled) {} return state; }
  @query("fill") fill(state: Nothing): Filled { return fill(); }
}
@endpoint("/fill") @access("internet") class Fill {
  @get("/handler/{id}") handler(id: i32): Filled { return fill(); }
  @get("/entity/{id}") entity(id: string): Result<Filled> { return new HungryClient(id).fill(); }
}
register<Hungry>();
register<Fill>();
`;

async function serve(): Promise<SvcProcess> {
  const folder = temporaryFolder();
  const entryFile = join(folder, 'index.ts');
  writeFileSync(entryFile, HUNGRY);
  const module = join(folder, 'hungry.wasm');
  writeFileSync(module, (await buildComponent({ entryFile })).component);
  const words = ['run', module, '--port', '0', '--data', join(folder, 'data'), '--shards', '1'];
  const bound = `svc.wasm.released-bytes-max=${RELEASED_BYTES_MAX}`;
  const service = new SvcProcess([...words, '--set', bound]);
  onTestFinished(async () => void (await service.end('SIGKILL')));
  return service;
}

/** The most memory that the process has ever had, in MiB. */
function peakMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)![1]) / 1024;
}

test('instances that fault with much memory leave no more of it in the process than the bound', async (context) => {
  if (!existsSync('/proc/self/status')) context.skip('the peak of a process is read from /proc');
  const service = await serve();
  const url = await service.listening();
  for (const path of ['handler', 'entity'])
    for (let fault = 0; fault < FAULTS; fault++)
      expect((await fetch(`${url}/fill/${path}/${fault}`)).status).toBe(500);
  expect(peakMib(service.child.pid!)).toBeLessThan(PEAK_MIB_MAX);
});
