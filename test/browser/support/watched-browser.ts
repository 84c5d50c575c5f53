// WatchedBrowser: Debian's Chromium, whose pages record everything that must not happen: an error on the console, a
// violation of the content security policy, a request to another machine.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const PROGRAM = '/usr/bin/chromium';
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-proxy-server',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
];
const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

/** Reason why there is no browser; undefined if there is one. */
export function whyNoBrowser(): string | undefined {
  return existsSync(PROGRAM) ? undefined : `${PROGRAM} is not installed`;
}

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: ARGS });
}

/** Functions that run in the page, for which there are no types here. */
const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('CSP violation: ' + event.violatedDirective + ' ' + event.blockedURI));`;
const SIDEWAYS_SCROLL =
  'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)';

const INTERACTIVE = `[...document.querySelectorAll(
  'a[href], button:not([disabled]), input, select, textarea, summary, [tabindex="0"]')]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }))`;
const NOTE_REACHED = `(globalThis.reached?.stop(), globalThis.reached = new Set(),
  reached.note = ({ target }) => reached.add(target),
  reached.stop = () => document.removeEventListener('focusin', reached.note),
  document.addEventListener('focusin', reached.note), ${INTERACTIVE}.length)`;
const GROUND = `[document.body, document.documentElement]
  .map((element) => getComputedStyle(element).backgroundColor)
  .find((color) => !color.endsWith(', 0)'))`;

export interface AxeFinding {
  readonly id: string;
  readonly where: readonly string[];
}
interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly {
      readonly target: readonly string[];
      readonly failureSummary: string;
    }[];
  }[];
}

export class WatchedPage {
  readonly page: Page;
  /** Recorded events that must not happen. */
  readonly problems: string[] = [];

  private constructor(page: Page) {
    this.page = page;
  }

  /** `url`: address of the console, the only server that the page may reach; `view`: the address after '#'. */
  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions = {},
    view = '/',
  ): Promise<WatchedPage> {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    // The clock advances normally, but a test can fast-forward it instead of waiting for the page.
    await page.clock.install();
    const watched = new WatchedPage(page);
    const { problems } = watched;
    await page.addInitScript({ content: TELL_VIOLATIONS });
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      // The browser's own message about a response that is an error, which the page may receive.
      const isAnswer = message.text().startsWith('Failed to load resource');
      if (isAnswer && message.location().url.startsWith(`${url}/api/`)) return;
      problems.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => problems.push(`thrown: ${error.message}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`)) problems.push(`request to ${request.url()}`);
    });
    page.on('websocket', (socket) => problems.push(`web socket to ${socket.url()}`));
    await page.goto(`${url}/#${view}`);
    return watched;
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  /** Number of pixels by which the page is wider than its window. */
  async sidewaysScroll(): Promise<number> {
    return this.page.evaluate<number>(SIDEWAYS_SCROLL);
  }

  /** Elements that can be clicked, but did not get the focus in one round of Tabs. */
  async notReachedByTab(): Promise<readonly string[]> {
    const { page } = this;
    const count = await page.evaluate<number>(NOTE_REACHED);
    for (let turn = 0; turn < count + 10; turn++) await page.keyboard.press('Tab');
    return page.evaluate<string[]>(
      `${INTERACTIVE}.filter((one) => !reached.has(one)).map((one) => one.outerHTML.slice(0, 200))`,
    );
  }

  /** Brightness of the page's background: 0 is black, 255 is white. */
  async groundLightness(): Promise<number> {
    const color = await this.page.evaluate<string>(`${GROUND} ?? 'rgb(255, 255, 255)'`);
    const [red, green, blue] = [...color.matchAll(/\d+/g)].map(Number) as [number, number, number];
    return (red + green + blue) / 3;
  }

  /** Serious and critical violations. */
  async axeFindings(): Promise<readonly AxeFinding[]> {
    if (!(await this.page.evaluate<boolean>("'axe' in globalThis")))
      await this.page.evaluate(axeSource);
    const { violations } = await this.page.evaluate<AxeResult>(
      "axe.run({ resultTypes: ['violations'], preload: false, iframes: false })",
    );
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => ({
        id,
        where: nodes.map(({ target, failureSummary }) => `${target.join(' ')}: ${failureSummary}`),
      }));
  }
}
