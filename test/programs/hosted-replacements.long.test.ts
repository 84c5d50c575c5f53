// A web-hosted service of an installation while its instances are replaced: real programs, sandboxes, and requests through the gateway.
import { describe, expect, onTestFinished, test } from 'vitest';
import { noSandbox } from '../control-plane/local/sandbox/support.ts';
import { installedWebServer } from '../support/installed-services.ts';
import { ServiceInstallation } from '../support/service-installation.ts';
import { WatchedRoutes } from '../support/watched-routes.ts';

const REPLACEMENTS = 3;
const POSTS_PER_SECOND = 100;

describe.skipIf(noSandbox !== undefined)('two instances of a web-hosted service', () => {
  // Some answers take so long that requests are under way at each instance that ends.
  test.each(['/', '/slow?300'])(
    'are replaced while no request of %s fails, none is held, and two serve all the time',
    async (path) => {
      const installation = await ServiceInstallation.open({ ...installedWebServer, path });
      onTestFinished(() => installation.close());
      const routes = new WatchedRoutes(installation.routesSocket, installation.key);
      onTestFinished(() => routes.close());
      const posts = installation.posts(POSTS_PER_SECOND);
      for (let count = 0; count < REPLACEMENTS; count++) await installation.replace();
      await posts.stop();
      expect(posts.failures).toEqual([]);
      expect(posts.sent).toBeGreaterThan(POSTS_PER_SECOND);
      expect(routes).toMatchObject({
        holds: 0,
        instancesMin: installedWebServer.descriptor['instances'],
      });
    },
    180_000,
  );
});
