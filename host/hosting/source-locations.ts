// SourceLocations chooses how the faults of a guest are located in its sources. Each kind of source has its own way:
// a module has a source map beside its file, and the errors of a program have their locations in their stacks.
import type { HostingSettings, SourceFile } from './guest-source.ts';
import { type FaultLocator, readFaultLocator } from './wasm/locations/fault-locator.ts';

export type { FaultLocator, LocatableFault } from './wasm/locations/fault-locator.ts';

/** Rejects only because of a bug of the host: a fault that cannot be located has no locations. */
export async function sourceLocations(
  { kind, file, fingerprint }: SourceFile,
  settings: HostingSettings,
): Promise<FaultLocator> {
  if (kind !== 'wasm' || file === undefined) return { locationsOf: () => [] };
  return readFaultLocator({ file, fingerprint, limits: settings.wasm });
}
