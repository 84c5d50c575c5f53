// Measurement (df): the memory of the runtime for an entity that its process has open: what engine and hosting hold of it, once it has
// carried out a command.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Measurement } from '../report.ts';

const PROGRAM = join(import.meta.dirname, 'open-entities.ts');
const OPEN_MAX = 100_000;
const BYTES_PER_KIB = 1_024;
const AIM_KIB = 1;

/** `entities`: at most 100,000 of them are opened. */
export async function measureOpenEntities(entities: number): Promise<Measurement> {
  const open = Math.min(entities, OPEN_MAX);
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, String(open)]);
  return {
    letter: 'df',
    what: `process: memory of the runtime's shard for each of ${open.toLocaleString('en-US')} open entities, after a garbage collection`,
    svc: Number(stdout) / open / BYTES_PER_KIB,
    beside: `the aim is ${AIM_KIB} KiB`,
    other: undefined,
    unit: 'KiB',
    ratio: undefined,
    cores: 'any',
  };
}
