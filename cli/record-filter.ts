// RecordFilter: the options that select records of a journal.
import type { RecordFilter } from '@svc/host/tools';
import type { OptionDescriptions, OptionValues } from './description.ts';
import { readTime } from './time-word.ts';
import { UsageError } from './usage-error.ts';

export const FILTER_OPTIONS = {
  component: {
    type: 'string',
    value: 'COMPONENT',
    help: 'only records of this component',
    completes: { kind: 'component' },
  },
  id: { type: 'string', value: 'ID', help: 'only records of the entity of this id' },
  manifest: { type: 'string', value: 'NAME', help: 'only events stored under this manifest' },
  type: { type: 'string', value: 'CASE', help: "only events of this case, their 'type'" },
  trace: {
    type: 'string',
    value: 'TRACE',
    help: 'only what came of this trace: 32 hexadecimal digits',
  },
  key: {
    type: 'string',
    value: 'PREFIX',
    help: 'only what answered an idempotency key that begins so',
  },
  by: {
    type: 'string',
    value: 'SUBJECT',
    help: 'only what the caller with this subject of an access token has sent',
  },
  since: {
    type: 'string',
    value: 'TIME',
    help: "only records of this time or later: '2030-01-02T03:04:05Z',\n'2030-01-02', or how long ago: '90s', '15m', '2h', '7d'",
  },
  until: { type: 'string', value: 'TIME', help: 'only records before this time' },
} as const satisfies OptionDescriptions;

/** Returns the filter; undefined if none of the options was given. Throws UsageError for an invalid trace or time. */
export function readFilter(
  command: string,
  options: OptionValues<typeof FILTER_OPTIONS>,
): RecordFilter | undefined {
  const { component, id, manifest, type, key, by, since, until } = options;
  const trace = options.trace?.toLowerCase();
  if (trace !== undefined && !/^[0-9a-f]{32}$/.test(trace))
    throw new UsageError(
      `${command} takes 32 hexadecimal digits as --trace, and found '${options.trace}'. ` +
        `They are the second part of a traceparent.`,
    );
  const sinceMs = since === undefined ? undefined : readTime(command, '--since', since);
  const untilMs = until === undefined ? undefined : readTime(command, '--until', until);
  const filter = { component, id, manifest, type, trace, keyPrefix: key, by, sinceMs, untilMs };
  return Object.values(filter).some((value) => value !== undefined) ? filter : undefined;
}
