// Main: starts the page: applies the theme, reads the address, and starts to poll the services.
import { render } from 'preact';
import { applyKeptTheme } from './theme.ts';
import { App } from './app.tsx';
import { applyKeptKeys, onKey } from './keys.ts';
import { followAddress, nowMs, watchServices } from './store.ts';

applyKeptTheme();
applyKeptKeys();
followAddress();
addEventListener('hashchange', followAddress);
addEventListener('popstate', followAddress);
addEventListener('keydown', onKey);
setInterval(() => (nowMs.value = Date.now()), 1000);
void watchServices(new AbortController().signal);
render(<App />, document.getElementById('page')!);
