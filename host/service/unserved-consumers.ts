// UnservedConsumers: this version of the host delivers no events to consumers. A module or a program that declares some is
// refused when it would be served, so that nobody waits for deliveries that never come.
import type { ModuleDescriptor } from '@svc/contract';

/** Returns why components with this descriptor cannot be served, as a sentence; undefined if they declare no consumers. */
export function unservedConsumers({ consumers = [] }: ModuleDescriptor): string | undefined {
  if (consumers.length === 0) return undefined;
  const ids = consumers.map(({ id }) => `'${id}'`).join(', ');
  return (
    `Consumers are declared (${ids}), and this version of the host delivers no events to consumers. ` +
    'Leave them out, or call the other entity from the handler that stores the event.'
  );
}
