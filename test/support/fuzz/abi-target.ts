// AbiTarget: whatever a module answers, the binding lifts what the canonical ABI says, or throws a GuestFault;
// what it hands on is the host's own, and no view of the module's memory.
//
// An input is one byte for the string encoding, one of flags, and a script for the scripted guest.
import { admitModule } from '../../../host/hosting/wasm/admission/admission.ts';
import type { StringEncoding } from '../../../host/hosting/wasm/binary/component-outline.ts';
import { startWasmGuest } from '../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../../host/hosting/wasm/wasm-limits.ts';
import { HTTP_SETTINGS_DEFAULT } from '../../../host/http/http-settings.ts';
import { responseAnswer } from '../../../host/http/response-writer.ts';
import type { Guest, HostCalls } from '../../../model/guest.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { CONTEXT, entityRef, request } from '../../host/hosting/wasm/support/live-guest.ts';
import { patchesOf, randomScript } from './abi-values.ts';
import { type FuzzTarget, demand, havoc } from './fuzz-target.ts';
import { referenceLift } from './reference-lift.ts';
import { scriptedGuest } from './scripted-guest.ts';
import { WITHOUT_TIMERS } from '../without-timers.ts';

const ENCODINGS: readonly StringEncoding[] = ['utf8', 'utf16', 'latin1+utf16'];
const MIB = 1024 * 1024;
const LIMITS = {
  ...WASM_LIMITS_DEFAULT,
  memoryPagesMax: 16,
  liftedBytesMax: MIB,
  entityFuel: 20_000_000,
  handlerFuel: 20_000_000,
};
/** The script is given twice for each of its digits; no longer one reaches more. */
const SCRIPT_BYTES_MAX = 8000;

export async function abiTarget(): Promise<FuzzTarget> {
  const modules = await Promise.all(ENCODINGS.map((encoding) => scriptedGuest(encoding)));
  const admitted = modules.map((bytes) => admitModule(bytes, LIMITS));
  return {
    name: 'abi',
    covers: '/host/hosting/wasm/',
    fresh: (random) =>
      Uint8Array.of(random.below(ENCODINGS.length), random.below(256), ...randomScript(random)),
    mutated: (random, input) => havoc(random, input),
    async run(input) {
      const encoding = (input[0] ?? 0) % ENCODINGS.length;
      const script = input.subarray(2, 2 + SCRIPT_BYTES_MAX);
      const guest = startWasmGuest(admitted[encoding]!, LIMITS, () => {});
      await askEntity(guest, script, ENCODINGS[encoding]!);
      await askHandler(guest, script, input[1] ?? 0);
      await guest.close();
    },
  };
}

async function askEntity(
  guest: Guest,
  script: Uint8Array,
  encoding: StringEncoding,
): Promise<void> {
  const open = async () => guest.entities.open(entityRef('a'), Buffer.from(script).toString('hex'));
  const patches = patchesOf(script);
  for (const which of ['command', 'query'] as const) {
    const lifted = await liftedBy(async () => (await open())[which](CONTEXT, 'name', '{}'));
    const expected = referenceLift(which, patches, encoding);
    demand(
      expected === 'unknown' || show(lifted) === show(expected),
      `a ${which} gives ${show(expected)}, not ${show(lifted)}`,
    );
  }
  await liftedBy(async () => {
    const entity = await open();
    await entity.apply([{ manifest: 'm', json: '{}' }], undefined);
    return entity.snapshot();
  });
}

async function askHandler(guest: Guest, script: Uint8Array, flags: number): Promise<void> {
  const body = { kind: 'text', text: Buffer.from(script).toString('hex') } as const;
  const lifted = await liftedBy(async () =>
    guest.endpoints.handle(CONTEXT, request(0, { body }), callsFor(flags)),
  );
  if (lifted === 'fault') return;
  const answer = lifted.value as Awaited<ReturnType<Guest['endpoints']['handle']>>;
  if (answer.kind !== 'response') return;
  if (answer.body.kind === 'bytes')
    demand(answer.body.bytes.buffer.byteLength <= LIMITS.liftedBytesMax, 'bytes are a copy');
  // The bounds of HTTP are looked at where the answer is written.
  const written = await liftedBy(async () => responseAnswer(answer, HTTP_SETTINGS_DEFAULT));
  if (written === 'fault') return;
  const { status, headers } = written.value as ReturnType<typeof responseAnswer>;
  demand(status >= 200 && status <= 599, 'a status is one of HTTP');
  for (const [name, value] of headers)
    demand(!/[\r\n\0]/.test(name + value), 'a header has one line');
}

/** Answers at once or later, with a reply, a refusal, a failure, events. */
function callsFor(flags: number): HostCalls {
  const answer = <T>(value: T): T | Promise<T> =>
    (flags & 1) === 0 ? value : Promise.resolve(value);
  return {
    nowMs: () => 1_700_000_000_000,
    call: () => {
      if ((flags & 2) !== 0) throw new GuestFault('trap', 'The other one trapped.');
      return answer(
        (flags & 4) === 0
          ? { kind: 'reply', json: '{"x":"ä€"}' }
          : { kind: 'refusal', code: 'OTHER', otherCode: 'ODD', message: 'no', details: '{}' },
      );
    },
    ...WITHOUT_TIMERS,
    readEvents: () => answer([]),
  };
}

/** What the work gives, or that it ends with a fault of the module. */
async function liftedBy(work: () => Promise<unknown>): Promise<{ value: unknown } | 'fault'> {
  try {
    const value = await work();
    demand(
      everyString(value).every((text) => text.isWellFormed()),
      'strings are Unicode',
    );
    return { value };
  } catch (error) {
    if (error instanceof GuestFault) return 'fault';
    throw error;
  }
}

function everyString(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  return Object.values(value).flatMap(everyString);
}

function show(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isRecord(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
