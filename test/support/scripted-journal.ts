// A journal that a module has made itself: commands, sent to a runtime on a data folder of the test's.
import { createEngine } from '../../host/engine/entity-engine.ts';
import type { AdmittedModule } from '../../host/hosting/wasm/admission/admission.ts';
import { startWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../host/hosting/wasm/wasm-limits.ts';
import { systemDigest, systemEventLoop } from '../../host/system.ts';
import { withJournal } from './with-journal.ts';

/** Not a multiple of a second: what cuts times off is to be seen. */
const NOW_MS = 1_700_000_000_123;

export type ScriptedCommand = readonly [id: string, name: string, input?: unknown];

/** Each command is answered, or this throws. */
export async function scriptedJournal(
  dir: string,
  module: AdmittedModule,
  component: string,
  commands: readonly ScriptedCommand[],
): Promise<void> {
  const guest = startWasmGuest(module, WASM_LIMITS_DEFAULT, () => {});
  try {
    await withJournal(dir, async (journal) => {
      const engine = createEngine({
        guest,
        journal,
        clock: { nowMs: () => NOW_MS, monotonicMs: () => 1 },
        random: { next64: () => 1n },
        digest: systemDigest,
        eventLoop: systemEventLoop,
        faultLog: () => undefined,
      });
      for (const [id, name, input = null] of commands) {
        const outcome = await engine.call({ component, id }, name, JSON.stringify(input), []);
        if (outcome.kind !== 'reply') throw new Error(`${name}: ${outcome.message}`);
      }
    });
  } finally {
    await guest.close();
  }
}
