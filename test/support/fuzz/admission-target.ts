// AdmissionTarget: whatever the bytes are, admission admits them or refuses them with a code SVC_MODULE_…,
// says the same twice, and what it admits starts, or fails as a module does.
import { admitModule, inspectModule } from '../../../host/hosting/wasm/admission/admission.ts';
import { createWasmGuest } from '../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import { counter } from '../../host/hosting/wasm/support/counter.ts';
import { guestModule } from '../../host/hosting/wasm/support/guest-module.ts';
import {
  CONTEXT,
  entityRef,
  hostCalls,
  request,
} from '../../host/hosting/wasm/support/live-guest.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { mutateModule } from './component-grammar.ts';
import { type FuzzTarget, demand } from './fuzz-target.ts';
import { generateModule } from './wasm-grammar.ts';
import { WITHOUT_TIMERS } from '../without-timers.ts';

const LIMITS = {
  ...WASM_LIMITS_DEFAULT,
  moduleBytesMax: 1024 * 1024,
  memoryPagesMax: 8,
  startFuel: 50_000,
  entityFuel: 50_000,
  commandFuel: 50_000,
  queryFuel: 50_000,
  handlerFuel: 50_000,
};
/** What a module may be linked with, told once more. */
const LINKS = new Set([
  'svc:runtime/clock@0.1.0 now-ms',
  'svc:runtime/journal@0.1.0 read',
  'svc:runtime/routing@0.1.0 call',
  '[export]svc:runtime/entity@0.1.0 [resource-new]instance',
  '[export]svc:runtime/entity@0.1.0 [resource-rep]instance',
  '[export]svc:runtime/entity@0.1.0 [resource-drop]instance',
]);

export async function admissionTarget(): Promise<FuzzTarget> {
  const seeds = [
    await guestModule(counter),
    await guestModule({}, 'utf16'),
    await guestModule({}, 'latin1+utf16'),
  ];
  return {
    name: 'admission',
    covers: '/host/hosting/wasm/',
    fresh: (random) =>
      random.chance(2)
        ? generateModule(random, false).bytes
        : mutateModule(random, random.pick(seeds), random.pick(seeds)),
    mutated: mutateModule,
    run: runAdmission,
  };
}

async function runAdmission(input: Uint8Array): Promise<void> {
  const code = refusalOf(input);
  const report = inspectModule(input, LIMITS);
  demand(report.refusal?.code === code, 'inspecting says what admitting does');
  for (const text of [...report.imports, ...report.exports, report.refusal?.message ?? ''])
    demand(!/[\p{Cc}\p{Cf}]/u.test(text), 'what is said of a module is fit for printing');
  if (code === undefined) await startsOrFails(input);
}

/** Undefined: it is admitted. */
function refusalOf(input: Uint8Array): string | undefined {
  try {
    const { compiled } = admitModule(input, LIMITS);
    for (const { module, name, kind } of WebAssembly.Module.imports(compiled))
      demand(kind === 'function' && LINKS.has(`${module} ${name}`), 'links are on the list');
    return undefined;
  } catch (error) {
    if (error instanceof SvcError && error.code.startsWith('SVC_MODULE_')) return error.code;
    throw error;
  }
}

async function startsOrFails(input: Uint8Array): Promise<void> {
  await expectFault(async () => {
    const guest = await createWasmGuest(input, LIMITS);
    await expectFault(async () => {
      const entity = await guest.entities.open(entityRef('a'), undefined);
      await entity.apply([{ manifest: 'counted', json: '{}' }], undefined);
      await entity.command(CONTEXT, 'add', '{}');
      await entity.query(CONTEXT, 'get', 'x');
      entity.close();
    });
    await expectFault(() =>
      guest.endpoints.handle(CONTEXT, request(2, { parameters: ['a'] }), CALLS),
    );
    await guest.close();
  });
}

const CALLS = hostCalls({
  nowMs: () => 1,
  call: () => ({ kind: 'reply', json: '{}' }),
  ...WITHOUT_TIMERS,
  readEvents: () => [],
});

/** Does the work; a fault of the module, or its refusal, is as good as an end. */
export async function expectFault(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GuestFault) return undefined;
    if (error instanceof SvcError && error.code.startsWith('SVC_MODULE_')) return undefined;
    throw error;
  }
}
