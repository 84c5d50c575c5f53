// `npm run bench:kubernetes`: how long the driver of Kubernetes takes to make services of nothing, what it asks of the API server and uses of a core while
// nothing changes, and the time from an apply until the service is ready. The API server, its storage and its controllers are real, and one node is scripted.
//
// Usage: npm run bench:kubernetes -- [--services 500] [--rest-seconds 330] [--applies 20] [--json FILE]
//
// A rest of 330 seconds has one comparison of all services with the cluster (`svc.orchestrator.resync`), and one list of each kind.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { missingKubernetes } from '../test/support/kubernetes/kubernetes-programs.ts';
import { FollowedCluster } from './kubernetes/followed-cluster.ts';
import { describeMachine } from './machine.ts';

/** Time that late changes of statuses, and the looks at them, have before the rest is measured. */
const SETTLING_MS = 30_000;

const { values } = parseArgs({
  options: {
    services: { type: 'string', default: '500' },
    'rest-seconds': { type: 'string', default: '330' },
    applies: { type: 'string', default: '20' },
    json: { type: 'string' },
  },
});
const services = wholeNumber('services', 1, 5000);
const restS = wholeNumber('rest-seconds', 1, 3600);
const applies = wholeNumber('applies', 1, 1000);

const missing = missingKubernetes();
if (missing !== undefined) {
  console.log(`not measured: ${missing}`);
  process.exit(0);
}

const cluster = await FollowedCluster.start(mkdtempSync(join(tmpdir(), 'svc-bench-')));
try {
  const keys = FollowedCluster.keys(services);
  for (const key of keys) await cluster.apply(key);
  const fromNothing = await measured(async () => {
    cluster.follow();
    await cluster.untilAllReady(keys);
  });
  console.log(
    `${services} services from nothing: ${seconds(fromNothing.ms)} until all are ready, ` +
      `${(fromNothing.requests.length / services).toFixed(1)} requests each, ${share(fromNothing)} of a core; ` +
      `${seconds(fromNothing.serverMs)} of processor time of the API server, its storage and its controllers`,
  );
  const settling = await measured(() => pause(SETTLING_MS));
  console.log(`${settling.requests.length} requests in the ${seconds(SETTLING_MS)} after it`);
  const rest = await measured(() => pause(restS * 1000));
  console.log(
    `at rest, ${restS} s: ${(rest.requests.length / restS).toFixed(2)} requests a second, ${share(rest)} of a core, ` +
      `${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB\n${countsText(rest.requests)}`,
  );
  const times: number[] = [];
  for (const key of FollowedCluster.keys(services + applies).slice(services)) {
    const { ms } = await measured(async () => {
      await cluster.apply(key);
      await cluster.untilReady(key);
    });
    times.push(ms);
  }
  times.sort((one, other) => one - other);
  const longestMs = Math.max(...times);
  console.log(
    `from apply to ready, ${applies} times: median ${Math.round(times[Math.floor(applies / 2)]!)} ms, longest ${Math.round(longestMs)} ms`,
  );
  console.log(describeMachine());
  if (values.json !== undefined)
    writeFileSync(
      values.json,
      JSON.stringify({ services, fromNothing, rest, times }, undefined, 2),
    );
} finally {
  await cluster[Symbol.asyncDispose]();
}

interface Measured {
  readonly ms: number;
  /** Processor time of the process, with the scripted node and the entities in it. */
  readonly processorMs: number;
  readonly requests: readonly string[];
  /** Processor time of the API server, its storage and its controllers. */
  readonly serverMs: number;
}

async function measured(work: () => Promise<void>): Promise<Measured> {
  cluster.transport.take();
  const serverBeforeMs = cluster.serverProcessorMs();
  const before = process.cpuUsage();
  const startMs = performance.now();
  await work();
  const { user, system } = process.cpuUsage(before);
  return {
    ms: performance.now() - startMs,
    processorMs: (user + system) / 1000,
    requests: cluster.transport.take(),
    serverMs: cluster.serverProcessorMs() - serverBeforeMs,
  };
}

function share({ processorMs, ms }: Measured): string {
  return `${((100 * processorMs) / ms).toFixed(2)} %`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function countsText(requests: readonly string[]): string {
  const counts = Map.groupBy(requests, (request) =>
    request.replace(/\/namespaces\/.*/, '/namespaces/…'),
  );
  return [...counts]
    .map(([request, all]) => `  ${all.length} × ${request}`)
    .toSorted()
    .join('\n');
}

function wholeNumber(
  name: 'services' | 'rest-seconds' | 'applies',
  min: number,
  max: number,
): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  process.stderr.write(`--${name} takes a whole number from ${min} to ${max}\n`);
  process.exit(2);
}
