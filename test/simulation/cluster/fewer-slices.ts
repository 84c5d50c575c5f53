// FewerSlices divides entities into fewer parts than a service does. The parts that hold no entity make no other histories, and take most of
// the time of a simulation.
import type * as slices from '../../../model/slice.ts';

/** One part has so many of those of a service, as a power of two. */
const SHARED_BITS = 4;

/** Returns the module of slices in place of the real one. */
export function fewerSlices(real: typeof slices): typeof slices {
  const fewer = {
    ...real,
    SLICE_COUNT: real.SLICE_COUNT >> SHARED_BITS,
    sliceOf: (component: string, id: string) => real.sliceOf(component, id) >> SHARED_BITS,
  };
  return fewer as typeof slices;
}
