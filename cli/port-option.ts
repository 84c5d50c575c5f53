// PortOption: an option whose value is a port.
import { UsageError } from './usage-error.ts';

const PORT_MAX = 65_535;

/** Parses the value of an option. `least`: 0 if 0 takes a free port. Throws UsageError. */
export function portOption(command: string, option: string, value: string, least = 0): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(port >= least && port <= PORT_MAX))
    throw new UsageError(
      `${command} takes a whole number from ${least} to ${PORT_MAX} as ${option}, and found '${value}'.`,
    );
  return port;
}
