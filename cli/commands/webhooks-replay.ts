// svc webhooks replay: delivers exhausted events again, or sends the body of one delivery to another receiver.
import { setTimeout as sleep } from 'node:timers/promises';
import { WEBHOOK_DELIVERY_HEADER, WEBHOOK_EVENT_HEADER, type Subscription } from '@svc/client';
import { printable } from '@svc/kit/printable';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { counted } from '../counted.ts';
import type { InputOf } from '../platform/installation-api.ts';
import { Platform, refusedBy } from '../platform/platform.ts';
import { printData } from '../terminal.ts';
import { readTime } from '../time-word.ts';
import { UsageError } from '../usage-error.ts';
import {
  chosenSecret,
  receiverUrlOf,
  SECRET_VARIABLE,
  sendLocally,
} from '../webhooks/local-receiver.ts';
import { TENANT_OPTION, tenantOf } from '../webhooks/tenant-option.ts';
import { DELIVERY_WORD } from '../webhooks/webhook-word.ts';

const NAME = 'webhooks replay';
const PAGE = 250;
const SEND_TIMEOUT_MS = 5_000;
/** Longest wait for the next request, in seconds, when the service takes no more for a while. */
const WAIT_S_MAX = 120;

export const webhooksReplay = command(
  {
    name: NAME,
    summary: 'deliver again what was exhausted',
    about: `Delivers again every exhausted delivery whose event occurred since a time, as svc webhooks retry
does for one. With a delivery and --to, sends its body from this machine to a URL, signed afresh,
which changes nothing in the log.`,
    words: [{ ...DELIVERY_WORD, optional: true }],
    options: {
      since: {
        type: 'string',
        value: 'TIME',
        help: `2030-01-02T03:04:05Z, 2030-01-02, or 15m for a quarter of an hour ago`,
      },
      subscription: {
        type: 'string',
        value: 'ID',
        help: 'only deliveries of this subscription',
        completes: { kind: 'names', command: 'webhooks list' },
      },
      'dry-run': { type: 'boolean', help: 'only list the deliveries' },
      to: { type: 'string', value: 'URL', help: 'receiver of one delivery, with http or https' },
      tenant: TENANT_OPTION,
    },
    notes: `With --to, the secret is the value of ${SECRET_VARIABLE}. Without that, one is made and printed.`,
    examples: [
      'svc webhooks replay --since 2h --dry-run',
      'svc webhooks replay --since 2h --subscription wh_01JDR5Z7C0M3Y8K2V4T6W9XQAB',
      'svc webhooks replay dl_4157_thik4dax3vz4cknk3dsfvk47ka --to http://127.0.0.1:3000/hooks',
    ],
  },
  async ([deliveryId], options) => {
    const { since, to, subscription } = options;
    if ((deliveryId === undefined) !== (to === undefined))
      throw new UsageError(
        `${NAME} takes a delivery together with --to URL, or --since TIME alone.`,
      );
    if ((since === undefined) === (to === undefined))
      throw new UsageError(`${NAME} takes --since TIME, or a delivery with --to URL.`);
    if (to !== undefined && (options['dry-run'] || subscription !== undefined))
      throw new UsageError(`${NAME} takes --dry-run and --subscription with --since alone.`);
    const receiver = to === undefined ? undefined : receiverUrlOf(NAME, to);
    const platform = Platform.open();
    const tenantId = tenantOf(NAME, options, platform.target);
    if (receiver !== undefined)
      await sendTo(platform, { tenantId, deliveryId: deliveryId! }, receiver);
    else
      await retryAll(platform, {
        tenantId,
        subscription,
        sinceMs: readTime(NAME, '--since', since!),
        isDryRun: options['dry-run'],
      });
    return EXIT_CODE.ok;
  },
);

interface Replay {
  readonly tenantId: string;
  readonly subscription: string | undefined;
  readonly sinceMs: number;
  readonly isDryRun: boolean;
}

