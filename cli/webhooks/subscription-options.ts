// SubscriptionOptions: a subscription as options of a command, or as JSON in a file.
import {
  DATASET_STATUSES,
  SIGNED_PARTS,
  SUBSCRIBABLE_EVENTS,
  type DatasetStatus,
  type SubscribableEvent,
  type SubscriptionPatch,
  type SubscriptionRequest,
} from '@svc/client';
import type { OptionDescriptions, OptionValues } from '../description.ts';
import { UsageError } from '../usage-error.ts';
import { readRequestFile } from './request-file.ts';

export const EVENT_AND_FILTER_OPTIONS = {
  event: {
    type: 'string',
    multiple: true,
    value: 'TYPE',
    help: `type of events that are sent, such as dataset.failed; may be
repeated`,
    otherwise: 'dataset.*, all events of datasets',
    completes: { kind: 'choices', choices: SUBSCRIBABLE_EVENTS },
  },
  status: {
    type: 'string',
    value: 'STATUS',
    help: 'only datasets with this status',
    completes: { kind: 'choices', choices: DATASET_STATUSES },
  },
  model: { type: 'string', value: 'MODEL', help: 'only datasets of this model' },
  tag: {
    type: 'string',
    multiple: true,
    value: 'TAG',
    help: 'only datasets with this tag; may be repeated',
  },
  'name-regex': {
    type: 'string',
    value: 'RE2',
    help: 'only datasets in whose name this expression is found',
  },
  sign: {
    type: 'string',
    value: 'PART',
    help: 'part of the request that is signed',
    otherwise: 'body',
    completes: { kind: 'choices', choices: SIGNED_PARTS },
  },
} as const satisfies OptionDescriptions;

const HEADER_OPTION = {
  header: {
    type: 'string',
    multiple: true,
    value: "'NAME: VALUE'",
    help: `header that is sent, too; may be repeated. The shell keeps it in
its history: give what is secret with -f`,
  },
} as const satisfies OptionDescriptions;

const FILE_OPTION = {
  file: {
    type: 'string',
    short: 'f',
    value: 'FILE.json',
    help: "the same as JSON, in place of the options; '-' is stdin",
    completes: { kind: 'file', ending: '.json' },
  },
} as const satisfies OptionDescriptions;

export const SUBSCRIPTION_OPTIONS = {
  ...EVENT_AND_FILTER_OPTIONS,
  ...HEADER_OPTION,
  ...FILE_OPTION,
} as const satisfies OptionDescriptions;

export const PATCH_OPTIONS = {
  url: { type: 'string', value: 'URL', help: 'where deliveries go' },
  ...SUBSCRIPTION_OPTIONS,
} as const satisfies OptionDescriptions;

type SettingValues = OptionValues<typeof EVENT_AND_FILTER_OPTIONS> &
  Partial<OptionValues<typeof HEADER_OPTION>>;

/** Returns the settings that the options name, and no others. Throws UsageError. */
export function settingsOf(
  command: string,
  { event, status, model, tag, 'name-regex': nameRegex, sign, header = [] }: SettingValues,
): Omit<SubscriptionRequest, 'url'> {
  const filters = {
    ...(status === undefined ? {} : { status: status as DatasetStatus }),
    ...(model === undefined ? {} : { model }),
    ...(tag.length === 0 ? {} : { tags: tag }),
    ...(nameRegex === undefined ? {} : { nameRegex }),
  };
  return {
    ...(event.length === 0 ? {} : { events: event as readonly SubscribableEvent[] }),
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
    ...(sign === undefined ? {} : { signing: { over: sign as (typeof SIGNED_PARTS)[number] } }),
    ...(header.length === 0 ? {} : { headers: headersOf(command, header) }),
  };
}

/** Returns the request of a whole subscription. Rejects with UsageError. */
export async function requestOf(
  command: string,
  url: string | undefined,
  options: OptionValues<typeof SUBSCRIPTION_OPTIONS>,
): Promise<SubscriptionRequest> {
  const settings = settingsOf(command, options);
  const given = { ...(url === undefined ? {} : { url }), ...settings };
  if (options.file !== undefined) return (await fromFile(command, options.file, given)) as never;
  if (url === undefined)
    throw new UsageError(
      `${command} needs the URL of a receiver, or the file of a subscription: -f.`,
    );
  return { url, ...settings };
}

/** Returns the merge patch of what the options name. Rejects with UsageError if they name nothing. */
export async function patchOf(
  command: string,
  options: OptionValues<typeof PATCH_OPTIONS>,
): Promise<SubscriptionPatch> {
  const { url, file } = options;
  const patch = { ...(url === undefined ? {} : { url }), ...settingsOf(command, options) };
  if (file !== undefined) return (await fromFile(command, file, patch)) as never;
  if (Object.keys(patch).length > 0) return patch;
  throw new UsageError(`${command} needs to know what to change. svc ${command} --help lists it.`);
}

/** The client checks the body. */
async function fromFile(command: string, file: string, others: object): Promise<unknown> {
  if (Object.keys(others).length > 0)
    throw new UsageError(
      `${command} takes ${Object.keys(others).join(', ')} as options or from a file, not both.`,
    );
  return await readRequestFile(command, file);
}

function headersOf(command: string, lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = lines.map((line) => {
    const [, name, value] = /^([^:\s]+):[ \t]*(.*)$/s.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw new UsageError(
        `${command} takes a header such as 'X-Api-Key: {hmac_signature}' as --header, and found '${line}'.`,
      );
    return [name, value] as const;
  });
  const twice = headers.find(([name], at) => headers.findIndex(([other]) => other === name) < at);
  if (twice !== undefined)
    throw new UsageError(`${command} takes the header ${twice[0]} once, and found it twice.`);
  return Object.fromEntries(headers);
}
