// LoginServer: the HTTP server of the login provider. The page on which a person is chosen is its own; oidc-provider answers the
// rest.
//
// Invariants
// - A request whose Host is neither the issuer's nor the listener's is refused: a web page cannot reach the provider through a name
//   that resolves to a loopback address (DNS rebinding).
// - A form counts only with the token of its page, which depends on the login that it belongs to.
// - No login uses the session of an earlier one.
import { ServerCertificate } from '@svc/identity/server-certificate';
import { httpUrl, listen } from '@svc/kit/listen';
import type { Log } from '@svc/kit/log';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { Server } from 'node:net';
import type Provider from 'oidc-provider';
import type { KeptKeys } from './kept-keys.ts';
import type { LoginProviderSettings } from './login-provider-settings.ts';
import { loginPage, noticePage, PAGE_HEADERS } from './pages.ts';
import type { Accounts } from './people-file.ts';
import {
  AUTHORIZATION_PATH,
  createProvider,
  DEVICE_PATH,
  INTERACTION_PATH,
  SHOWN_CODE,
} from './provider.ts';

export interface LoginServerOptions {
  readonly settings: LoginProviderSettings;
  readonly accounts: Accounts;
  readonly keys: KeptKeys;
  readonly log: Log;
}

const FORM_BYTES_MAX = 4096;
const HEAD_BYTES_MAX = 32 * 1024;
const SESSION_COOKIE_NAMES = ['_session', '_session.sig'];
const SESSION_COOKIES = /(?:^|;\s*)_session(?:\.sig)?=[^;]*/g;
const SETTING_NAMES = { host: '--host', port: '--port' };

interface LoginRoute {
  readonly Params: { readonly uid: string };
  readonly Body: URLSearchParams;
}

export class LoginServer {
  /** Issuer of the tokens. */
  readonly issuer: string;
  /** Address that it listens on. */
  readonly url: string;
  readonly #app: FastifyInstance;
  readonly #http: HttpServer;
  readonly #listener: Server;
  readonly #certificate: ServerCertificate | undefined;

  private constructor(
    addresses: { readonly issuer: string; readonly url: string },
    app: FastifyInstance,
    listeners: {
      readonly http: HttpServer;
      readonly listener: Server;
      readonly certificate: ServerCertificate | undefined;
    },
  ) {
    this.issuer = addresses.issuer;
    this.url = addresses.url;
    this.#app = app;
    this.#http = listeners.http;
    this.#listener = listeners.listener;
    this.#certificate = listeners.certificate;
  }

  /** Rejects with an SvcError if it cannot listen, or if its certificate cannot be used. */
  static async start({ settings, accounts, keys, log }: LoginServerOptions): Promise<LoginServer> {
    const { tls, host, section, audience } = settings;
    const { connectionsMax, requestTimeoutMs } = section;
    const certificate = tls && (await ServerCertificate.open(tls, { log }));
    const { promise: answering, resolve: answerWith } = Promise.withResolvers<FastifyInstance>();
    const http = createServer(
      { maxHeaderSize: HEAD_BYTES_MAX, requestTimeout: requestTimeoutMs },
      (request, response) => void answering.then((app) => app.routing(request, response)),
    );
    const listener = certificate === undefined ? http : certificate.createServer();
    if (listener !== http)
      listener.on('secureConnection', (socket) => http.emit('connection', socket));
    listener.maxConnections = connectionsMax;
    try {
      const { port } = await listen(
        listener,
        { host, port: section.port },
        { settings: SETTING_NAMES },
      );
      const url = new URL(httpUrl({ host, port }, tls === undefined ? 'http' : 'https')).origin;
      const issuer = settings.issuer ?? url;
      const provider = await createProvider({ issuer, audience, accounts, keys, section, log });
      const app = appOf(provider, [issuer, url], { people: accounts.people, key: keys.cookie });
      await app.ready();
      answerWith(app);
      return new LoginServer({ issuer, url }, app, { http, listener, certificate });
    } catch (error) {
      listener.close();
      certificate?.close();
      throw error;
    }
  }

