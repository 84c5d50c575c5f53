// DeployedSurface: what a deployed instance shows of itself.
import type { ShownService, Surface } from './surface.ts';

export function deployedSurface(_service: ShownService): Surface {
  return {
    open: async () => {},
    served: async () => {},
    stopping: () => {},
    close: async () => {},
  };
}
