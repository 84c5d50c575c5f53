// Builds the console's page to where its server looks for it.
import { CONSOLE_PAGE, buildConsolePage } from './console-page.ts';

await buildConsolePage(CONSOLE_PAGE);