  /** Resolves once no request is in flight, or after the time, when the rest is cut. */
  async stop(timeoutMs: number): Promise<void> {
    const closed = new Promise((resolve) => this.#listener.close(resolve));
    this.#certificate?.cutHandshakes();
    this.#http.closeIdleConnections();
    const cut = setTimeout(() => this.#http.closeAllConnections(), timeoutMs);
    await closed;
    clearTimeout(cut);
    this.#certificate?.close();
    await this.#app.close();
  }
}

/** `key`: authenticates forms. `origins`: the issuer first. */
function appOf(
  provider: Provider,
  origins: readonly [issuer: string, listener: string],
  login: { readonly people: Accounts['people']; readonly key: string },
): FastifyInstance {
  const issuer = new URL(origins[0]);
  const hosts = new Set(origins.map((origin) => new URL(origin).host));
  const app = Fastify({ logger: false, bodyLimit: FORM_BYTES_MAX, return503OnClosing: false });
  app.addHook('onRequest', async ({ raw }, reply) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) reply.raw.setHeader(name, value);
    if (!hosts.has(raw.headers.host?.toLowerCase() ?? ''))
      return notice(
        reply,
        421,
        `This is the login provider ${origins[0]}, and was asked as another host.`,
      );
    // Every address in an answer is below the issuer, however the request came.
    delete raw.headers['x-forwarded-host'];
    raw.headers.host = issuer.host;
    raw.headers['x-forwarded-proto'] = issuer.protocol.slice(0, -1);
  });
  app.setErrorHandler(async (error: { readonly statusCode?: number }, _request, reply) =>
    notice(reply, error.statusCode ?? 500, 'The request cannot be used. Start the login again.'),
  );
  app.register(async (forms) => addLoginPage(forms, provider, login));
  app.register(async (rest) => {
    rest.removeAllContentTypeParsers();
    // oidc-provider reads bodies itself.
    rest.addContentTypeParser('*', (_request, _payload, done) => done(null));
    const pass = provider.callback();
    rest.all('/*', async ({ raw }, reply) => {
      reply.hijack();
      raw.url = withShownCode(raw.url!);
      forgetSession(raw, reply.raw);
      await pass(raw, reply.raw);
    });
  });
  return app;
}

function addLoginPage(
  app: FastifyInstance,
  provider: Provider,
  { people, key }: { readonly people: Accounts['people']; readonly key: string },
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
  const formToken = (uid: string) => createHmac('sha256', key).update(uid).digest('base64url');

  app.get<LoginRoute>(`${INTERACTION_PATH}/:uid`, async (request, reply) => {
    const details = await interactionOf(provider, request, reply);
    if (details === undefined) return gone(reply);
    const { uid, prompt, params, grantId } = details;
    if (prompt.name === 'login')
      return html(reply).send(
        loginPage({
          action: `${INTERACTION_PATH}/${uid}`,
          formToken: formToken(uid),
          client: String(params['client_id']),
          people,
        }),
      );
    reply.hijack();
    const consent = grantId === undefined ? {} : { grantId };
    return provider.interactionFinished(
      request.raw,
      reply.raw,
      { consent },
      { mergeWithLastSubmission: true },
    );
  });

  app.post<LoginRoute>(`${INTERACTION_PATH}/:uid`, async (request, reply) => {
    const details = await interactionOf(provider, request, reply);
    if (details === undefined) return gone(reply);
    const { body } = request;
    const accountId = body?.get('as') ?? '';
    if (!isSame(body?.get('token') ?? '', formToken(details.uid)) || !people.has(accountId))
      return notice(reply, 400, 'The form is not the one of this login. Start the login again.');
    reply.hijack();
    return provider.interactionFinished(request.raw, reply.raw, { login: { accountId } });
  });
}

/** Returns the login that the cookie of the request belongs to; undefined if there is none, or not at this path. */
async function interactionOf(
  provider: Provider,
  { raw, params }: FastifyRequest<LoginRoute>,
  reply: FastifyReply,
) {
  try {
    const details = await provider.interactionDetails(raw, reply.raw);
    return details.uid === params.uid ? details : undefined;
  } catch {
    return undefined;
  }
}

/** A code in the address is shown and not sent: oidc-provider's own page would send it by a script. */
function withShownCode(url: string): string {
  const [path, query = ''] = url.split('?', 2) as [string, string?];
  const code = path === DEVICE_PATH ? new URLSearchParams(query).get('user_code') : null;
  return code === null ? url : `${path}?${new URLSearchParams({ [SHOWN_CODE]: code }).toString()}`;
}

/** A login begins without a session: one of before would answer for the person who logged in then. */
function forgetSession(request: IncomingMessage, response: ServerResponse): void {
  const { headers, method, url = '' } = request;
  const path = url.split('?')[0];
  const isBeginning = path === AUTHORIZATION_PATH || (path === DEVICE_PATH && method !== 'POST');
  if (!isBeginning || headers.cookie === undefined) return;
  headers.cookie = headers.cookie.replaceAll(SESSION_COOKIES, '').replace(/^;\s*/, '');
  response.setHeader(
    'set-cookie',
    SESSION_COOKIE_NAMES.map((name) => `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`),
  );
}

function isSame(found: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(found), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function gone(reply: FastifyReply): FastifyReply {
  return notice(
    reply,
    400,
    'This login has ended, or was begun in another browser. Start it again.',
  );
}

function notice(reply: FastifyReply, status: number, text: string): FastifyReply {
  return html(reply).code(status).send(noticePage('This did not work', text));
}

function html(reply: FastifyReply): FastifyReply {
  return reply.type('text/html; charset=utf-8');
}
