// Measurement (a2): GET of a route that asks for an access token, which the service has seen before, compared with the same route
// without a rule of the same service, as in (a).
import { join } from 'node:path';
import { IdentityProvider } from '../test/support/identity-provider/identity-provider.ts';
import { oneCoreForServer } from './cores.ts';
import { appendToAll, withJournal } from './filled-journal.ts';
import type { Loader } from './load.ts';
import { median, type Measurement, type Pace } from './report.ts';
import { benchModule, startSvc } from './service.ts';

const CONNECTIONS = 64;
const ENTITIES = 1_000;
/** Life of the token, in seconds: longer than the measurement. */
const LIFETIME_S = 3_600;

const ids = Array.from({ length: ENTITIES }, (_, index) => `c${index}`);
const open = ids.map((id) => `/counters/${id}`);
const guarded = ids.map((id) => `/guarded/${id}`);

export async function measureBearer(
  { seconds, rounds, warmUpSeconds }: Pace,
  loader: Loader,
): Promise<Measurement> {
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
  try {
    const claims = { realm_access: { roles: ['reader'] } };
    const token = await provider.issue({ subject: 'ada', lifetimeS: LIFETIME_S, claims });
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
      cores:
        placement.kind === 'pinned'
          ? 'one, the load on another'
          : `not pinned (${placement.reason})`,
    };
  } finally {
    await service.stop();
    await provider.stop();
    module.remove();
  }
}
