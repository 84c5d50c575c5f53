// RegistryServer: the HTTP server of the registry (OCI distribution 1.1).
//
// Invariants
// - Nobody who has not shown a token learns anything, nor may send a body.
// - Whether a caller may use the project is asked before the body of its request is read.
import rateLimit from '@fastify/rate-limit';
import { httpUrl, listen } from '@svc/kit/listen';
import type { Log } from '@svc/kit/log';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { addBlobRoutes } from './blob-routes.ts';
import { Access, unknownName } from './caller.ts';
import type { ImageStore } from './image-store.ts';
import { addManifestRoutes } from './manifest-routes.ts';
import { errorBody, RegistryError } from './registry-error.ts';
import type { RegistrySettings } from './registry-settings.ts';
import { checkNames, type RouteParameters } from './requested.ts';

export interface RegistryServerOptions {
  readonly settings: Pick<RegistrySettings, 'host' | 'section' | 'controlPlaneUrl'>;
  readonly store: ImageStore;
  readonly pullToken: string;
  readonly log: Log;
}

const HEAD_BYTES_MAX = 32 * 1024;
const MINUTE_MS = 60_000;
const SETTING_NAMES = { host: '--host', port: '--port' };
/** Errors of the file system that an operator has to see to. */
const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);

export class RegistryServer {
  /** Address that it listens on. */
  readonly url: string;
  readonly #app: FastifyInstance;

  private constructor(url: string, app: FastifyInstance) {
    this.url = url;
    this.#app = app;
  }

  /** Rejects with an SvcError if it cannot listen. */
  static async start(options: RegistryServerOptions): Promise<RegistryServer> {
    const { host, section } = options.settings;
    const app = await appOf(options);
    await app.ready();
    app.server.maxConnections = section.connectionsMax;
    const bound = await listen(
      app.server,
      { host, port: section.port },
      { settings: SETTING_NAMES },
    );
    return new RegistryServer(httpUrl({ host, port: bound.port }), app);
  }

  /** Resolves once no request is in flight, or after the time, when the rest is cut. */
  async stop(timeoutMs: number): Promise<void> {
    const { server } = this.#app;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
    await closed;
    clearTimeout(cut);
    await this.#app.close();
  }
}

async function appOf({
  settings,
  store,
  pullToken,
  log,
}: RegistryServerOptions): Promise<FastifyInstance> {
  const { section, controlPlaneUrl } = settings;
  const access = new Access({ controlPlaneUrl, pullToken, timeoutMs: section.accessTimeoutMs });
  const app = Fastify({
    logger: false,
    forceCloseConnections: false,
    return503OnClosing: false,
    requestTimeout: section.requestTimeoutMs,
    connectionTimeout: section.idleTimeoutMs,
    http: { maxHeaderSize: HEAD_BYTES_MAX },
    routerOptions: { maxParamLength: 200 },
  });
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = error instanceof RegistryError ? error : refusalOf(error, request, log);
    // What is left of the body is not read.
    if (!request.raw.complete) reply.header('connection', 'close');
    return reply
      .code(refusal.status)
      .headers(refusal.headers)
      .send(errorBody(refusal.code, refusal.message));
  });
  app.setNotFoundHandler(async () => {
    throw unknownName();
  });
  await app.register(rateLimit, {
    max: section.requestsPerMinute,
    timeWindow: MINUTE_MS,
    keyGenerator: clientOf,
    allowList: (request) => access.isOrchestrator(request.headers.authorization),
    errorResponseBuilder: (_request, { ttl }) =>
      new RegistryError(
        429,
        'TOOMANYREQUESTS',
        'too many requests (svc.registry.requests-per-minute)',
        {
          'retry-after': String(Math.ceil(ttl / 1000)),
        },
      ),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  // Before the body is parsed, and after the limit of requests, which is a hook of each route.
  app.addHook('preParsing', async (request) => await checkAccess(access, request));
  app.get('/v2/', async (_request, reply) => reply.send({}));
  addBlobRoutes(app, store);
  addManifestRoutes(app, store);
  return app;
}

async function checkAccess(access: Access, request: FastifyRequest): Promise<void> {
  const { headers, method, params, is404 } = request;
  const { authorization } = headers;
  const { project, service } = params as Partial<RouteParameters>;
  if (is404) return access.checkToken(authorization);
  if (project === undefined || service === undefined) return await access.check(authorization);
  access.checkToken(authorization);
  checkNames({ project, service });
  const action = method === 'GET' || method === 'HEAD' ? 'pull' : 'push';
  await access.checkProject(authorization, project, action);
}

/** Requests arrive from the gateway, which appends the address of its client. */
function clientOf({ headers, ip }: FastifyRequest): string {
  const forwarded = headers['x-forwarded-for'];
  const list = Array.isArray(forwarded) ? forwarded.join(',') : forwarded;
  return list?.split(',').at(-1)?.trim() ?? ip;
}

function refusalOf(error: unknown, { raw, method, url }: FastifyRequest, log: Log): RegistryError {
  const { code, message, statusCode } = error as NodeJS.ErrnoException & { statusCode?: number };
  // The client has ended its request: it gets no answer. A request that has arrived as a whole is destroyed, too.
  if ((raw.destroyed && !raw.complete) || code === 'ECONNRESET')
    return new RegistryError(400, 'BLOB_UPLOAD_INVALID', 'the request was cut off');
  if (statusCode !== undefined && statusCode < 500)
    return new RegistryError(statusCode, 'UNSUPPORTED', message);
  const fields = { method, path: url.split('?')[0]!, error: message };
  log({ level: 'error', message: 'a request failed', fields });
  return FULL.has(code)
    ? new RegistryError(507, 'UNAVAILABLE', 'the disk of the registry is full')
    : new RegistryError(500, 'UNKNOWN', 'the registry failed; its log says why');
}
