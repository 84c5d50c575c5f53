// ProcessSource describes the code that a process holds: the descriptor and the fingerprint that the process has named.
import { createHash } from 'node:crypto';
import { DESCRIPTOR_BYTES_MAX, type ModuleDescriptor, parseModuleDescriptor } from '@svc/contract';
import type { Welcome } from '@svc/process-protocol/process';
import { NO_SHARD } from '../guest-shard.ts';
import { processInvalid } from './process-failures.ts';
import { newProcessRun } from './process-run.ts';
import { openProcessStream, type ProcessConnection } from './process-stream.ts';

/** The most characters of the SDK's name and version. */
const SDK_MAX = 200;
const NO_EVENTS = { log: () => {}, ended: () => {} };

/** Plain data, as every source: it is posted to the threads that start guests. */
export interface ProcessSource {
  readonly kind: 'process';
  /** A process has no file. */
  readonly file: undefined;
  readonly connection: ProcessConnection;
  /** Identity of the code: that of the process if it has named one, or else that of its descriptor. */
  readonly fingerprint: string;
  /** Memory of the run of the process that the streams of the service meet (process-run.ts). */
  readonly run: SharedArrayBuffer;
  /** Whether the process has named a fingerprint, so that snapshots can be kept. */
  readonly isFingerprinted: boolean;
  readonly descriptor: ModuleDescriptor;
  /** Name and version of the SDK, for people. */
  readonly sdk: string;
}

/**
 * Asks the process at the address what it holds. `signal`: gives the attempt up. Rejects with SVC_PROCESS_UNAVAILABLE if it cannot be reached, and with SVC_PROCESS_INVALID
 * if it cannot be served.
 */
export async function readProcess(
  connection: ProcessConnection,
  signal?: AbortSignal,
): Promise<ProcessSource> {
  const stream = await openProcessStream(connection, NO_SHARD, NO_EVENTS, signal);
  const { welcome } = stream;
  stream.close();
  return sourceOf(connection, welcome);
}

/** Throws SVC_PROCESS_INVALID. */
function sourceOf(connection: ProcessConnection, welcome: Welcome): ProcessSource {
  const { address } = connection;
  const { descriptor: text } = welcome;
  if (Buffer.byteLength(text) > DESCRIPTOR_BYTES_MAX)
    throw processInvalid(address, `its descriptor is larger than ${DESCRIPTOR_BYTES_MAX} bytes.`);
  const parsed = parseModuleDescriptor(text);
  if (!parsed.ok)
    throw processInvalid(address, `its descriptor is not valid: ${parsed.problems.join('; ')}.`);
  const { fingerprint, isFingerprinted } = fingerprintOf(welcome);
  return {
    kind: 'process',
    file: undefined,
    connection,
    run: newProcessRun(),
    fingerprint,
    isFingerprinted,
    descriptor: parsed.descriptor,
    sdk: welcome.sdk.slice(0, SDK_MAX),
  };
}

/** Returns whether a process holds the code of the source. */
export function holdsCodeOf(source: ProcessSource, welcome: Welcome): boolean {
  return fingerprintOf(welcome).fingerprint === source.fingerprint;
}

function fingerprintOf({ descriptor, fingerprint }: Welcome) {
  const own = createHash('sha256').update(`${fingerprint}\n${descriptor}`).digest('hex');
  return { fingerprint: own, isFingerprinted: fingerprint !== '' };
}
