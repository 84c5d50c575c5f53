// LocalSurface: what a service on a developer's machine shows of itself.
import type { ShownService, Surface } from './surface.ts';

export function localSurface(_service: ShownService): Surface {
  return {
    open: async () => {},
    served: async () => {},
    stopping: () => {},
    close: async () => {},
  };
}
