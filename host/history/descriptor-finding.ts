// DescriptorFinding is a finding of an upgrade check that follows from the descriptors alone.
import type { Finding } from './upgrade-finding.ts';

export interface Difference {
  readonly what: string;
  /** Name that the declaration perhaps has now. */
  readonly renamed?: string | undefined;
  /** Advice for the author in case it was renamed. */
  readonly help?: string;
}

export function inDescriptor(
  name: Finding['name'],
  component: string,
  subject: string,
  { what, renamed, help }: Difference,
): Finding {
  const perhaps = renamed === undefined ? '' : `; perhaps it was renamed to '${renamed}'`;
  const message = what + perhaps + (perhaps === '' || help === undefined ? '' : `: ${help}`);
  return { name, component, subject, message, entities: 0, examples: [] };
}
