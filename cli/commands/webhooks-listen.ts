// svc webhooks listen: shows the deliveries of a tenant on this machine while it runs, by a subscription that it deletes at its end.
import { printable, printableJson } from '@svc/kit/printable';
import { stopRequest } from '@svc/kit/stop-request';
import { command, CommandFailure, EXIT_CODE } from '../command.ts';
import { OUTPUT_OPTION } from '../description.ts';
import type { InputOf } from '../platform/installation-api.ts';
import { Platform, refusedBy } from '../platform/platform.ts';
import { portOption } from '../port-option.ts';
import { printData } from '../terminal.ts';
import { type ForwardTo, Listener, type ReceivedDelivery } from '../webhooks/listener.ts';
import { chosenSecret, receiverUrlOf, SECRET_VARIABLE } from '../webhooks/local-receiver.ts';
import { EVENT_AND_FILTER_OPTIONS, settingsOf } from '../webhooks/subscription-options.ts';
import { TENANT_OPTION, tenantOf } from '../webhooks/tenant-option.ts';

const NAME = 'webhooks listen';

export const webhooksListen = command(
  {
    name: NAME,
    summary: 'show deliveries on this machine as they come',
    about: `Creates a subscription whose receiver is this command, verifies each delivery and prints it, until
ctrl-c or SIGTERM, when the subscription is deleted. With --to, passes deliveries on to a program,
signed afresh; its answer counts.`,
    words: [],
    options: {
      to: {
        type: 'string',
        value: 'URL',
        help: 'program that gets each delivery that is verified',
      },
      ...EVENT_AND_FILTER_OPTIONS,
      port: {
        type: 'string',
        value: 'PORT',
        help: 'port of 127.0.0.1; 0 takes a free one',
        default: '0',
      },
      'public-url': {
        type: 'string',
        value: 'URL',
        help: `address at which the webhook service reaches that port, such
as that of a tunnel; needed if it runs on another machine`,
      },
      output: OUTPUT_OPTION,
      tenant: TENANT_OPTION,
    },
    notes: `With --to, the secret is the value of ${SECRET_VARIABLE}. Without that, it is the
subscription's, and printed. With -o json, stdout has a line of JSON for each delivery.`,
    examples: [
      'svc webhooks listen',
      'svc webhooks listen --to http://127.0.0.1:3000/hooks --event webhook.failing',
    ],
  },
  async (_words, options) => {
    const { to } = options;
    const forwardTo =
      to === undefined ? undefined : { url: receiverUrlOf(NAME, to), secret: chosenSecret() };
    const platform = Platform.open();
    const tenantId = tenantOf(NAME, options, platform.target);
    const settings = settingsOf(NAME, options);
    // From here on a signal may not leave the subscription behind.
    const stopRequested = stopRequest(undefined);
    const outputClosed = new Promise((resolve) => process.stdout.once('close', resolve));
    const listener = await openListener(portOption(NAME, '--port', options.port), {
      forwardTo,
      onDelivery: (delivery) => show(delivery, options.output, to),
    });
    try {
      const url = options['public-url'] ?? listener.url;
      const subscription = await platform.call('createWebhook', {
        tenantId,
        body: { url, ...settings },
      });
      const { id: webhookId, secret = '', signing } = subscription;
      listener.expect({ secret, signing });
      const listening = `Listening at ${listener.url} for the tenant ${tenantId}, with the subscription ${webhookId}.`;
      process.stderr.write(
        `${printable(`${listening}${forwardedText(forwardTo, secret)} Ctrl-c ends it.`)}\n`,
      );
      await Promise.race([stopRequested, outputClosed]);
      await deleteSubscription(platform, { tenantId, webhookId });
    } finally {
      await listener.close();
    }
    return EXIT_CODE.ok;
  },
);

/** One that somebody else has deleted is no failure. */
async function deleteSubscription(
  platform: Platform,
  input: InputOf<'deleteWebhook'>,
): Promise<void> {
  const { webhookId } = input;
  try {
    await platform.call('deleteWebhook', input);
  } catch (error) {
    if (refusedBy(error)?.status === 404) return;
    throw new CommandFailure(
      'SVC_API_UNAVAILABLE',
      `The subscription ${webhookId} was not deleted: ${(error as Error).message} Delete it with svc webhooks delete ${webhookId}.`,
      { cause: error },
    );
  }
}

function forwardedText(forwardTo: ForwardTo | undefined, secret: string): string {
  if (forwardTo === undefined) return '';
  const { url, secret: chosen } = forwardTo;
  const signed =
    chosen === undefined
      ? `${secret}; set ${SECRET_VARIABLE} to have another one`
      : `in ${SECRET_VARIABLE}`;
  return ` Deliveries go on to ${url.href}, signed with the secret ${signed}.`;
}

async function openListener(
  port: number,
  options: {
    readonly forwardTo: ForwardTo | undefined;
    readonly onDelivery: (delivery: ReceivedDelivery) => Promise<void>;
  },
): Promise<Listener> {
  try {
    return await Listener.open({ port, ...options });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandFailure(
      code === 'EADDRINUSE' ? 'SVC_PORT_IN_USE' : 'SVC_ADDRESS_UNAVAILABLE',
      `Port ${port} of 127.0.0.1 cannot be listened on (${code}). Choose another one with --port.`,
      { cause: error },
    );
  }
}

async function show(
  delivery: ReceivedDelivery,
  format: string,
  to: string | undefined,
): Promise<void> {
  const { id, eventType, body, refusal, status, failure } = delivery;
  if (format === 'json') {
    await printData(
      `${printableJson(JSON.stringify({ at: new Date().toISOString(), ...delivery }))}\n`,
    );
    return;
  }
  const verdict = refusal === undefined ? 'verified' : `refused: ${refusal}`;
  const answer =
    to === undefined
      ? `${status}`
      : `${status} from ${to}${failure === undefined ? '' : ` (${failure})`}`;
  const line = `${new Date().toISOString()}  ${eventType}  ${id}  ${verdict}, answered ${answer}`;
  const shownBody = body === undefined ? '' : `  ${printable(body)}\n`;
  await printData(`${printable(line)}\n${shownBody}`);
}
