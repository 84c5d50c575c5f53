// Measurement (a2): GET of a route that asks for an access token, which the service has seen before, compared with the same route
// without a rule of the same service, as in (a). Measurement (a3): the latency of such requests while others send as many different
// tokens as the aim names, each of them once.
import { join } from 'node:path';
import { IdentityProvider } from '../test/support/identity-provider/identity-provider.ts';
import { oneCoreForServer, working } from './cores.ts';
import { appendToAll, withJournal } from './filled-journal.ts';
import type { Loader } from './load.ts';
import { pacedTimes } from './paced-client.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule, type Service, startSvc } from './service.ts';

const CONNECTIONS = 64;
const ENTITIES = 1_000;
/** Life of the token, in seconds: longer than the measurement. */
const LIFETIME_S = 3_600;

/** A hundred thousand a minute. */
const NEW_TOKENS_PER_SECOND = 1_667;
const KNOWN_PER_SECOND = 500;
const PACED_CONNECTIONS = 16;
const CLAIMS = { realm_access: { roles: ['reader'] } };

const ids = Array.from({ length: ENTITIES }, (_, index) => `c${index}`);
const open = ids.map((id) => `/counters/${id}`);
const guarded = ids.map((id) => `/guarded/${id}`);

export async function measureBearer(
  wanted: ReadonlySet<string>,
  pace: Pace,
  loader: Loader,
): Promise<Measurement[]> {
  const module = await benchModule('guarded-counter');
  const provider = await IdentityProvider.start();
  const dir = join(module.folder, 'guarded');
  await withJournal(dir, (journal) => appendToAll(journal, ENTITIES, 0, 1));
  const placement = oneCoreForServer();
  const { server, load: processors } =
    placement.kind === 'pinned' ? placement : { server: undefined, load: undefined };
  const service = await startSvc(module.file, dir, server, {
    'svc.auth.issuer': provider.issuer,
    'svc.auth.audience': provider.audience,
  });
  const cores =
    placement.kind === 'pinned' ? 'one, the load on another' : `not pinned (${placement.reason})`;
  try {
    const issued = (subject: string): Promise<string> =>
      provider.issue({ subject, lifetimeS: LIFETIME_S, claims: CLAIMS });
    const measured = { service, token: await issued('ada'), pace, cores };
    const measurements: Measurement[] = [];
    if (wanted.has('a2'))
      measurements.push(await measureKnown({ ...measured, loader, processors }));
    if (wanted.has('a3'))
      measurements.push(await working(processors, () => measureNew({ ...measured, issued })));
    return measurements;
  } finally {
    await service.stop();
    await provider.stop();
    module.remove();
  }
}

interface Guarded {
  readonly service: Service;
  /** A token that the service sees again and again. */
  readonly token: string;
  readonly pace: Pace;
  readonly cores: string;
}

async function measureKnown({
  service,
  token,
  pace: { seconds, rounds, warmUpSeconds },
  cores,
  loader,
  processors,
}: Guarded & {
  readonly loader: Loader;
  readonly processors: string | undefined;
}): Promise<Measurement> {
  const run = (paths: readonly string[], forSeconds: number, headers = {}) =>
    loader.run({
      url: service.url,
      method: 'GET',
      paths,
      body: undefined,
      headers,
      connections: CONNECTIONS,
      seconds: forSeconds,
      processors,
    });
  const asked = (forSeconds: number) =>
    run(guarded, forSeconds, { authorization: `Bearer ${token}` });
  if (warmUpSeconds > 0) {
    await run(open, warmUpSeconds);
    await asked(warmUpSeconds);
  }
  const figures: { token: number; none: number }[] = [];
  for (let round = 0; round < rounds; round++)
    figures.push({ token: await asked(seconds), none: await run(open, seconds) });
  return {
    letter: 'a2',
    what: `GET on one core: a query of an entity, with a bearer rule and a known token, ${CONNECTIONS} connections`,
    svc: median(figures.map(({ token: perSecond }) => perSecond)),
    beside: 'the same service: the same query without a rule',
    other: median(figures.map(({ none }) => none)),
    unit: 'per second',
    ratio: median(figures.map(({ token: perSecond, none }) => perSecond / none)),
    cores,
  };
}

async function measureNew({
  service,
  token,
  pace: { seconds, rounds, warmUpSeconds },
  cores,
  issued,
}: Guarded & { readonly issued: (subject: string) => Promise<string> }): Promise<Measurement> {
  const port = Number(new URL(service.url).port);
  const known = (forSeconds: number) =>
    pacedTimes({
      port,
      connections: PACED_CONNECTIONS,
      perSecond: KNOWN_PER_SECOND,
      seconds: forSeconds,
      next: () => requestWith(token),
    });
  if (warmUpSeconds > 0) await known(warmUpSeconds);
  const figures: { alone: number; beside: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const count = Math.ceil(NEW_TOKENS_PER_SECOND * seconds);
    const tokens = await Promise.all(
      Array.from({ length: count }, (_, index) => issued(`${round}-${index}`)),
    );
    const alone = await known(seconds);
    const [beside] = await Promise.all([
      known(seconds),
      pacedTimes({
        port,
        connections: PACED_CONNECTIONS,
        perSecond: NEW_TOKENS_PER_SECOND,
        seconds,
        next: () => requestWith(tokens.pop()!),
      }),
    ]);
    figures.push({ alone: alone.p99Ms, beside: beside.p99Ms });
  }
  return {
    letter: 'a3',
    what: `GET: p99 at ${KNOWN_PER_SECOND}/s with a known token while ${NEW_TOKENS_PER_SECOND} different tokens a second come`,
    svc: median(figures.map(({ beside }) => beside)),
    beside: 'the same while none does',
    other: median(figures.map(({ alone }) => alone)),
    unit: 'ms',
    ratio: median(figures.map(({ alone, beside }) => beside / alone)),
    cores,
  };
}

function requestWith(token: string): string {
  return `GET ${guarded[0]!} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`;
}