/** A delivery that is retried leaves the list, and the cursor stands behind it, so each one is met once. */
async function retryAll(platform: Platform, replay: Replay): Promise<void> {
  const { tenantId, subscription, isDryRun } = replay;
  let found = 0;
  let refused = 0;
  let cursor: string | undefined;
  do {
    // oxlint-disable-next-line no-await-in-loop -- a page has the cursor of the next one
    const page = await platform.call('listDeliveries', {
      tenantId,
      outcome: 'exhausted',
      limit: PAGE,
      ...(subscription === undefined ? {} : { subscription }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const wanted = page.entries.filter(
      ({ occurredAt }) => Date.parse(occurredAt) >= replay.sinceMs,
    );
    for (const { id, eventType, datasetId, occurredAt } of wanted) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, since the service counts requests
      const refusal = isDryRun ? undefined : await retryOne(platform, { tenantId, deliveryId: id });
      found += 1;
      if (refusal !== undefined) refused += 1;
      const end = refusal === undefined ? '' : `  not delivered again: ${refusal}`;
      // oxlint-disable-next-line no-await-in-loop
      await printData(
        `${printable(`${id}  ${occurredAt}  ${eventType}  ${datasetId ?? ''}${end}`)}\n`,
      );
    }
    cursor = wanted.length < page.entries.length ? undefined : page.cursor;
  } while (cursor !== undefined);
  const again = counted(found - refused, 'delivery', 'deliveries');
  const others = refused === 0 ? '' : ` Not made again: ${refused}, for the reasons above.`;
  process.stderr.write(
    isDryRun
      ? `${again} would be made again.\n`
      : `Made again: ${again}. svc webhooks deliveries shows how far they are.${others}\n`,
  );
}

/** Resolves with why a delivery cannot begin again: it has in the meantime, its subscription is gone, or it had all its runs. */
async function retryOne(
  platform: Platform,
  input: InputOf<'retryDelivery'>,
): Promise<string | undefined> {
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- until the service takes it
      await platform.call('retryDelivery', input);
      return undefined;
    } catch (error) {
      const refused = refusedBy(error);
      if (refused === undefined) throw error;
      const { status, reason, retryAfterS = Infinity } = refused;
      if (status === 409 || status === 404) return reason;
      if (status !== 429 || retryAfterS > WAIT_S_MAX) throw error;
      // oxlint-disable-next-line no-await-in-loop -- the service has said when
      await sleep(retryAfterS * 1_000);
    }
  }
}

async function sendTo(platform: Platform, input: InputOf<'getDelivery'>, url: URL): Promise<void> {
  const {
    id,
    eventType,
    body,
    subscriptionId: webhookId,
  } = await platform.call('getDelivery', input);
  const over = await signedPart(platform, { tenantId: input.tenantId, webhookId });
  const secret = secretOfReplay();
  const startMs = performance.now();
  const { status, failure } = await sendLocally(url, {
    headers: {
      'Content-Type': 'application/json',
      [WEBHOOK_EVENT_HEADER]: eventType,
      [WEBHOOK_DELIVERY_HEADER]: id,
    },
    body: new TextEncoder().encode(body),
    over,
    secret,
    timeoutMs: SEND_TIMEOUT_MS,
  });
  if (failure !== undefined)
    throw new CommandFailure(
      'SVC_WEBHOOK_REFUSED',
      `${url.href} gave no answer (${failure}). Check that the receiver listens there.`,
    );
  if (status < 200 || status > 299)
    throw new CommandFailure(
      'SVC_WEBHOOK_REFUSED',
      `${url.href} answered ${status}, and a receiver answers 2xx. Look at the output of the receiver.`,
    );
  process.stderr.write(
    `${printable(url.href)} answered ${status} in ${Math.round(performance.now() - startMs)} ms.\n`,
  );
}

/** A subscription that is deleted has signed the body, as far as anyone knows. */
async function signedPart(
  platform: Platform,
  input: InputOf<'getWebhook'>,
): Promise<Subscription['signing']['over']> {
  try {
    return (await platform.call('getWebhook', input)).signing.over;
  } catch (error) {
    if (refusedBy(error)?.status === 404) return 'body';
    throw error;
  }
}

function secretOfReplay(): string {
  const chosen = chosenSecret();
  if (chosen !== undefined) return chosen;
  const made = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
  process.stderr.write(`Signed with the secret ${made}, which was made for this replay.\n`);
  return made;
}
