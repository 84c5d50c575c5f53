// `npm run replacements [-- --minutes N] [--rate N] [--seed S] [--web-hosted]`: for N minutes (5 by default) replaces the instance of a service on one
// data folder, and ends the gateway, whose sockets stay, while POST requests come at a fixed rate (300 a second by default) and certificates are renewed
// every few seconds. With `--web-hosted` the service is a web server with two instances in sandboxes, which are replaced one after the other.
// Fails if a request fails, if the counter has not counted each answered one once, or if requests of the web server are held. A request whose connection is
// closed while it is sent is sent once more, as every client of HTTP has to: that is no failure. SIGINT and SIGTERM end it after the present change.
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { installedCounter, installedWebServer } from '../test/support/installed-services.ts';
import { Random } from '../test/support/random.ts';
import { ServiceInstallation } from '../test/support/service-installation.ts';
import { WatchedRoutes } from '../test/support/watched-routes.ts';

/** Longest pause between two changes, in milliseconds. */
const PAUSE_MS_MAX = 2_000;
/** One of so many changes is an end of the gateway. */
const GATEWAY_EVERY = 4;
const LINE_EVERY_MS = 30_000;
const FAILURES_PRINTED_MAX = 20;
/** Certificates are renewed after half of their lifetime. */
const SETTINGS = {
  'svc.local.identity-lifetime-ms': '20000',
  'svc.local.hostname-lifetime-ms': '30000',
  'svc.local.certificate-poll-ms': '500',
};

const {
  values: { 'web-hosted': isWebHosted, ...values },
} = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    'web-hosted': { type: 'boolean', default: false },
  },
});
for (const [name, value] of Object.entries(values))
  if (!/^[1-9]\d{0,5}$/.test(value)) {
    process.stderr.write(`--${name} is no whole number from 1 on: ${value}\n`);
    process.exit(2);
  }
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

const random = new Random(Number(values.seed));
const service = isWebHosted ? installedWebServer : installedCounter;
const installation = await ServiceInstallation.open(service, { settings: SETTINGS });
const counts = { replacements: 0, gateways: 0 };
const routes = new WatchedRoutes(installation.routesSocket, installation.key);
try {
  const posts = installation.posts(Number(values.rate), { repeats: true });
  const say = (): void => {
    const longestMs = posts.tookMs.reduce((one, other) => Math.max(one, other), 0);
    process.stdout.write(
      `${counts.replacements} replacements, ${counts.gateways} restarts of the gateway; ${posts.sent} requests, ` +
        `of which ${posts.failures.length} failed and ${posts.repeated} were sent twice; the longest took ${Math.round(longestMs)} ms\n`,
    );
  };
  const lines = setInterval(say, LINE_EVERY_MS);
  const untilMs = performance.now() + Number(values.minutes) * 60_000;
  while (performance.now() < untilMs && !stop.signal.aborted) {
    if (random.below(GATEWAY_EVERY) === 0) {
      await installation.restartGateway();
      counts.gateways++;
    } else {
      await installation.replace();
      counts.replacements++;
    }
    await pause(random.below(PAUSE_MS_MAX), undefined, { signal: stop.signal }).catch(() => {});
  }
  clearInterval(lines);
  await posts.stop();
  say();
  if (isWebHosted) {
    if (routes.holds > 0) posts.failures.push(`requests were held ${routes.holds} times`);
  } else {
    const { value } = JSON.parse(await installation.answer()) as { readonly value: number };
    if (value !== posts.tookMs.length)
      posts.failures.push(`${posts.tookMs.length} were answered, and the counter has ${value}`);
  }
  for (const failure of posts.failures.slice(0, FAILURES_PRINTED_MAX))
    process.stdout.write(`${failure}\n`);
  if (posts.failures.length > 0) {
    process.stdout.write(`The last lines of the programs:\n${installation.lines.join('\n')}\n`);
    process.exitCode = 1;
  }
} finally {
  routes.close();
  await installation.close();
}
