// The bodies of the webhook service's requests and answers: a schema for each, and its type (document 3, "Resources and their fields").
import {
  body,
  integer,
  list,
  map,
  nullable,
  object,
  text,
  word,
  type ValueOf,
} from '../control-plane/schema.ts';
import {
  DATASET_STATUSES,
  DATASET_TAGS_MAX,
  DATASET_WORD_LENGTH_MAX,
  DELIVERY_OUTCOMES,
  GRACE_SECONDS_MAX,
  SIGNED_PARTS,
  SIGNING_METHODS,
  SUBSCRIBABLE_EVENTS,
} from './vocabularies.ts';

const time = { format: 'date-time' } as const;
const short = { maxLength: DATASET_WORD_LENGTH_MAX } as const;
const link = { minLength: 1, maxLength: 2_048 } as const;

const url = text('absolute URL with http or https, without user and fragment', {
  minLength: 1,
  maxLength: 2_048,
});
const events = list(
  'types of events that it receives; `dataset.*` is every event of datasets',
  word('type of events', SUBSCRIBABLE_EVENTS),
);
const filterFields = {
  status: word('status that the dataset has', DATASET_STATUSES),
  nameRegex: text('regular expression (RE2) that is found anywhere in the name of the dataset', {
    maxLength: 256,
  }),
  tags: list('tags that the dataset has, all of them', text('tag', short)),
  model: text('model of the dataset', short),
};
const headerValue = text('value with placeholders');
const headers = map('headers that are sent, too', headerValue);
const signingFields = {
  method: word('how deliveries are signed', SIGNING_METHODS),
  over: word('the part of the request that is signed with the timestamp', SIGNED_PARTS),
};

export const subscription = object(
  'Subscription',
  'Where events go, and how they are signed.',
  {
    id: text('id of the subscription'),
    url,
    events,
    filters: object('Filters', 'A dataset must match every filter given.', {}, filterFields),
    signing: object('Signing', 'How deliveries are signed.', signingFields),
    headers,
    createdAt: text('when it was created; it receives only events from then on', time),
  },
  { secret: text('secret of the signatures, in the answers of creation and rotation alone') },
);
export type Subscription = ValueOf<typeof subscription>;

const settings = {
  events,
  filters: body('FilterRequest', 'A dataset must match every filter given.', {}, filterFields),
  signing: body('SigningRequest', 'How deliveries are to be signed.', {}, signingFields),
  headers,
};
export const subscriptionRequest = body(
  'SubscriptionRequest',
  'A subscription. What is absent has its default.',
  { url },
  settings,
);
export type SubscriptionRequest = ValueOf<typeof subscriptionRequest>;

const removable = <Value>(schema: Parameters<typeof nullable<Value>>[1]) =>
  nullable('the new value; null gives the default', schema);
export const subscriptionPatch = body(
  'SubscriptionPatch',
  'A merge patch (RFC 7396) of a subscription.',
  {},
  {
    url,
    events: removable(settings.events),
    filters: removable(
      body(
        'FilterPatch',
        'Filters to change; null removes one.',
        {},
        {
          status: removable(filterFields.status),
          nameRegex: removable(filterFields.nameRegex),
          tags: removable(filterFields.tags),
          model: removable(filterFields.model),
        },
      ),
    ),
    signing: removable(settings.signing),
    headers: removable(map('headers to change; null removes one', removable(headerValue))),
  },
);
export type SubscriptionPatch = ValueOf<typeof subscriptionPatch>;

export const rotation = body(
  'Rotation',
  'How long deliveries are signed with the former secret, too.',
  {},
  {
    gracePeriodSeconds: integer(
      'seconds for which deliveries are signed with the former secret, too',
      { minimum: 0, maximum: GRACE_SECONDS_MAX },
    ),
  },
);
export type Rotation = ValueOf<typeof rotation>;

const nullableId = (description: string) =>
  nullable(description, text('id of a dataset', { minLength: 1, maxLength: 255 }));

export const datasetReport = body('DatasetReport', 'A dataset as it is now.', {
  name: text('name of the dataset', short),
  model: text('model of the dataset', short),
  modelVersion: text('version of the model', short),
  tags: list('tags of the dataset', text('tag', short), { maxItems: DATASET_TAGS_MAX }),
  status: text('status of the dataset', { minLength: 1, maxLength: 64 }),
  score: nullable(
    'score, once there is one',
    text('score in the form <n>hard/<n>soft', {
      maxLength: 64,
      pattern: '^-?[0-9]+hard/-?[0-9]+soft$',
    }),
  ),
  seq: integer('sequence number of the dataset: each change has a higher one', { minimum: 0 }),
  parentId: nullableId('dataset that it was made from'),
  originId: nullableId('first dataset of its line'),
  supersededBy: nullableId('dataset that replaces it'),
  runLink: text('URL of the run', link),
  outputLink: text('URL at which the solution is read', link),
});
export type DatasetReport = ValueOf<typeof datasetReport>;

export const reportAnswer = object('ReportAnswer', 'What a report has caused.', {
  eventId: nullable('event that the change of status has caused', text('id of an event')),
});
export type ReportAnswer = ValueOf<typeof reportAnswer>;

const attempt = object('Attempt', 'An attempt that has ended.', {
  run: integer('number of the run: a retry by an administrator begins another one', { minimum: 1 }),
  number: integer('number of the attempt in its run', { minimum: 1 }),
  time: text('when it began', time),
  status: nullable(
    'status of the answer, if there was one',
    integer('status', { minimum: 100, maximum: 999 }),
  ),
  error: nullable('why there was no answer that counts', text('word for the error')),
  durationMs: nullable(
    'milliseconds until it was decided',
    integer('milliseconds', { minimum: 0 }),
  ),
});
export type LogAttempt = ValueOf<typeof attempt>;

const entryFields = {
  id: text('id of the delivery'),
  subscriptionId: text('id of the subscription'),
  eventId: text('id of the event'),
  eventType: text('type of the event'),
  datasetId: nullable('dataset of the event', text('id of a dataset')),
  url: text('URL of the last attempt'),
  outcome: word('what became of it so far', DELIVERY_OUTCOMES),
  error: nullable('why it ended without its receiver', text('word for the error')),
  occurredAt: text('when the event occurred', time),
  nextAttemptAt: nullable('when the next attempt is due', text('time', time)),
  attempts: list('attempts that have ended, in their order', attempt),
};
export const logEntry = object('LogEntry', 'A delivery of an event.', entryFields);
export type LogEntry = ValueOf<typeof logEntry>;

export const logEntryWithBody = object('LogEntryWithBody', 'A delivery, with what is sent.', {
  ...entryFields,
  body: text('body of the request, byte for byte'),
});
export type LogEntryWithBody = ValueOf<typeof logEntryWithBody>;
