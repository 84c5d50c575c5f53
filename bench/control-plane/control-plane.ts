// Measurements (aa) to (ag2): `svc control-plane` as a process, with a real identity provider, and its journal on disk.
import type { Loader } from '../load.ts';
import type { Measurement, Pace } from '../report.ts';
import { Installation } from './installation.ts';
import { measureCreates, measureList } from './lists-and-races.ts';
import { measureApply, measureStatus } from './requests.ts';
import { measureFilledMemory, measureIdleMemory, measureStart } from './start-and-memory.ts';
import { measureUnknownKeys } from './unknown-keys.ts';

/** `size`: number of services, and of tokens of unknown keys. */
export async function measureControlPlane(
  wanted: ReadonlySet<string>,
  pace: Pace,
  loader: Loader,
  size: number,
): Promise<Measurement[]> {
  const installation = await Installation.open(size);
  try {
    const measurements: Measurement[] = [];
    for (const [letter, measure] of [
      ['aa', () => measureStatus(installation, pace, loader)],
      ['ab', () => measureApply(installation, pace)],
      ['ac', () => measureList(installation, pace)],
      ['ad', () => measureCreates(installation, pace)],
      ['ae', () => measureStart(installation, pace)],
      ['af', () => measureUnknownKeys(installation, pace, size)],
      ['ag', () => measureIdleMemory(installation, pace)],
      ['ag2', () => measureFilledMemory(installation, pace)],
    ] as const)
      if (wanted.has(letter)) measurements.push(await measure());
    return measurements;
  } finally {
    await installation.close();
  }
}
