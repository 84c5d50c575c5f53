// A web-hosted service of an installation while its instances are replaced: real programs, sandboxes, and requests through the gateway.
import { describe, expect, onTestFinished, test } from 'vitest';
import { noSandbox } from '../control-plane/local/sandbox/support.ts';
import { installedWebServer } from '../support/installed-services.ts';
import { ServiceInstallation } from '../support/service-installation.ts';
import { WatchedRoutes } from '../support/watched-routes.ts';

const REPLACEMENTS = 2;
const INSTANCES = 2;

interface Server {
  readonly path: string;
  readonly perSecond: number;
  readonly env?: Readonly<Record<string, string>>;
}

describe.skipIf(noSandbox !== undefined)('two instances of a web-hosted service', () => {
  test.each<[string, Server]>([
    ['answers at once', { path: '/', perSecond: 100 }],
    // Requests are under way at each instance that ends.
    ['takes a while, and finishes what it has begun', { path: '/slow?300', perSecond: 100 }],
    [
      'takes a while, and ends at once when it is asked to',
      { path: '/slow?100', perSecond: 20, env: { ENDS_AT_ONCE: 'yes' } },
    ],
  ])(
    'are replaced while no request fails or is held, and two serve all the time: the server %s',
    async (_what, { path, perSecond, env = {} }) => {
      const descriptor = { ...installedWebServer.descriptor, instances: INSTANCES, env };
      const installation = await ServiceInstallation.open({
        ...installedWebServer,
        descriptor,
        path,
      });
      onTestFinished(() => installation.close());
      const routes = new WatchedRoutes(installation.routesSocket, installation.key);
      onTestFinished(() => routes.close());
      const posts = installation.posts(perSecond);
      for (let count = 0; count < REPLACEMENTS; count++) await installation.replace();
      await posts.stop();
      expect(posts.failures).toEqual([]);
      expect(posts.sent).toBeGreaterThan(perSecond);
      expect(routes).toMatchObject({ holds: 0, instancesMin: INSTANCES });
    },
    180_000,
  );
});
