// A request that a person sends as somebody from the console, in a real browser, with a real console and service: the answer depends on
// the caller that was typed, and the page never has the token.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { buildStalePage } from '../../cli/console-page.ts';
import { type Console, startConsole } from '../../console/server/console.ts';
import { developmentKeyFile } from '../../kit/development-key-file.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { settled, textOf } from './support/screen.ts';
import { launchBrowser, WatchedPage, whyNoBrowser } from './support/watched-browser.ts';

const noBrowser = whyNoBrowser();
if (noBrowser !== undefined)
  process.stderr.write(`The console's forms are not tried in a browser: ${noBrowser}.\n`);

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const folder = temporaryFolderOfFile();
const runningFolder = join(folder, 'running');
/** The parts of a token, which begins with a JSON object in base64url. */
const TOKEN = /eyJ[\w-]+\.[\w-]+\.[\w-]+/;
let served: Console;
let service: SvcProcess;
let browser: Browser;

function failed(error: unknown): never {
  expect.unreachable(String(error));
}

async function instanceId(): Promise<string> {
  return vi.waitUntil(async () => {
    const answer = await fetch(`${served.url}/api/services`);
    const { services } = (await answer.json()) as {
      readonly services: readonly { readonly instanceId: string }[];
    };
    return services[0]?.instanceId;
  }, 20_000);
}

describe.skipIf(noBrowser !== undefined)(
  'a request from the form of a route that asks for a token',
  () => {
    beforeAll(async () => {
      mkdirSync(runningFolder);
      buildStalePage(join(import.meta.dirname, '..', '..'));
      const module = join(folder, 'counter.wasm');
      writeFileSync(module, await compileFixture('guarded-counter'));
      const home = join(folder, 'home');
      mkdirSync(home);
      const data = join(folder, 'data');
      service = new SvcProcess(
        ['run', module, '--port', '0', '--data', data, '--development-tokens'],
        { env: { SVC_RUNNING_DIR: runningFolder, HOME: home } },
      );
      const keyFile = () => developmentKeyFile(() => home);
      const options = { port: 0, runningFolder, failed, developmentKeyFile: keyFile };
      [served, browser] = await Promise.all([
        startConsole(options),
        launchBrowser(),
        service.listening(),
      ]);
    });
    afterAll(async () => {
      await browser?.close();
      await Promise.all([served?.close(), service?.end('SIGTERM')]);
    });

    test('is answered by what the typed caller may do, and neither page nor log has the token', async () => {
      const view = `/s/${await instanceId()}/routes/GET/guarded/{id}`;
      const watched = await WatchedPage.open(browser, served.url, {}, view);
      const { page } = watched;
      onTestFinished(() => watched.close());
      await settled(page);
      const received: Promise<string>[] = [];
      page.on('response', (response) => received.push(response.text().catch(() => '')));
      const answer = page.getByRole('region', { name: 'Answer' });
      await page.getByLabel('id', { exact: true }).fill('one');
      const sendAs = async (roles: string) => {
        await page.getByLabel('Subject').fill('ada');
        await page.getByLabel('Roles').fill(roles);
        const response = page.waitForResponse((one) => one.url().endsWith('/call'));
        await page.getByRole('button', { name: /^Send/ }).click();
        await response;
      };
      await sendAs('writer');
      await answer.getByText('403').first().waitFor();
      await sendAs('writer reader');
      await answer.getByText('200').first().waitFor();
      expect(await textOf(answer)).toContain('value: 0');

      const key = readFileSync(join(folder, 'home', '.svc', 'development-tokens.json'), 'utf8');
      const [, secret = ''] = /"d":\s*"([\w-]+)"/.exec(key)!;
      const seen = [await page.content(), ...(await Promise.all(received)), service.stderr];
      expect(seen.join('\n')).not.toMatch(TOKEN);
      expect(seen.join('\n')).not.toContain(secret);
      expect(watched.problems).toEqual([]);
    });
  },
);
