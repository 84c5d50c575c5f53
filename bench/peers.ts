// `npm run bench:peers`: the counter of svc compared with that of Restate and of Cloudflare's workerd on this
// machine: the same requests, each write durable before its answer, one server at a time.
//
// Usage: npm run bench:peers -- [--seconds 5] [--rounds 3]
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createLoader, type Loader } from './load.ts';
import { describeMachine } from './machine.ts';
import { type Peer, installPeers, startRestate, startWorkerd } from './peer-servers.ts';
import { median } from './report.ts';
import { benchModule, startSvc } from './service.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
});
const seconds = Math.max(1, Number.parseInt(values.seconds, 10) || 5);
const rounds = Math.max(1, Number.parseInt(values.rounds, 10) || 3);
const CONNECTIONS = 64;
const IDS = Array.from({ length: 1000 }, (_, index) => `c${index}`);

interface Rates {
  readonly name: string;
  /** Answers per second. */
  readonly post: number;
  readonly get: number;
}

async function startSvcAsPeer(): Promise<Peer> {
  const module = await benchModule();
  const service = await startSvc(module.file, join(module.folder, 'data'));
  return {
    name: 'svc',
    url: service.url,
    addPath: (id) => `/counters/${id}`,
    getPath: (id) => `/counters/${id}`,
    async stop() {
      await service.stop();
      module.remove();
    },
  };
}

async function measure(start: () => Promise<Peer>, loader: Loader): Promise<Rates> {
  const peer = await start();
  try {
    process.stderr.write(`bench: measuring ${peer.name}\n`);
    const load = (method: 'GET' | 'POST', forSeconds: number) =>
      loader.run({
        url: peer.url,
        method,
        paths: IDS.map(method === 'POST' ? peer.addPath : peer.getPath),
        body: method === 'POST' ? '{"amount":1}' : undefined,
        connections: CONNECTIONS,
        seconds: forSeconds,
      });
    // Before the measurement every counter exists, and every program is warm.
    await load('POST', seconds);
    const post: number[] = [];
    const get: number[] = [];
    for (let round = 0; round < rounds; round++) {
      post.push(await load('POST', seconds));
      get.push(await load('GET', seconds));
    }
    return { name: peer.name, post: median(post), get: median(get) };
  } finally {
    await peer.stop();
  }
}

installPeers();
const loader = await createLoader();
const rates: Rates[] = [];
for (const start of [startSvcAsPeer, startRestate, startWorkerd])
  rates.push(await measure(start, loader));
const svc = rates[0]!;
const shown = (value: number) => `${Math.round(value).toLocaleString('en-US')}/s`;
process.stdout.write(
  [
    `${new Date().toISOString().slice(0, 10)}, ${describeMachine()}. Requests by ${loader.name}, ` +
      `${CONNECTIONS} connections, ${IDS.length} counters. Medians of ${rounds} rounds of ${seconds} s.`,
    '',
    '| | durable POST | svc to it | GET | svc to it |',
    '|---|---|---|---|---|',
    ...rates.map(
      ({ name, post, get }) =>
        `| ${name} | ${shown(post)} | ${(svc.post / post).toFixed(1)} | ${shown(get)} | ${(svc.get / get).toFixed(1)} |`,
    ),
    '',
  ].join('\n'),
);
