// Screen: actions on a screen of the console, and readings of it.
import type { Locator, Page } from 'playwright-core';

/** Opens a view as a link does. It is loaded when this resolves, and the previous screen is gone. */
export async function show(page: Page, view: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const [before, drawn] = [location.hash, () => requestAnimationFrame(() => requestAnimationFrame(resolve))];
    location.hash = ${JSON.stringify(`#${view}`)};
    if (location.hash === before) resolve();
    else addEventListener('hashchange', drawn, { once: true });
  })`);
  await settled(page);
}

export async function settled(page: Page): Promise<void> {
  await page.locator('main:has(h1):not(:has(.waiting))').waitFor();
}

export async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? '';
}

export async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}
