// Measurement (x): processor time of a server for a request of six fields, which it answers with a constant: @svc/http1
// compared with node:http.
import { oneCoreForServer } from './cores.ts';
import type { Loader } from './load.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { type ConstantServer, startConstant } from './service.ts';

const CONNECTIONS = 64;
const HEADERS = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  Accept: 'application/json, text/plain, */*',
  'Accept-Encoding': 'gzip, deflate, br',
  Authorization: 'Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0',
  Connection: 'keep-alive',
};

export async function measureCodec(
  { seconds, rounds, warmUpSeconds }: Pace,
  loader: Loader,
): Promise<Measurement[]> {
  const placement = oneCoreForServer();
  const isPinned = placement.kind === 'pinned';
  const servers: ConstantServer[] = [];
  const load = async (server: ConstantServer, forSeconds: number) =>
    loader.run({
      url: server.url,
      method: 'GET',
      paths: ['/carts/7f3a9c/items?limit=20'],
      body: undefined,
      headers: HEADERS,
      connections: CONNECTIONS,
      seconds: forSeconds,
      processors: isPinned ? placement.load : undefined,
    });
  const cost = async (server: ConstantServer) => {
    const before = await server.processorUs();
    const perSecond = await load(server, seconds);
    // The loader rounds its time up.
    return ((await server.processorUs()) - before) / (perSecond * Math.ceil(seconds));
  };
  try {
    for (const kind of ['http1', 'node'] as const)
      servers.push(await startConstant(kind, isPinned ? placement.server : undefined));
    const [own, nodes] = servers as [ConstantServer, ConstantServer];
    if (warmUpSeconds > 0) for (const server of servers) await load(server, warmUpSeconds);
    const figures: { own: number; nodes: number }[] = [];
    for (let round = 0; round < rounds; round++)
      figures.push({ own: await cost(own), nodes: await cost(nodes) });
    return [
      {
        letter: 'x',
        what: `Processor time for a GET answered with a constant, six fields each, ${CONNECTIONS} connections`,
        svc: median(figures.map((figure) => figure.own)),
        beside: 'node:http',
        other: median(figures.map((figure) => figure.nodes)),
        unit: 'µs',
        ratio: median(figures.map((figure) => figure.own / figure.nodes)),
        cores: isPinned
          ? 'one a side, the load on another'
          : `not pinned (${placement.reason}), shared with the load`,
      },
    ];
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
