// A web-hosted service in the console: a real browser, a real console, and a process that svc web runs.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { buildStalePage } from '../../cli/console-page.ts';
import { startConsole } from '../../console/server/console.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { launchBrowser, WatchedPage, whyNoBrowser } from './support/watched-browser.ts';

const noBrowser = whyNoBrowser();
if (noBrowser !== undefined)
  process.stderr.write(`The console's page is not tried in a browser: ${noBrowser}.\n`);

vi.setConfig({ testTimeout: 60_000 });

const SERVER = `require('node:http').createServer((_, response) => response.end('hello'))
  .listen(Number(process.env.PORT), '127.0.0.1');`;

describe.skipIf(noBrowser !== undefined)('the console', () => {
  test('shows the process and the mounts of a web-hosted service, and no screens of components', async () => {
    const runningFolder = join(temporaryFolder(), 'running');
    mkdirSync(runningFolder);
    buildStalePage(join(import.meta.dirname, '../..'));
    const words = ['web', '--port', '0', '--name', 'shop', '--mount', '/cart=shopping-cart', '--'];
    const svc = new SvcProcess([...words, process.execPath, '-e', SERVER], {
      env: { SVC_RUNNING_DIR: runningFolder },
    });
    onTestFinished(() => void svc.child.kill('SIGTERM'));
    const url = await svc.listening();
    const served = await startConsole({ port: 0, runningFolder, failed: () => {} });
    onTestFinished(async () => served.close());
    const browser = await launchBrowser();
    onTestFinished(async () => browser.close());
    const viewport = { width: 1100, height: 700 };
    const watched = await WatchedPage.open(browser, served.url, { viewport }, '/');
    const { page } = watched;
    await page.locator('main').getByRole('link', { name: 'shop' }).click();
    await page.getByText('listens', { exact: true }).waitFor();
    await page.getByText(`curl ${url}/`).waitFor();
    await page.getByText('/cart', { exact: true }).waitFor();
    const sections = page.getByRole('navigation', { name: 'Sections' });
    await expect
      .poll(async () => sections.getByRole('link').allTextContents())
      .toEqual(['Overview']);
    await page.evaluate(`location.hash += '/traces'`);
    await page.getByText('This service is web-hosted.').waitFor();
    await watched.close();
    expect(watched.problems).toEqual([]);
  });
});
