// The webhooks of a tenant in the console: a real browser, a real console, a real webhook service, and a receiver that
// answers as the test wants.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { createWebhooksClient, type Subscription, verifyWebhook } from '@svc/client';
import { SvcError } from '@svc/kit/svc-error';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { buildStalePage } from '../../cli/console-page.ts';
import { type ConsoleWebhooks, startConsole } from '../../console/server/console.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { REPORT, webhookReceiver } from '../support/webhook-process.ts';
import {
  startReceiver,
  WebhookServiceUnderTest,
} from '../webhooks/service/webhook-service-under-test.ts';
import { press, settled, show, textOf } from './support/screen.ts';
import { launchBrowser, WatchedPage, whyNoBrowser } from './support/watched-browser.ts';

const noBrowser = whyNoBrowser();
if (noBrowser !== undefined)
  process.stderr.write(`The console's page is not tried in a browser: ${noBrowser}.\n`);

const folder = temporaryFolderOfFile();
const WIDE = { width: 1200, height: 800 };
const NARROW = { width: 360, height: 700 };
/** Time after which every list has been loaded again, in milliseconds. */
const POLL_MS = 5_000;
let browser: Browser;

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

async function startedConsole(webhooks?: ConsoleWebhooks): Promise<string> {
  const served = await startConsole({
    port: 0,
    runningFolder: join(folder, 'running'),
    ...(webhooks !== undefined && { webhooks }),
    failed: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => served.close());
  return served.url;
}

/** Starts a webhook service, and a console for its tenant. */
async function started(): Promise<{
  readonly service: WebhookServiceUnderTest;
  readonly url: string;
}> {
  const service = new WebhookServiceUnderTest();
  await service.start();
  const client = createWebhooksClient({ baseUrl: service.url });
  const url = await startedConsole({ url: 'https://api.example.com', tenant: 'acme', client });
  return { service, url };
}

async function subscribed(
  service: WebhookServiceUnderTest,
  request: object,
): Promise<Subscription> {
  return (await service.send('POST', '/webhooks', request)).json as Subscription;
}

async function open(
  url: string,
  view: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const watched = await WatchedPage.open(browser, url, { viewport: WIDE, ...options }, view);
  onTestFinished(async () => {
    await watched.close();
    expect(watched.problems).toEqual([]);
  });
  await settled(watched.page);
  return watched;
}

/** Everything that the page keeps, as text. */
async function kept(page: Page): Promise<string> {
  return page.evaluate<string>(`JSON.stringify([
    document.documentElement.outerHTML, location.href, history.state, { ...localStorage },
    { ...sessionStorage }, document.cookie])`);
}

describe.skipIf(noBrowser !== undefined)('the webhooks of a tenant', () => {
  beforeAll(async () => {
    mkdirSync(join(folder, 'running'));
    buildStalePage(join(import.meta.dirname, '../..'));
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  test('a subscription is created with every problem beside its control, and its secret is shown once', async () => {
    const { url, service } = await started();
    const receiver = await startReceiver();
    const { page } = await open(url, '/webhooks');
    await page.getByText('The tenant has no subscription.').waitFor();
    await page.getByRole('link', { name: 'Create a subscription' }).click();
    await page.getByLabel('URL').fill('ftp://x');
    await page.getByLabel('dataset.*').uncheck();
    await page.getByLabel('Name').fill('(a');
    await page.getByRole('button', { name: 'Header', exact: true }).click();
    await page.locator('#header-name-0:focus').waitFor();
    await page.keyboard.type('Host');
    await page.getByRole('button', { name: 'Create' }).click();
    await expect.poll(() => page.locator('.field-problem').count()).toBe(4);
    expect(await page.locator('#url').getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator(':focus').getAttribute('id')).toBe('url');

    await page.getByLabel('URL').fill(receiver.url);
    await page.getByLabel('dataset.completed').check();
    await page.getByLabel('dataset.failed').check();
    await page.getByLabel('Name').fill('^mon');
    await page.getByRole('button', { name: 'Remove header Host' }).click();
    await page.locator('.add-row:focus').waitFor();
    await press(page, 'Control+Enter');
    const secret = await textOf(page.locator('.new-secret code'));
    expect(secret).toMatch(/^[\w-]{43}$/);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('link', { name: receiver.url }).waitFor();
    await page.getByText('name has ^mon').waitFor();
    expect(await kept(page)).not.toContain(secret);
    await page.goBack();
    expect(await kept(page)).not.toContain(secret);

    await service.send('PUT', '/datasets/d1', REPORT);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]];
    expect(await verifyWebhook({ secrets: [secret], headers, body })).toEqual({
      kind: 'verified',
    });
  });

  test('a secret is rotated and forgotten when the user leaves, and a subscription is changed and deleted', async () => {
    const { url, service } = await started();
    const { id } = await subscribed(service, {
      url: 'https://receiver.example/hook',
      filters: { tags: ['a'] },
      headers: { Authorization: 'Bearer abc' },
    });
    const { page } = await open(url, '/webhooks');
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByLabel('The former secret ends').selectOption('at once');
    await page.getByRole('button', { name: 'Rotate secret now' }).click();
    const secret = await textOf(page.locator('.new-secret code'));
    await show(page, '/webhooks/deliveries');
    await show(page, '/webhooks');
    expect(await kept(page)).not.toContain(secret);

    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Tags, all of them').fill('b');
    await page.getByRole('button', { name: 'Path' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('has the tag b').waitFor();
    expect((await service.send('GET', `/webhooks/${id}`)).json).toMatchObject({
      filters: { tags: ['b'] },
      signing: { over: 'path' },
      headers: { Authorization: 'Bearer abc' },
    });
    expect(await textOf(page.locator('main'))).not.toContain('Bearer abc');

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete now' }).click();
    await page.getByText('The tenant has no subscription.').waitFor();
    expect((await service.send('GET', '/webhooks')).json).toEqual([]);
  });

  test('the log is filtered and paged, keeps still while it is read, and a retry is seen as it happens', async () => {
    const { url, service } = await started();
    const receiver = await startReceiver(() => 503);
    let answers = Promise.resolve();
    const good = await webhookReceiver(() => answers);
    await subscribed(service, { url: good.url });
    const bad = await subscribed(service, { url: receiver.url, filters: { nameRegex: '^late$' } });
    const report = (dataset: string, name = 'monday') =>
      service.send('PUT', `/datasets/${dataset}`, { ...REPORT, name });
    for (let dataset = 0; dataset < 51; dataset += 1)
      // oxlint-disable-next-line no-await-in-loop -- the order of the log
      await report(`ds-${dataset}`);
    await vi.waitFor(() => expect(good.received).toHaveLength(51));
    const { page } = await open(url, '/webhooks/deliveries');
    const rows = page.locator('main table tbody tr');
    const datasets = () => rows.locator('[data-label=Dataset]').allTextContents();
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole('link', { name: 'Older' }).click();
    await expect.poll(datasets).toEqual(['ds-0']);
    await page.getByRole('link', { name: 'Newest' }).click();
    await expect.poll(() => rows.count()).toBe(50);

    await rows.first().hover();
    await report('late', 'late');
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    await page.clock.fastForward(POLL_MS);
    await page.getByRole('button', { name: '2 new deliveries' }).waitFor();
    expect(await datasets()).not.toContain('late');
    await page.getByRole('button', { name: '2 new deliveries' }).click();
    await expect.poll(datasets).toContain('late');

    await page.getByRole('searchbox').fill('ds-7');
    await press(page, 'Enter');
    await expect.poll(datasets).toEqual(['ds-7']);
    await page.getByRole('searchbox').fill('no-such');
    await press(page, 'Enter');
    await page.getByText('No delivery matches.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Subscription').selectOption(bad.id);
    await page.getByRole('group', { name: 'Outcome' }).getByText('pending').click();
    await expect.poll(datasets).toEqual(['late']);

    await rows.first().getByRole('link').click();
    await page.getByText('next attempt').waitFor();
    expect(await page.getByRole('button', { name: 'Retry' }).isDisabled()).toBe(true);
    await page.locator('.attempts').getByText('503').waitFor();
    await page.getByRole('region', { name: 'body' }).getByText('"late"').first().waitFor();
    await page.getByRole('button', { name: 'Raw' }).click();
    const raw = await textOf(page.getByRole('region', { name: 'body' }));
    expect(raw).toBe(receiver.received[0]!.body.toString());
    await press(page, 'Escape');
    await page.getByRole('navigation', { name: 'Webhooks' }).waitFor();
    expect(page.url()).toContain(`subscription=${bad.id}`);

    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => rows.count()).toBe(50);
    await rows.last().getByRole('link').click();
    await page.locator('.screen-head').getByText('delivered').waitFor();
    const answer = Promise.withResolvers<void>();
    answers = answer.promise;
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.locator('.screen-head').getByText('pending').waitFor();
    answer.resolve();
    await page.locator('.screen-head').getByText('delivered').waitFor();
    const runs = page.locator('.attempts [data-label=Run]');
    expect(await runs.allTextContents()).toEqual(['1', '2']);
  });

  test('text of others is escaped', async () => {
    const { url, service } = await started();
    const { received, url: hook } = await startReceiver();
    await subscribed(service, { url: hook, filters: { model: '<img src=x>\u202e' } });
    await subscribed(service, { url: hook });
    await service.send('PUT', '/datasets/d%E2%80%AE1', { ...REPORT, name: '<b>\u202e' });
    await vi.waitFor(() => expect(received).toHaveLength(1));
    const { page } = await open(url, '/webhooks');
    await page.getByText(String.raw`model is <img src=x>\u{202e}`).waitFor();
    await show(page, '/webhooks/deliveries');
    await page.getByText(String.raw`d\u{202e}1`).waitFor();
    await page.locator('main tbody a').click();
    await page.getByText(String.raw`"<b>\u{202e}"`).waitFor();
    expect(await kept(page)).not.toContain('\u202e');
  });

  test('every screen is reached by keyboard, and has no sideways scroll and no serious axe finding', async () => {
    const { url, service } = await started();
    const receiver = await startReceiver((number) => (number === 1 ? 302 : 200));
    const { id } = await subscribed(service, {
      url: `${receiver.url}/${'long'.repeat(60)}`,
      filters: { tags: ['a', 'b'], nameRegex: '^mon', model: 'employees' },
      headers: { 'X-A': 'b' },
    });
    await subscribed(service, { url: receiver.url });
    await service.send('PUT', '/datasets/d1', { ...REPORT, tags: ['a', 'b'] });
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(1));
    const log = (await service.send('GET', '/webhooks/deliveries')).json as { id: string }[];
    const views = [
      '/webhooks',
      '/webhooks/new',
      `/webhooks/subscriptions/${id}`,
      '/webhooks/deliveries',
      ...log.map((entry) => `/webhooks/deliveries/${entry.id}`),
    ];
    for (const options of [
      { viewport: WIDE, colorScheme: 'light' },
      { viewport: NARROW, colorScheme: 'dark' },
    ] as const) {
      const watched = await open(url, '/', options);
      await press(watched.page, 'g', 'w');
      await watched.page.getByRole('heading', { name: 'Webhooks' }).waitFor();
      for (const view of views) {
        await show(watched.page, view);
        expect([view, await watched.sidewaysScroll()]).toEqual([view, 0]);
        expect([view, await watched.notReachedByTab()]).toEqual([view, []]);
        expect([view, await watched.axeFindings()]).toEqual([view, []]);
      }
    }
  });

  test('who has chosen no tenant or is not logged in reads what to do', async () => {
    const tenantless = await startedConsole();
    const none = await open(tenantless, '/webhooks/deliveries');
    await none.page.getByText('npx svc console --tenant ID').waitFor();
    const target = { url: 'https://api.example.com', tenant: 'acme' };
    // A server that has no such routes, as an installation without a webhook service.
    const elsewhere = createWebhooksClient({ baseUrl: tenantless });
    const missing = await open(await startedConsole({ ...target, client: elsewhere }), '/webhooks');
    await missing.page.getByText('svc up --webhooks').waitFor();
    let isLoggedIn = false;
    const service = new WebhookServiceUnderTest();
    await service.start();
    const token = () => {
      if (isLoggedIn) return 'token';
      throw new SvcError(
        'SVC_NOT_LOGGED_IN',
        'You are not logged in to it. Log in with svc login.',
      );
    };
    const client = createWebhooksClient({ baseUrl: service.url, token });
    const url = await startedConsole({ ...target, client });
    const { page } = await open(url, '/webhooks');
    await page.getByText('You are not logged in to it.').waitFor();
    await page.getByText('npx svc login').waitFor();
    isLoggedIn = true;
    await page.clock.fastForward(2 * POLL_MS);
    await page.getByText('The tenant has no subscription.').waitFor();
    expect(await page.getByText('You are not logged in').count()).toBe(0);
  });
});
