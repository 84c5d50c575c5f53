// The metrics of a program: they are among those of its embedded service, and one that cannot be read prevents no other one.
import { expect, onTestFinished, test } from 'vitest';
import { createService, type Metric } from '../../../host/embed.ts';

/** Starts a service with the metrics, and returns what a scrape has of a name. */
async function start(options: { readonly metrics: readonly Metric[] }) {
  const service = await createService({
    name: 'shop',
    journal: 'memory',
    management: { port: 0 },
    log: 'none',
    ...options,
  });
  onTestFinished(() => service.stop());
  return async (prefix: string) => {
    const response = await fetch(`${service.managementUrl!}/svc/metrics`);
    const lines = (await response.text()).split('\n');
    return lines.filter((line) => line.includes(prefix));
  };
}

function gauge(name: string, read: () => number | undefined): Metric {
  return { name, type: 'gauge', help: 'A gauge.', read };
}

test('a scrape has the counters of a program, by the values of their label', async () => {
  const mails = { sent: 0, refused: 1 };
  const scrape = await start({
    metrics: [
      {
        name: 'shop_mails_total',
        type: 'counter',
        help: 'Mails that were sent, by outcome.',
        label: 'outcome',
        read: () => mails,
      },
    ],
  });
  mails.sent = 12;
  expect(await scrape('shop_mails_total')).toEqual([
    '# HELP shop_mails_total Mails that were sent, by outcome.',
    '# TYPE shop_mails_total counter',
    'shop_mails_total{outcome="sent"} 12',
    'shop_mails_total{outcome="refused"} 1',
  ]);
});

test('a metric without a number has no sample, and prevents no other one', async () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`v${index}`, 1]));
  const scrape = await start({
    metrics: [
      gauge('shop_none', () => undefined),
      gauge('shop_infinite', () => Infinity),
      gauge('shop_faulty', () => {
        throw new Error('no number');
      }),
      { ...gauge('shop_many', () => 0), label: 'of', read: () => many },
      gauge('shop_good', () => 0.5),
    ],
  });
  expect((await scrape('shop_')).filter((line) => !/^#|shop_many/.test(line))).toEqual([
    'shop_good 0.5',
  ]);
  expect((await scrape('shop_many{')).length).toBe(100);
});
