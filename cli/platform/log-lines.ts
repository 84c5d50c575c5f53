// LogLines: the output of a service's instances as lines for a terminal.
import type { ServiceLogs } from '@svc/client';
import { printable } from '@svc/kit/printable';

type InstanceLogs = ServiceLogs['instances'][number];

/** Returns the output of all instances, each line with the name of its instance if there are several. */
export function logText({ instances }: ServiceLogs): string {
  const width = instances.length > 1 ? widthOf(instances) : 0;
  return instances
    .flatMap(({ instance, output, error }) => [
      ...linesOf(output).map((line) => logLine(instance, line, width)),
      ...(error === null
        ? []
        : [logLine(instance, `cannot be read: ${error}`, Math.max(width, 1))]),
    ])
    .join('');
}

/** Returns one line, escaped. `width`: that of the names; 0 leaves the name out. */
export function logLine(instance: string, line: string, width: number): string {
  // A tab only moves on.
  const escaped = line.split('\t').map(printable).join('\t');
  return width === 0 ? `${escaped}\n` : `${printable(instance).padEnd(width)}  ${escaped}\n`;
}

/** Returns the lines of an output, whose last line may lack its end. */
export function linesOf(output: string): readonly string[] {
  const lines = output.split('\n').map((line) => line.replace(/\r$/, ''));
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

export function widthOf(instances: readonly Pick<InstanceLogs, 'instance'>[]): number {
  return Math.max(0, ...instances.map(({ instance }) => printable(instance).length));
}
