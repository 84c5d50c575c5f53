// SourceLocations are where in the sources of a guest its faults were. Each kind of source finds them in its own way: a
// module's by the source map that lies beside its file, and a program's faults have theirs in their stacks.
import type { HostingSettings, SourceFile } from './guest-source.ts';
import { type FaultPlaces, readFaultPlaces } from './wasm/places/fault-places.ts';

export type { FaultPlaces, PlacedFault } from './wasm/places/fault-places.ts';

/** Never rejects: a fault whose location cannot be found has none. */
export async function sourceLocations(
  { kind, file, fingerprint }: SourceFile,
  settings: HostingSettings,
): Promise<FaultPlaces> {
  if (kind !== 'wasm' || file === undefined) return { placesOf: () => [] };
  return readFaultPlaces({ file, fingerprint, limits: settings.wasm });
}
