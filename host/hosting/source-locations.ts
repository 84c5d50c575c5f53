// SourceLocations chooses how the faults of a guest are located in its sources. Each kind of source has its own way:
// a module has a source map beside its file, and the errors of a program have their locations in their stacks.
import type { HostingSettings, SourceFile } from './guest-source.ts';
import { type FaultPlaces, readFaultPlaces } from './wasm/places/fault-places.ts';

export type { FaultPlaces, PlacedFault } from './wasm/places/fault-places.ts';

/** Never rejects: a fault that cannot be located has no locations. */
export async function sourceLocations(
  { kind, file, fingerprint }: SourceFile,
  settings: HostingSettings,
): Promise<FaultPlaces> {
  if (kind !== 'wasm' || file === undefined) return { placesOf: () => [] };
  return readFaultPlaces({ file, fingerprint, limits: settings.wasm });
}
